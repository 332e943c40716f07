import DarkroomWaiting
import Synchronization

/// The spans that have ended and wait to be exported. Adding a span never waits: spans beyond the capacity are dropped.
package final class SpanQueue: Sendable {
    /// What became of spans.
    package struct Counts: Equatable, Sendable {
        /// Spans that the collector accepted.
        package var exported = 0
        /// Spans that were dropped: the queue was full, or the collector refused them or could not be reached.
        package var dropped = 0
    }

    private struct State {
        var spans: [SpanRecord] = []
        var counts = Counts()
        var isClosed = false
        /// Waits, each until as many spans wait.
        var waits: [Wait<Void>: Int] = [:]

        mutating func takeSatisfiedWaits() -> [Wait<Void>] {
            guard !waits.isEmpty else { return [] }
            let satisfied = waits.filter { isClosed || $0.value <= spans.count }.map(\.key)
            for wait in satisfied { waits[wait] = nil }
            return satisfied
        }
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: the most spans that wait.
    package init(capacity: Int = 2048) {
        self.capacity = capacity
    }

    package var counts: Counts { state.withLock(\.counts) }

    /// Whether the queue is closed: no more spans are expected.
    var isClosed: Bool { state.withLock(\.isClosed) }

    /// The number of spans that wait.
    var count: Int { state.withLock(\.spans.count) }

    func append(_ span: SpanRecord) {
        let satisfied = state.withLock { state -> [Wait<Void>] in
            guard state.spans.count < capacity else {
                state.counts.dropped += 1
                return []
            }
            state.spans.append(span)
            return state.takeSatisfiedWaits()
        }
        for wait in satisfied { wait.end(()) }
    }

    /// Removes and returns the oldest spans.
    func take(atMost count: Int) -> [SpanRecord] {
        state.withLock { state in
            let taken = Array(state.spans.prefix(count))
            state.spans.removeFirst(taken.count)
            return taken
        }
    }

    func record(exported: Int, dropped: Int) {
        state.withLock { state in
            state.counts.exported += exported
            state.counts.dropped += dropped
        }
    }

    /// Ends all waits. Spans are still accepted, because the last ones may end during shutdown.
    package func close() {
        let satisfied = state.withLock { state in
            state.isClosed = true
            return state.takeSatisfiedWaits()
        }
        for wait in satisfied { wait.end(()) }
    }

    /// Returns once this many spans wait, the queue is closed, or the task is canceled.
    func wait(forCount threshold: Int) async {
        let wait = Wait<Void>()
        let isOver = state.withLock { state in
            if state.isClosed || state.spans.count >= threshold { return true }
            state.waits[wait] = threshold
            return false
        }
        if isOver { return }
        await wait.answer { [self] in
            if state.withLock({ $0.waits.removeValue(forKey: wait) }) != nil { wait.end(()) }
        }
    }

    /// Returns once the queue is closed or the task is canceled.
    func waitForClose() async { await wait(forCount: .max) }
}
