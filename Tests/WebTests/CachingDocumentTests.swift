import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomRequests
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Testing

@testable import DarkroomWeb

/// `fields=cache` of `/info`.
struct CachingDocumentTests {
    private let target = "/info?url=https://example.com/a.jpg&fields="

    private func site(
        _ picture: ImageResponse, _ location: CacheLocation = CacheLocation(), asked: Asked = Asked()
    ) -> TestSite {
        let image = ImageEndpoint(configuration: WebConfiguration()) { request in
            asked.requests.withLock { $0.append(request) }
            return location
        } image: { request in
            asked.requests.withLock { $0.append(request) }
            return picture
        }
        return TestSite(.idle(image: image))
    }

    private final class Asked: Sendable {
        let requests = Mutex<[ImageRequest]>([])
    }

    private func respond(
        _ site: TestSite, _ fields: String, _ method: HTTPRequest.Method = .get,
        _ headers: HTTPFields = [:]
    ) async throws -> Response {
        try await site.respond(target + fields, method: method, fields: headers)
    }

    private func document(remaining: Duration? = nil) -> ImageResponse {
        var document = ImageResponse.stub(
            lastModified: ImageResponse.madeAt, body: #"{"format":"jpeg"}"#, remaining: remaining)
        document.format = .json
        document.originFields = [.cacheControl: "max-age=3600", .eTag: "\"a\"", .contentType: "image/jpeg"]
        return document
    }

    @Test func `The document ends with the current cache state, and is not cacheable`() async throws {
        let site = site(document(), CacheLocation(original: .memory, variant: [.memory, .disk]))
        let response = try await respond(site, "cache", .get, [.ifNoneMatch: "*"])
        #expect(response.status == .ok)
        #expect(
            try await response.text()
                == #"{"format":"jpeg","cache":{"age_seconds":90,"fresh":true,"#
                + #""origin":{"cache-control":"max-age=3600","etag":"\"a\""},"original":{"disk":false,"memory":true},"#
                + #""remaining_seconds":3510,"variant":{"disk":true,"memory":true}}}"#)
        #expect(response.headers[.cacheControl] == "no-store")
        #expect(response.headers[.eTag] == nil)
        #expect(response.headers[.lastModified] == nil)
        #expect(response.headers[.cacheStatus] == "darkroom;hit;ttl=3510;detail=memory")
        let head = try await respond(site, "cache", .head)
        #expect(head.headers == response.headers)
    }

    @Test(arguments: [(Duration.seconds(1), true, 1), (.zero, false, 0), (.milliseconds(-1500), false, -2)])
    func `A stale source is marked, with the time since`(remaining: Duration, fresh: Bool, seconds: Int) async throws {
        let text = try await respond(site(document(remaining: remaining)), "cache").text()
        #expect(text.contains("\"fresh\":\(fresh)"))
        #expect(text.contains("\"remaining_seconds\":\(seconds)"))
    }

    @Test func `Without the field the cached document is returned unchanged`() async throws {
        let asked = Asked()
        let site = site(document(), asked: asked)
        let plain = try await respond(site, "color")
        #expect(try await plain.text() == #"{"format":"jpeg"}"#)
        #expect(plain.headers[.eTag] != nil)
        #expect(asked.requests.withLock(\.count) == 1)
        _ = try await respond(site, "cache,color")
        let outputs = asked.requests.withLock { $0.map(\.output) }
        #expect(outputs == Array(repeating: OutputOptions(format: .json, details: .color), count: 3))
    }
}
