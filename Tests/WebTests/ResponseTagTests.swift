import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomTestClock
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization
import Testing

@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

/// Purge tags in responses.
@Suite(.timeLimit(.minutes(2)))
struct ResponseTagTests {
    private final class LeftOut: Sendable {
        let count = Mutex(0)
    }

    private func configuration(_ tags: [String], _ leftOut: LeftOut = LeftOut()) -> WebConfiguration {
        var configuration = WebConfiguration.test(token: nil)
        configuration.responseTags = .akamai
        configuration.tagger = ResponseTagger(field: .akamai) { _ in
            tags
        } failureTags: { request in
            ["failed-\(request.source.path.dropFirst())"]
        } onLeftOut: { count in
            leftOut.count.withLock { $0 += count }
        }
        return configuration
    }

    private let field = TagField.akamai.name

    @Test func `A response and its 304 have the tags that the CDN takes, and the others are counted`() async throws {
        let leftOut = LeftOut()
        let site = TestSite(configuration: configuration(["s-1", "a b", "h-example.com"], leftOut))
        let response = try await site.respond("/image?url=https://example.com/a.jpg")
        #expect(response.headers[field] == "s-1,h-example.com")
        #expect(leftOut.count.withLock(\.self) == 1)
        let unchanged = try await site.respond(
            "/image?url=https://example.com/a.jpg", fields: [.ifNoneMatch: try #require(response.headers[.eTag])])
        #expect(unchanged.status == .notModified)
        #expect(unchanged.headers[field] == "s-1,h-example.com")
    }

    @Test func `A problem has the tags of its source`() async throws {
        let site = TestSite(configuration: configuration(["s-1"])) { _ throws(PipelineError) in
            throw .notFound(status: 404)
        }
        let response = try await site.respond("/image?url=https://example.com/a.jpg")
        #expect(response.status == .notFound)
        #expect(response.headers[field] == "failed-a.jpg")
    }

    @Test func `Without the setting, no response has a tag`() async throws {
        let response = try await TestSite().respond("/image?url=https://example.com/a.jpg")
        for name in ResponseTags.allCases.compactMap(\.field?.name) { #expect(response.headers[name] == nil) }
    }

    @Test func `A hit in front of the framework has the same tags as the response before it`() async throws {
        let clock = TestClock()
        var configuration = WebConfiguration.test(token: nil)
        configuration.responseTags = .xkey
        let server = HitServer(configuration, clock: clock, isFast: true)
        try await server.run { address in
            var client = try await HitClient(address)
            var lines: [String] = []
            for _ in 0..<3 {
                try await client.send(
                    "GET /image?url=http://example.com/fresh&w=10 HTTP/1.1\r\nHost: a\r\n\r\n")
                let response = try await client.response(toHead: false)
                lines += response.fields["xkey"] ?? []
                await server.settle()
            }
            #expect(lines.count == 3 && Set(lines).count == 1)
            #expect(lines.first?.hasSuffix(" h-example.com darkroom") == true)
            #expect((server.responder?.answeredCount ?? 0) > 0)
            try await client.close()
        }
    }
}
