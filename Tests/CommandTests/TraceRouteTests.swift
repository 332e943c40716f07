import DarkroomTestOrigin
import Foundation
import Testing

/// Traces as an origin sees them.
@Suite(.timeLimit(.minutes(5)))
struct TraceRouteTests {
    private let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test func `An origin gets the client's trace with a span of the server's, and the log names it`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let server = try await DarkroomProcess(
            serving: [
                "--port", "0", "--cache-dir", try URL.temporaryFolder().path, "--allow-networks", "127.0.0.0/8",
                "--log-level", "debug",
            ])
        let parent = "00-\(trace)-00f067aa0ba902b7-01"
        _ = try await server.image(
            origin.url(), "w=20", fields: [("traceparent", parent), ("tracestate", "a=1"), ("tracestate", "b=2")])
        _ = try await server.image(origin.url("/b.jpg"), "w=20")
        _ = try await server.image(
            origin.url("/c.jpg"), "w=20", fields: [("traceparent", "00-nonsense"), ("tracestate", "a=1")])
        #expect(await server.stop() == 0)
        let seen = origin.requests.map(\.fields)
        let first = try #require(seen.first?["traceparent"])
        #expect(first.hasPrefix("00-\(trace)-") && first.hasSuffix("-01") && first != parent)
        #expect(seen.first?["tracestate"] == "a=1,b=2")
        for fields in seen.dropFirst() {
            let made = try #require(fields["traceparent"])
            #expect(made.hasPrefix("00-") && made.hasSuffix("-00") && made.utf8.count == 55 && !made.contains(trace))
            #expect(fields["tracestate"] == nil)
        }
        #expect(seen.count == 3)
        #expect(server.log.contains("trace-id=\(trace)"))
    }

    @Test func `Who is answered from the cache while the origin is asked lends it no trace`() async throws {
        let origin = try await PictureOrigin(
            .picture("sample.jpg", "Cache-Control: max-age=0, stale-while-revalidate=600", "ETag: \"1\""))
        let server = try await DarkroomProcess(["--allow-networks", "127.0.0.0/8"])
        // The second answer is stale already, and has the origin asked behind it.
        while origin.count < 2 {
            _ = try await server.image(
                origin.url(), "w=20", fields: [("traceparent", "00-\(trace)-00f067aa0ba902b7-01")])
        }
        #expect(origin.requests.first?.fields["traceparent"]?.contains(trace) == true)
        #expect(origin.requests.dropFirst().allSatisfy { $0.fields["traceparent"] == nil })
    }
}
