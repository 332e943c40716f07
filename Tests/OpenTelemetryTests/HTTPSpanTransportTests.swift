import DarkroomTestClock
import DarkroomTestLogs
import DarkroomTestOrigin
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import DarkroomOpenTelemetry

/// Delivery over HTTP, to a collector on the loopback interface.
@Suite(.timeLimit(.minutes(5)))
struct HTTPSpanTransportTests {
    private func transport(
        _ collector: TestCollector, _ fields: [(name: String, value: String)] = []
    ) -> HTTPSpanTransport {
        HTTPSpanTransport(
            endpoint: collector.url, fields: fields, eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
    }

    @Test func `A batch is one POST of JSON to the path of traces, with the operator's fields`() async throws {
        let collector = TestCollector()
        try await collector.start()
        let transport = transport(collector, [("Authorization", "Bearer abc"), ("content-type", "text/plain")])
        #expect(await transport.send(ByteBuffer(string: "{}")) == .accepted())
        await transport.shutdown()
        let request = try #require(collector.requests.first)
        #expect((request.method, request.target) == ("POST", "/v1/traces"))
        #expect(request.fields["authorization"] == "Bearer abc")
        #expect(request.fields["content-type"] == "application/json")
        #expect(request.fields["traceparent"] == nil)
        #expect(String(buffer: request.body) == "{}")
    }

    @Test func `A collector that answers 503 and then 200 gets the batch once more, and it counts once`() async throws {
        let collector = TestCollector { request in
            request.index == 0 ? .init(503, fields: [("Retry-After", "7")]) : .init()
        }
        try await collector.start()
        let (queue, clock, log) = (SpanQueue(), TestClock(), LogRecorder(level: .info))
        let exporter = SpanExporter(
            queue, resource: .test, transport: transport(collector), clock: clock, logger: log.logger)
        async let run: Void = exporter.run()
        queue.add(3)
        #expect(await clock.nextSleep() == .seconds(5))
        clock.advance(by: .seconds(5))
        #expect(await clock.nextSleep() == .seconds(7))
        clock.advance(by: .seconds(7))
        var arrivals = collector.arrivals.makeAsyncIterator()
        _ = await arrivals.next()
        _ = await arrivals.next()
        exporter.stop()
        await run
        #expect(collector.requests.map(\.body.spanNames) == [["0", "1", "2"], ["0", "1", "2"]])
        #expect(exporter.counts == SpanQueue.Counts(exported: 3, dropped: 0))
        #expect(log.lines.isEmpty)
    }

    @Test func `A collector that cannot be reached may be asked again`() async throws {
        let collector = TestCollector()
        try await collector.start()
        let transport = transport(collector)
        try await collector.stop()
        guard case .postponed(nil, let reason) = await transport.send(ByteBuffer()) else {
            Issue.record("not postponed")
            return
        }
        #expect(!reason.isEmpty)
        await transport.shutdown()
    }

    @Test(arguments: ["000 x", "050 x", "099 x", "101 Switching Protocols"])
    func `After an invalid status, or one that was not requested, a collector may be asked again`(
        status: String
    ) async throws {
        for rest in ["Content-Length: 0\r\n\r\n", "Content-Length: 3\r\n\r\nabc", "\r\n"] {
            let origin = TestOrigin { _ in [.send("HTTP/1.1 \(status)\r\n\(rest)"), .close] }
            try await origin.start()
            let transport = HTTPSpanTransport(
                endpoint: "http://127.0.0.1:\(origin.port)", fields: [],
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton)
            let delivery = await transport.send(ByteBuffer(string: "{}"))
            await transport.shutdown()
            try await origin.stop()
            guard case .postponed(nil, _) = delivery else {
                Issue.record("not postponed: \(delivery)")
                continue
            }
        }
    }

    @Test(arguments: [
        (200, "{}", SpanDelivery.accepted()), (204, "", .accepted()), (200, "no JSON", .accepted()),
        (
            200, #"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"old"}}"#,
            .accepted(rejected: 3, reason: "the collector rejected spans: old")
        ),
        (
            200, #"{"partialSuccess":{"rejectedSpans":2}}"#,
            .accepted(rejected: 2, reason: "the collector rejected spans: ")
        ),
        (400, "", .refused(reason: "the collector answered with status 400")),
        (401, "", .refused(reason: "the collector answered with status 401")),
        (413, "", .refused(reason: "the collector answered with status 413")),
        (500, "", .refused(reason: "the collector answered with status 500")),
        (301, "", .refused(reason: "the collector answered with status 301")),
        (429, "", .postponed(for: .seconds(9), reason: "the collector answered with status 429")),
        (502, "", .postponed(for: .seconds(9), reason: "the collector answered with status 502")),
        (503, "", .postponed(for: .seconds(9), reason: "the collector answered with status 503")),
        (504, "", .postponed(for: .seconds(9), reason: "the collector answered with status 504")),
    ])
    func `A status is read as the specification says`(status: Int, body: String, delivery: SpanDelivery) {
        let headers: HTTPHeaders = ["Retry-After": "9"]
        #expect(
            HTTPSpanTransport.delivery(status: status, headers, ByteBuffer(string: body), now: Date()) == delivery)
    }
}
