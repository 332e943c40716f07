import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomRequests
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
@Suite(.timeLimit(.minutes(5)))
struct ResponseTagTests {
    private final class LeftOut: Sendable {
        let count = Mutex(0)
    }

    private func configuration(_ tags: [String], _ leftOut: LeftOut = LeftOut()) -> WebConfiguration {
        var configuration = WebConfiguration.test(token: nil)
        configuration.responseTags = .akamai
        configuration.tagger = ResponseTagger(field: .akamai) { _ in
            EdgeTags(kept: tags, leftOut: ["t128", "t129"])
        } failureTags: { request in
            EdgeTags(kept: ["failed-\(request.source.path.dropFirst())"])
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
        #expect(leftOut.count.withLock(\.self) == 3)
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
        let server = HitServer(configuration, clock: clock)
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
            #expect(server.answers.count > 0)
            try await client.close()
        }
    }

    @Test func `Tags are written once for an image, not for each of its hits`() async throws {
        let clock = TestClock()
        var configuration = WebConfiguration.test(token: nil)
        configuration.responseTags = .akamai
        let server = HitServer(configuration, clock: clock)
        // The tag of a host of this length is beyond Akamai's limit, so that each writing is counted.
        let host = "\(String(repeating: "a", count: 63)).\(String(repeating: "b", count: 63)).org"
        let leftOut = { @Sendable in server.metrics.sum("darkroom_response_tags_left_out_total", "") }
        try await server.run { address in
            var client = try await HitClient(address)
            func hit() async throws {
                try await client.send("GET /image?url=http://\(host)/fresh&w=10 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await client.response(toHead: false).fields[field.rawName.lowercased()]?.count == 1)
                await server.settle()
            }
            for _ in 0..<3 { try await hit() }
            let (written, answered) = (leftOut(), server.answers.count)
            #expect(written > 0 && answered > 0)
            for _ in 0..<5 {
                clock.advance(by: .seconds(1))
                try await hit()
            }
            #expect(server.answers.count == answered + 5)
            #expect(leftOut() == written)
            try await client.close()
        }
    }
}
