import DarkroomOrigin
import Synchronization

/// Runs a lookup once for all callers that need the same at the same time.
///
/// The lookup runs in a task of its own, which is canceled when the last caller leaves. No caller joins a lookup that
/// is being canceled.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Flight {
        let number: Int
        var waiters: [Int: CheckedContinuation<Value?, Never>]
        var task: Task<Void, Never>?
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var lastNumber = 0

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())

    /// - Parameter deadline: when the caller stops waiting, as if it were canceled; nil = never.
    /// - Returns: the value; nil if the caller was canceled.
    func value(for key: Key, deadline: Deadline? = nil, _ work: @escaping @Sendable () async -> Value) async -> Value? {
        let waiter = state.withLock { $0.nextNumber() }
        deadline?.beginWait { [self] in leave(key, as: waiter) }
        defer { deadline?.endedWait() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { join(key, as: waiter, deadline, $0, work) }
        } onCancel: {
            leave(key, as: waiter)
        }
    }

    private func join(
        _ key: Key, as waiter: Int, _ deadline: Deadline?, _ continuation: CheckedContinuation<Value?, Never>,
        _ work: @escaping @Sendable () async -> Value
    ) {
        let isRefused = state.withLock { state in
            // `leave` takes this lock too: an earlier cancellation is seen here, a later one there.
            if Task.isCancelled || deadline?.hasPassed == true { return true }
            if state.flights[key] != nil {
                state.flights[key]?.waiters[waiter] = continuation
                return false
            }
            let number = state.nextNumber()
            let task = Task { finish(key, number, await work()) }
            state.flights[key] = Flight(number: number, waiters: [waiter: continuation], task: task)
            return false
        }
        if isRefused { continuation.resume(returning: nil) }
    }

    private func finish(_ key: Key, _ number: Int, _ value: Value) {
        let flight = state.withLock { state in
            state.flights[key]?.number == number ? state.flights.removeValue(forKey: key) : nil
        }
        for waiter in flight?.waiters.values ?? [:].values { waiter.resume(returning: value) }
    }

    private func leave(_ key: Key, as waiter: Int) {
        let (continuation, abandoned) = state.withLock {
            state -> (CheckedContinuation<Value?, Never>?, Task<Void, Never>?) in
            guard let continuation = state.flights[key]?.waiters.removeValue(forKey: waiter) else { return (nil, nil) }
            guard state.flights[key]?.waiters.isEmpty == true else { return (continuation, nil) }
            return (continuation, state.flights.removeValue(forKey: key)?.task)
        }
        abandoned?.cancel()
        continuation?.resume(returning: nil)
    }
}
