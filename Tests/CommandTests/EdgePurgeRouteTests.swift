import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOPosix
import Testing

/// Purges of caches in front, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct EdgePurgeRouteTests {
    private static let token = "a-token-of-enough-letters"
    private let admin = [("Authorization", "Bearer \(Self.token)")]

    private struct Report: Decodable {
        struct Edge: Decodable, Equatable {
            var edge: String
            var state: String
            var reason: String?
        }

        var edges: [Edge]?
    }

    private func server(_ flags: [String], cache: URL? = nil) async throws -> DarkroomProcess {
        try await DarkroomProcess(
            ["--local-root", URL.fixtures.path, "--admin-token", Self.token, "--response-tags", "xkey"] + flags,
            cache: cache)
    }

    private func edges(_ answer: Answer) throws -> [Report.Edge]? {
        #expect(answer.status == 200)
        return try JSONDecoder().decode(Report.self, from: answer.body).edges
    }

    @Test func `A purge is told by the tag that responses have, and wait says so`() async throws {
        let edge = TestCollector()
        try await edge.start()
        let server = try await server(["--purge-to", "varnish=\(edge.url)/"])
        let image = try await server.image("local:///sample.jpg", "w=20")
        let tags = try #require(image["xkey"]).split(separator: " ").map(String.init)
        #expect(tags.count == 3 && tags[1...] == ["local", "darkroom"])
        for _ in 0..<2 { #expect(try await server.image("local:///sample.jpg", "w=20")["xkey"] == image["xkey"]) }
        let purged = try await server.purge("url=local:///sample.jpg&wait=true", admin)
        let name = "varnish:\(edge.url.dropFirst(7))"
        #expect(try edges(purged) == [Report.Edge(edge: name, state: "told")])
        // Once when the purge holds, and once when older answers have arrived.
        #expect(edge.requests.map(\.method) == ["PURGE", "PURGE"])
        #expect(edge.requests.map { $0.fields["xkey-purge"] } == [tags[0], tags[0]])
        let id = try #require(edge.requests.first?.fields["darkroom-purge"])
        // What follows from a purge is carried out, and ends there.
        let chained = try await server.purge("all=true&wait=true", admin + [("Darkroom-Purge", id)])
        #expect(try edges(chained) == nil)
        for query in [
            "url=local:///a.jpg&dry_run=true", "expired=true", "all=true&tier=memory", "host=example.com&edges=false",
        ] {
            #expect(try edges(try await server.purge(query, admin)) == nil)
        }
        #expect(edge.requests.count == 2)
        let metrics = try await Client.get("\(server.base)/metrics", fields: admin).text
        #expect(metrics.contains(#"darkroom_edge_purge_requests_total{edge="\#(name)",result="told"} 2"#))
        let explained = try await Client.get("\(server.base)/explain?url=local:///sample.jpg&w=20").text
        #expect(explained.contains(#""tags":{"field":"xkey","left_out":[],"value":"\#(tags.joined(separator: " "))"}"#))
        try await edge.stop()
    }

    @Test func `A cache that refuses is pending with a reason, and no token is ever shown`() async throws {
        let edge = TestCollector { _ in TestCollector.Answer(401, body: "{}") }
        try await edge.start()
        let file = try URL.temporaryFile("token", "cdn-token-never-shown").path
        let server = try await server(["--purge-to", "fastly=svc;token-file=\(file);api=\(edge.url)"])
        let purged = try await server.purge("host=example.com&wait=true&soft=true", admin)
        #expect(
            try edges(purged) == [
                Report.Edge(edge: "fastly:svc", state: "pending", reason: "it answered with status 401")
            ])
        #expect(edge.requests.first?.fields["fastly-key"] == "cdn-token-never-shown")
        #expect(edge.requests.first?.fields["fastly-soft-purge"] == "1")
        let metrics = try await Client.get("\(server.base)/metrics", fields: admin).text
        #expect(metrics.contains(#"darkroom_edge_purges_pending{edge="fastly:svc"} 2"#))
        let explained = try await Client.get("\(server.base)/explain?url=local:///sample.jpg").text
        #expect(await server.stop() == 0)
        for text in [metrics, explained, server.log, purged.text] { #expect(!text.contains("never-shown")) }
        #expect(server.log.components(separatedBy: "an edge did not confirm").count == 2, "\(server.log)")
        try await edge.stop()
    }

    @Test func `A wait ends with the server, and the next process tells what was left`() async throws {
        let gate = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        let edge = TestCollector { request in
            TestCollector.Answer(gate: request.index == 0 ? gate.futureResult : nil)
        }
        try await edge.start()
        let cache = try URL.temporaryFolder()
        let flags = ["--purge-to", "varnish=\(edge.url)/"]
        let first = try await server(flags, cache: cache)
        async let waiting = first.purge("host=example.com&wait=true", admin)
        var arrivals = edge.arrivals.makeAsyncIterator()
        _ = await arrivals.next()
        #expect(await first.stop() == 0)
        #expect(try edges(try await waiting)?.map(\.state) == ["pending"])
        gate.succeed()
        let second = try await server(flags, cache: cache)
        #expect(await arrivals.next()?.fields["xkey-purge"] == "h-example.com")
        #expect(await second.stop() == 0)
        try await edge.stop()
    }

    @Test func `The command purges everywhere, and its status says whether it did`() async throws {
        let edge = TestCollector { request in
            TestCollector.Answer(request.fields["xkey-purge"] == "h-bad.example" ? 403 : 200)
        }
        try await edge.start()
        let server = try await server(["--purge-to", "varnish=\(edge.url)/"])
        let token = try URL.temporaryFile("token", Self.token).path
        func purge(_ words: String...) throws -> (status: Int32, output: String, errors: String) {
            try DarkroomProcess.run(
                ["purge"] + words + ["--server", server.base, "--admin-token-file", token])
        }
        _ = try await server.image("local:///sample.jpg", "w=20&wait=stored")
        let name = "varnish:\(edge.url.dropFirst(7))"
        let done = try purge("local:///sample.jpg", "--wait")
        #expect(done.status == 0, "\(done.errors)")
        #expect(done.output.hasPrefix("local:///sample.jpg: 1 source removed ("), "\(done.output)")
        #expect(done.output.hasSuffix(". Confirmed: \(name).\n"))
        let hosts = try purge("good.example", "bad.example", "--host", "--wait", "--json")
        #expect(hosts.status == 1)
        let lines = hosts.output.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains(#""state":"told""#) && lines[1].contains(#""state":"pending""#))
        #expect(try purge("summer", "--tag", "--soft", "--wait").output.contains("marked stale"))
        #expect(try purge("nonsense").status == 1)
        #expect(try purge("a", "--host", "--tag").status == 64)
        #expect(try DarkroomProcess.run(["purge", "--server", server.base]).status == 64)
        let refused = try DarkroomProcess.run(["purge", "local:///a.jpg", "--server", server.base])
        #expect(refused.status == 1 && refused.errors.contains("--admin-token-file"), "\(refused.errors)")
        try await edge.stop()
    }
}

extension Answer {
    fileprivate var text: String { String(buffer: body) }
}
