import DarkroomTestClock
import DarkroomTestLogs
import Logging
import NIOCore
import Synchronization
import Testing

@testable import DarkroomOpenTelemetry

/// Delivery, with a transport that the test controls.
@Suite(.timeLimit(.minutes(5)))
struct SpanExporterTests {
    /// Answers as told, once the test lets it.
    private final class FakeTransport: SpanTransport {
        private let deliveries: Mutex<[SpanDelivery]>
        private let hangs: Bool
        private let (bodies, body) = AsyncStream<ByteBuffer>.makeStream()
        private let state = Mutex(false)

        /// - Parameters:
        ///   - deliveries: the first answers; later ones accept.
        ///   - hangs: whether no request is ever answered.
        init(_ deliveries: [SpanDelivery] = [], hangs: Bool = false) {
            self.deliveries = Mutex(deliveries)
            self.hangs = hangs
        }

        func send(_ body: ByteBuffer) async -> SpanDelivery {
            self.body.yield(body)
            if hangs {
                await SpanQueue().waitForClose()
                return .postponed(for: nil, reason: "canceled")
            }
            return deliveries.withLock { $0.isEmpty ? .accepted() : $0.removeFirst() }
        }

        func shutdown() async { state.withLock { $0 = true } }

        var isShutDown: Bool { state.withLock(\.self) }

        /// The names of the spans in the next request.
        func next() async -> [String] {
            for await body in bodies { return body.spanNames }
            return []
        }
    }

    private let clock = TestClock()
    private let log = LogRecorder(level: .info)

    private func exporter(_ queue: SpanQueue, _ transport: FakeTransport) -> SpanExporter {
        let clock = clock
        return SpanExporter(
            queue, resource: .test, transport: transport, clock: clock, jitter: { 0 }, logger: log.logger,
            now: { clock.instant })
    }

    @Test func `Spans are sent together some seconds after the first one`() async {
        let (queue, transport) = (SpanQueue(), FakeTransport())
        async let run: Void = exporter(queue, transport).run()
        queue.add(1)
        #expect(await clock.nextSleep() == .seconds(5))
        queue.add(2)
        clock.advance(by: .seconds(5))
        #expect(await transport.next() == ["0", "0", "1"])
        queue.close()
        await run
        #expect(queue.counts == SpanQueue.Counts(exported: 3, dropped: 0))
        #expect(transport.isShutDown)
    }

    @Test func `A full batch is sent at once, one request at a time`() async {
        let (queue, transport) = (SpanQueue(), FakeTransport(hangs: true))
        let task = Task { await exporter(queue, transport).run() }
        queue.add(1_100)
        #expect(await transport.next().count == 512)
        #expect(queue.count == 588)
        task.cancel()
        await task.value
        #expect(queue.counts == SpanQueue.Counts(exported: 0, dropped: 1_100))
    }

    @Test func `A busy collector gets the batch again, after ever longer pauses`() async {
        let busy = SpanDelivery.postponed(for: nil, reason: "busy")
        let (queue, transport) = (SpanQueue(), FakeTransport([busy, busy, .postponed(for: .seconds(9), reason: "x")]))
        async let run: Void = exporter(queue, transport).run()
        queue.add(512)
        var sent = [await transport.next().count]
        for pause in [Duration.seconds(1), .seconds(2), .seconds(9)] {
            // A full batch may have been found before its sleep began.
            var sleep = await clock.nextSleep()
            if sleep == .seconds(5) { sleep = await clock.nextSleep() }
            #expect(sleep == pause)
            clock.advance(by: pause)
            sent.append(await transport.next().count)
        }
        queue.close()
        await run
        #expect(sent == [512, 512, 512, 512])
        #expect(queue.counts == SpanQueue.Counts(exported: 512, dropped: 0))
        #expect(log.lines.isEmpty)
    }

    @Test func `A batch that is postponed five times is dropped`() async {
        let busy = Array(repeating: SpanDelivery.postponed(for: .seconds(3600), reason: "busy"), count: 5)
        let (queue, transport) = (SpanQueue(), FakeTransport(busy))
        async let run: Void = exporter(queue, transport).run()
        queue.add(1)
        _ = await clock.nextSleep()
        clock.advance(by: .seconds(5))
        _ = await transport.next()
        for _ in 0..<4 {
            #expect(await clock.nextSleep() == .seconds(60))
            clock.advance(by: .seconds(60))
            _ = await transport.next()
        }
        queue.close()
        await run
        #expect(queue.counts == SpanQueue.Counts(exported: 0, dropped: 1))
        #expect(log.lines == ["warning: trace spans were not delivered [\"reason\": busy, \"spans\": 1]"])
    }

    @Test func `A refused batch is not repeated, and one line a minute reports the loss`() async {
        let (queue, transport) = (
            SpanQueue(),
            FakeTransport([
                .refused(reason: "no"), .accepted(rejected: 2, reason: "two"), .accepted(), .refused(reason: "late"),
            ])
        )
        async let run: Void = exporter(queue, transport).run()
        for (count, pause) in [(3, 0), (3, 0), (3, 60), (1, 0)] {
            queue.add(count)
            #expect(await clock.nextSleep() == .seconds(5))
            clock.advance(by: .seconds(5 + pause))
            #expect(await transport.next().count == count)
        }
        queue.close()
        await run
        #expect(queue.counts == SpanQueue.Counts(exported: 4, dropped: 6))
        #expect(
            log.lines == [
                "warning: trace spans were not delivered [\"reason\": no, \"spans\": 3]",
                "warning: trace spans were not delivered [\"reason\": late, \"spans\": 3]",
            ])
    }

    @Test func `Shutdown delivers what is queued at once, and does not pause for a busy collector`() async {
        let (queue, transport) = (SpanQueue(), FakeTransport([.postponed(for: .seconds(60), reason: "busy")]))
        queue.add(600)
        queue.close()
        await exporter(queue, transport).run()
        #expect(await transport.next().count == 512)
        #expect(await transport.next().count == 88)
        #expect(queue.counts == SpanQueue.Counts(exported: 88, dropped: 512))
    }

    @Test func `A pause ends with shutdown, for one more attempt`() async {
        let (queue, transport) = (SpanQueue(), FakeTransport([.postponed(for: .seconds(60), reason: "busy")]))
        async let run: Void = exporter(queue, transport).run()
        queue.add(1)
        _ = await clock.nextSleep()
        clock.advance(by: .seconds(5))
        _ = await transport.next()
        #expect(await clock.nextSleep() == .seconds(60))
        queue.close()
        await run
        #expect(queue.counts == SpanQueue.Counts(exported: 1, dropped: 0))
    }

    @Test func `A collector that hangs holds up neither spans nor, beyond a grace, shutdown`() async {
        let (queue, transport) = (SpanQueue(capacity: 10), FakeTransport(hangs: true))
        async let run: Void = exporter(queue, transport).run()
        queue.add(1)
        _ = await clock.nextSleep()
        clock.advance(by: .seconds(5))
        _ = await transport.next()
        queue.add(12)
        #expect(queue.counts.dropped == 2)
        queue.close()
        #expect(await clock.nextSleep() == .seconds(5))
        clock.advance(by: .seconds(5))
        await run
        #expect(queue.counts == SpanQueue.Counts(exported: 0, dropped: 13))
    }
}
