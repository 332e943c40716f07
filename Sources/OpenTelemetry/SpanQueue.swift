import Synchronization

/// The spans that have ended and wait to be exported. Adding one never waits: spans beyond the capacity are dropped.
package final class SpanQueue: Sendable {
    /// What became of spans.
    package struct Counts: Equatable, Sendable {
        /// Spans that the collector accepted.
        package var exported = 0
        /// Spans that were dropped: the queue was full, or the collector refused them or could not be reached.
        package var dropped = 0
    }

    private struct Waiter {
        let number: Int
        /// Is resumed once as many spans wait.
        let threshold: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var spans: [SpanRecord] = []
        var counts = Counts()
        var isClosed = false
        var lastNumber = 0
        var waiters: [Waiter] = []

        mutating func satisfiedWaiters() -> [Waiter] {
            guard !waiters.isEmpty else { return [] }
            let satisfied = waiters.filter { isClosed || $0.threshold <= spans.count }
            waiters.removeAll { isClosed || $0.threshold <= spans.count }
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
        let satisfied = state.withLock { state -> [Waiter] in
            guard state.spans.count < capacity else {
                state.counts.dropped += 1
                return []
            }
            state.spans.append(span)
            return state.satisfiedWaiters()
        }
        for waiter in satisfied { waiter.continuation.resume() }
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
            return state.satisfiedWaiters()
        }
        for waiter in satisfied { waiter.continuation.resume() }
    }

    /// Returns once this many spans wait, the queue is closed, or the task is canceled.
    func wait(forCount threshold: Int) async {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // `leave` takes this lock too: an earlier cancellation is seen here, a later one there.
                    if Task.isCancelled || state.isClosed || state.spans.count >= threshold { return true }
                    state.waiters.append(Waiter(number: number, threshold: threshold, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Returns once the queue is closed or the task is canceled.
    func waitForClose() async { await wait(forCount: .max) }

    private func leave(_ number: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume()
    }
}
