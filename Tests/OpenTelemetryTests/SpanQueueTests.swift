import Testing
import Tracing

@testable import DarkroomOpenTelemetry

@Suite(.timeLimit(.minutes(5)))
struct SpanQueueTests {
    @Test func `Spans beyond the capacity are dropped and counted`() {
        let queue = SpanQueue(capacity: 3)
        queue.add(5)
        #expect(queue.count == 3)
        #expect(queue.counts == SpanQueue.Counts(exported: 0, dropped: 2))
        #expect(queue.take(atMost: 2).map(\.name) == ["0", "1"])
        queue.add(1)
        #expect(queue.take(atMost: 10).map(\.name) == ["2", "0"])
        #expect(queue.counts.dropped == 2)
    }

    @Test func `A wait ends when enough spans wait`() async {
        let queue = SpanQueue()
        async let wait: Void = queue.wait(forCount: 2)
        queue.add(2)
        await wait
        await queue.wait(forCount: 1)
        #expect(queue.count == 2)
    }

    @Test func `A wait ends when the queue is closed, which still takes spans`() async {
        let queue = SpanQueue()
        async let wait: Void = queue.waitForClose()
        queue.close()
        await wait
        await queue.wait(forCount: 7)
        queue.add(1)
        #expect(queue.count == 1)
    }

    @Test func `A wait ends when its task is canceled`() async {
        let queue = SpanQueue()
        let task = Task { await queue.waitForClose() }
        task.cancel()
        await task.value
        #expect(!queue.isClosed)
    }
}
