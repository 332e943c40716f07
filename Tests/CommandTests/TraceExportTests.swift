import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOFoundationCompat
import Testing

/// Spans as a collector receives them from the built executable.
@Suite(.timeLimit(.minutes(5)))
struct TraceExportTests {
    private let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private func server(_ collector: TestCollector, _ flags: String...) async throws -> DarkroomProcess {
        try await DarkroomProcess(
            ["--allow-networks", "127.0.0.0/8", "--otlp-endpoint", collector.url, "--log-level", "info"] + flags)
    }

    private func collector() async throws -> TestCollector {
        let collector = TestCollector()
        try await collector.start()
        return collector
    }

    @Test func `A miss is a tree of spans, and the origin continues the download's`() async throws {
        let (collector, origin) = (
            try await collector(), try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        )
        let server = try await server(
            collector, "--otlp-sample-ratio", "1", "--otlp-headers", "x-key=a%20b,x-other=c==")
        let answer = try await server.image(
            origin.url("/secret.jpg"), "w=20", fields: [("traceparent", "00-\(trace)-00f067aa0ba902b7-01")])
        #expect(answer.status == 200)
        #expect(await server.stop() == 0)
        let request = try #require(collector.requests.first)
        #expect((request.method, request.target) == ("POST", "/v1/traces"))
        #expect(request.fields["content-type"] == "application/json")
        #expect(request.fields["x-key"] == "a b" && request.fields["x-other"] == "c==")
        #expect(collector.requests.count == 1)
        #expect(!String(buffer: request.body).contains("secret"))
        let spans = try ReceivedSpan.all(in: request)
        let named = Dictionary(grouping: spans, by: \.name).compactMapValues(\.first)
        let names = ["GET /image", "download", "queue", "process", "decode", "transform", "encode"]
        #expect(spans.map(\.name).sorted() == names.sorted())
        let root = try #require(named["GET /image"])
        #expect(root.parent == "00f067aa0ba902b7")
        #expect((root.kind, named["download"]?.kind, named["encode"]?.kind) == (2, 3, 1))
        for span in spans {
            #expect(span.trace == trace)
            #expect(span.start >= root.start && span.end <= root.end && span.start <= span.end, "\(span.name)")
        }
        for name in ["download", "queue", "process"] { #expect(named[name]?.parent == root.id, "\(name)") }
        for name in ["decode", "transform", "encode"] {
            #expect(named[name]?.parent == named["process"]?.id, "\(name)")
        }
        #expect(root.attributes["http.route"] == "/image")
        #expect(root.attributes["http.response.status_code"] == "200")
        #expect(root.attributes["darkroom.cache.status"] == "miss")
        #expect(named["download"]?.attributes["server.address"] == "127.0.0.1")
        let sent = try #require(origin.requests.first?.fields["traceparent"])
        #expect(sent == "00-\(trace)-\(named["download"]?.id ?? "")-01")
        #expect(server.log.contains("trace-id=\(trace)"))
        #expect(!server.log.contains("a b"))
    }

    @Test func `Hits are one span each, in front of the framework too, and errors are marked`() async throws {
        let (collector, origin) = (
            try await collector(), try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        )
        let server = try await server(collector, "--otlp-sample-ratio", "1")
        for _ in 0..<4 { #expect(try await server.image(origin.url(), "w=20").status == 200) }
        origin.answer("/bad.jpg", .status("500 Oops"))
        #expect(try await server.image(origin.url("/bad.jpg"), "w=20").status == 502)
        #expect(await server.stop() == 0)
        let spans = try collector.requests.flatMap(ReceivedSpan.all)
        let hits = spans.filter { $0.attributes["darkroom.cache.status"] == "hit" }
        #expect(hits.count == 3)
        #expect(hits.allSatisfy { $0.name == "GET /image" && $0.attributes["darkroom.cache.tier"] == "memory" })
        #expect(Set(hits.map(\.trace)).count == 3)
        #expect(hits.allSatisfy { hit in server.log.contains("trace-id=\(hit.trace)") })
        let failed = spans.filter { $0.status == 2 }
        #expect(Set(failed.map(\.name)) == ["GET /image", "download"])
        #expect(failed.first { $0.name == "download" }?.attributes["error.type"] == "500")
        #expect(failed.first { $0.name != "download" }?.attributes["error.type"]?.isEmpty == false)
    }

    @Test func `A request is not recorded if its parent is not sampled, or by a ratio of 0`() async throws {
        let (collector, origin) = (
            try await collector(), try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        )
        for (ratio, flag) in [("1", "00"), ("0", "01")] {
            let server = try await server(collector, "--otlp-sample-ratio", ratio)
            let parent = "00-\(trace)-00f067aa0ba902b7-\(flag)"
            _ = try await server.image(origin.url(), "w=20", fields: [("traceparent", parent)])
            #expect(await server.stop() == 0)
            let sent = try #require(origin.requests.last?.fields["traceparent"])
            #expect(sent.hasPrefix("00-\(trace)-") && sent.hasSuffix("-00"))
            #expect(server.log.contains("trace-id=\(trace)"))
        }
        #expect(collector.requests.isEmpty)
    }

    @Test func `A collector that is down changes no response, and its losses are counted`() async throws {
        let (collector, origin) = (
            try await collector(), try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        )
        let url = collector.url
        try await collector.stop()
        let server = try await DarkroomProcess([
            "--allow-networks", "127.0.0.0/8", "--otlp-endpoint", url, "--otlp-sample-ratio", "1", "--admin-token",
            "a-token-of-enough-letters",
        ])
        // Seven spans and then one for each hit: more than the queue takes, and than a batch takes besides.
        for _ in 0..<2_600 { #expect(try await server.image(origin.url(), "w=20").status == 200) }
        let metrics = try await Client.get(
            "\(server.base)/metrics", fields: [("Authorization", "Bearer a-token-of-enough-letters")])
        let dropped = String(buffer: metrics.body).firstMatch(of: /\ndarkroom_trace_spans_dropped_total ([0-9]+)/)
        #expect(try #require(dropped.flatMap { Int($0.output.1) }) > 0)
        #expect(await server.stop() == 0)
        #expect(server.log.contains("trace spans were not delivered"))
    }
}

/// A span of a request, whose fields are checked against the JSON encoding of OTLP.
private struct ReceivedSpan {
    let name: String
    let trace: String
    let id: String
    let parent: String?
    let kind: Int
    let start: UInt64
    let end: UInt64
    /// Texts, and numbers as texts.
    let attributes: [String: String]
    let status: Int

    static func all(in request: TestCollector.Request) throws -> [ReceivedSpan] {
        let message = try #require(
            try JSONSerialization.jsonObject(with: Data(buffer: request.body)) as? [String: [[String: Any]]])
        let resourceSpans = try #require(message["resourceSpans"])
        #expect(message.count == 1 && resourceSpans.count == 1)
        let resource = try #require(resourceSpans[0]["resource"] as? [String: Any])
        let about = try attributes(resource["attributes"])
        #expect(about["service.name"] == "darkroom" && about["telemetry.sdk.language"] == "swift")
        for name in ["service.version", "service.instance.id", "host.name"] {
            #expect(about[name]?.isEmpty == false, "\(name)")
        }
        let scopes = try #require(resourceSpans[0]["scopeSpans"] as? [[String: Any]])
        #expect((scopes[0]["scope"] as? [String: String])?["name"] == "darkroom")
        return try (try #require(scopes[0]["spans"] as? [[String: Any]])).map(ReceivedSpan.init)
    }

    private init(_ fields: [String: Any]) throws {
        func text(_ name: String, _ pattern: String) throws -> String {
            let text = try #require(fields[name] as? String, "\(name)")
            #expect(text.range(of: "^(\(pattern))$", options: .regularExpression) != nil, "\(name): \(text)")
            return text
        }
        name = try #require(fields["name"] as? String)
        trace = try text("traceId", "[0-9a-f]{32}")
        id = try text("spanId", "[0-9a-f]{16}")
        parent = fields["parentSpanId"] == nil ? nil : try text("parentSpanId", "[0-9a-f]{16}")
        kind = try #require(fields["kind"] as? Int)
        start = try #require(UInt64(try text("startTimeUnixNano", "[0-9]{19}")))
        end = try #require(UInt64(try text("endTimeUnixNano", "[0-9]{19}")))
        attributes = try Self.attributes(fields["attributes"])
        status = try (fields["status"] as? [String: Any]).map { try #require($0["code"] as? Int) } ?? 0
        #expect(try #require(fields["flags"] as? Int) & 1 == 1)
        let known = [
            "name", "traceId", "spanId", "parentSpanId", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes",
            "status", "flags", "traceState",
        ]
        #expect(fields.keys.allSatisfy(known.contains))
    }

    private static func attributes(_ list: Any?) throws -> [String: String] {
        let list = try #require(list as? [[String: Any]])
        return try list.reduce(into: [:]) { attributes, member in
            let (key, value) = (
                try #require(member["key"] as? String), try #require(member["value"] as? [String: Any])
            )
            #expect(member.count == 2 && value.count == 1 && attributes[key] == nil)
            switch value.first {
            case ("stringValue", let text as String)?: attributes[key] = text
            case ("intValue", let number as String)?:
                #expect(Int64(number) != nil)
                attributes[key] = number
            case ("boolValue", let value as Bool)?: attributes[key] = "\(value)"
            default: Issue.record("\(key) is \(value)")
            }
        }
    }
}
