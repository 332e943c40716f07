import DarkroomNetwork
import DarkroomTracing
import HTTPTypes
import Hummingbird
import InMemoryTracing
import Logging
import NIOCore
import ServiceContextModule
import Synchronization
import Testing
import Tracing

@testable import DarkroomHTTPServer

/// Traces of requests: how they are continued, and the spans that are recorded.
@Suite(.timeLimit(.minutes(5)))
struct RequestTracingTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"
    private static let sampled = "00-\(trace)-\(span)-01"

    @Test func `A request is handled within its trace, which its entry in the log names`() async throws {
        let log = AccessLogRecorder()
        let seen = Mutex<ServiceContext?>(nil)
        let listener = ListenerConfiguration.test(log: log, instrument: W3CTraceContext()) { _ in
            seen.withLock { $0 = ServiceContext.current }
            return .item()
        }
        var fields: HTTPFields = [.requestID: "7"]
        fields[try #require(HTTPField.Name("traceparent"))] = "00-\(Self.trace)-\(Self.span)-01"
        fields.append(HTTPField(name: try #require(HTTPField.Name("tracestate")), value: "a=1"))
        fields.append(HTTPField(name: try #require(HTTPField.Name("TraceState")), value: "b=2"))
        _ = try await listener.respond("/item", fields: fields)
        let context = try #require(seen.withLock { $0 })
        #expect(context.trace?.parent.traceID == Self.trace)
        #expect(context.trace?.state?.text == "a=1,b=2")
        #expect(log.entries.first?.traceID == Self.trace)
        let metadata = ServiceContext.withValue(context) { Logger.MetadataProvider.request.get() }
        #expect(metadata == ["request-id": "7", "trace-id": "\(Self.trace)"])
        #expect(ServiceContext.current == nil)
        #expect(Logger.MetadataProvider.request.get().isEmpty)
    }

    private func fields(_ fields: [String: String]) throws -> HTTPFields {
        try fields.reduce(into: HTTPFields()) { $0[try #require(HTTPField.Name($1.key))] = $1.value }
    }

    /// The only span of a request that is always recorded.
    private func recorded(
        _ target: String, method: HTTPRequest.Method = .get, status: Int, _ fields: HTTPFields = [:],
        item: @escaping @Sendable (Request) async throws(Problem) -> Response = { _ in .item() }
    ) async throws -> FinishedInMemorySpan {
        let tracer = InMemoryTracer()
        let listener = ListenerConfiguration.test(
            tracing: RequestTracing(tracer: tracer, sampler: TraceSampler(ratio: 1)), item: item)
        #expect(try await listener.respond(target, method: method, fields: fields).status.code == status)
        #expect(tracer.finishedSpans.count == 1)
        return try #require(tracer.finishedSpans.first)
    }

    @Test func `A span has the attributes of OpenTelemetry's conventions, and no query`() async throws {
        let span = try await recorded("/item?url=secret", status: 200, [.authorization: "secret"]) { _ in
            var response = Response.item()
            response.headers[.cacheStatus] = "darkroom;fwd=uri-miss;fwd-status=200;collapsed;detail=original-disk"
            return response
        }
        #expect(span.operationName == "GET /item")
        #expect(span.kind == .server)
        #expect(span.status == nil)
        let expected: SpanAttributes = [
            "http.request.method": "GET", "http.route": "/item", "url.path": "/item", "url.scheme": "http",
            "http.response.status_code": 200, "http.response.body.size": 5, "client.address": "192.0.2.7",
            "darkroom.cache.status": "uri-miss", "darkroom.cache.tier": "original-disk", "darkroom.shared": true,
        ]
        #expect(span.attributes == expected)
    }

    @Test func `A failure of the server is an error of the problem's kind, one of the client is none`() async throws {
        let failed = try await recorded("/item", status: 503) { _ throws(Problem) in throw Problem(.unavailable, "No.")
        }
        #expect(failed.status?.code == .error)
        #expect(failed.attributes.get("error.type") == .string("unavailable"))
        let refused = try await recorded("/refuse", method: .post, status: 429)
        #expect(refused.status == nil)
        #expect(refused.attributes.get("error.type") == nil)
        #expect(refused.operationName == "POST /refuse")
    }

    @Test func `Neither a path nor a method that a client made up is a name, and a signature is no attribute`()
        async throws
    {
        let unknown = try await recorded("/wp-admin", status: 404)
        #expect(unknown.operationName == "GET")
        #expect(unknown.attributes.get("http.route") == nil)
        let method = try await recorded("/item", method: try #require(HTTPRequest.Method("BREW")), status: 405)
        #expect(method.operationName == "HTTP /item")
        #expect(method.attributes.get("http.request.method") == .string("_OTHER"))
        for path in ["/signed/a/b", "//signed/a/b"] {
            #expect(try await recorded(path, status: 404).attributes.get("url.path") == .string("/signed/…"))
        }
    }

    @Test(arguments: [(nil, 1.0, 1), (nil, 0, 0), ("00-\(trace)-\(span)-00", 1, 0), (sampled, 1, 1), (sampled, 0, 0)])
    func `The sampler decides, and outgoing requests say so`(parent: String?, ratio: Double, count: Int) async throws {
        let tracer = InMemoryTracer()
        let sent = Mutex<Bool?>(nil)
        let listener = ListenerConfiguration.test(
            instrument: W3CTraceContext(),
            tracing: RequestTracing(tracer: tracer, sampler: TraceSampler(ratio: ratio))
        ) { _ in
            sent.withLock { $0 = ServiceContext.current?.trace?.parent.isSampled }
            return .item()
        }
        _ = try await listener.respond("/item", fields: try fields(parent.map { ["traceparent": $0] } ?? [:]))
        #expect(tracer.finishedSpans.count == count)
        #expect(sent.withLock(\.self) == (count == 1))
    }

    private struct Responder: ImmediateResponder {
        func answer(to head: RequestHead) throws(Problem) -> Answer? {
            if head.target == "/fast/refused" { throw Problem(.unavailable, "No.") }
            return head.target.hasPrefix("/fast") ? .now(Reply("fast")) : nil
        }
    }

    /// The spans of requests to a server with the fast path, and the log's entries.
    private func spans(
        of requests: [String], ratio: Double, proxies: [CIDR] = []
    ) async throws -> ([FinishedInMemorySpan], [AccessLogEntry]) {
        let (tracer, log) = (InMemoryTracer(), AccessLogRecorder())
        try await withServer(
            proxies: proxies, log: log,
            tracing: RequestTracing(tracer: tracer, sampler: TraceSampler(ratio: ratio)), immediate: Responder()
        ) { address in
            let client = try await WireClient.connected(to: address)
            let end = "GET /fast/end HTTP/1.1\r\nHost: x\r\ntraceparent: 00-\(Self.trace)-\(Self.span)-00\r\n"
            try await client.send(requests.joined() + end + "Connection: close\r\n\r\n")
            _ = await client.receivedAll()
        }
        return (tracer.finishedSpans, log.entries)
    }

    @Test func `A response in front of the framework has the same span`() async throws {
        let (spans, _) = try await spans(
            of: [
                "GET /fast?url=secret HTTP/1.1\r\nHost: x\r\n\r\n", "GET /fast/refused HTTP/1.1\r\nHost: x\r\n\r\n",
            ], ratio: 1)
        #expect(spans.map(\.operationName) == ["GET /fast", "GET /fast/{rest}"])
        let expected: SpanAttributes = [
            "http.request.method": "GET", "http.route": "/fast", "url.path": "/fast", "url.scheme": "http",
            "http.response.status_code": 200, "http.response.body.size": 4, "client.address": "127.0.0.1",
            "darkroom.cache.status": "hit", "darkroom.cache.tier": "memory",
        ]
        #expect(spans.first?.attributes == expected)
        #expect(
            spans.first.map { $0.startInstant.nanosecondsSinceEpoch <= $0.endInstant.nanosecondsSinceEpoch } == true)
        #expect(spans.last?.attributes.get("error.type") == .string("unavailable"))
        #expect(spans.last?.status?.code == .error)
    }

    @Test func `A trusted proxy's sampled parent is recorded on both ways, and a client's is not`() async throws {
        let requests = ["/fast", "/item"].map {
            "GET \($0) HTTP/1.1\r\nHost: x\r\ntraceparent: \(Self.sampled)\r\n\r\n"
        }
        let (trusted, log) = try await spans(of: requests, ratio: 0, proxies: [try CIDR(parsing: "127.0.0.0/8")])
        #expect(Set(trusted.map(\.operationName)) == ["GET /fast", "GET /item"])
        #expect(log.allSatisfy { $0.traceID == Self.trace })
        let (others, sameLog) = try await spans(of: requests, ratio: 0)
        #expect(others.isEmpty)
        #expect(sameLog.allSatisfy { $0.traceID == Self.trace })
    }
}
