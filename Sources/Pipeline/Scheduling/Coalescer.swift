import DarkroomOrigin
import Synchronization

/// Runs work once for all callers that request the same key at the same time (single flight).
///
/// The work runs in a task of its own, so that no caller's cancellation ends it for the others. When the last waiter
/// leaves, the task is canceled and the key is removed at once, so that no caller joins work that is being canceled.
final class Coalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, PipelineError>
    typealias Work = @Sendable (Urgency) async throws(PipelineError) -> Value

    private struct Flight {
        let number: Int
        let urgency: Urgency
        var waiters: [Int: CheckedContinuation<Outcome, Never>]
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

    private enum Step {
        case refused
        case joined(Urgency)
        case started
    }

    private let state = Mutex(State())

    /// The number of keys with work in progress.
    var count: Int { state.withLock { $0.flights.count } }

    /// The number of waiters for all keys.
    var waiterCount: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    /// The number of waiters for a key.
    func waiters(for key: Key) -> Int { state.withLock { $0.flights[key]?.waiters.count ?? 0 } }

    /// Returns the value for a key, from work in progress or by starting `work`.
    ///
    /// - Parameters:
    ///   - urgency: the caller's urgency. Shared work inherits it, also when it rises later.
    ///   - deadline: when the caller stops waiting, as if it were canceled; nil = never.
    /// - Returns: the value, and whether another caller had started the work.
    func value(
        for key: Key, urgency: Urgency, deadline: Deadline? = nil, work: @escaping Work
    ) async throws(PipelineError) -> (value: Value, isShared: Bool) {
        let waiter = state.withLock { $0.nextNumber() }
        let isShared = Mutex(false)
        deadline?.beginWait { [self] in leave(key, as: waiter) }
        defer { deadline?.endedWait() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let joined = join(key, as: waiter, urgency, deadline, continuation, work)
                isShared.withLock { $0 = joined }
            }
        } onCancel: {
            leave(key, as: waiter)
        }
        return (try outcome.get(), isShared.withLock { $0 })
    }

    /// Joins or starts the work.
    ///
    /// - Returns: whether work was in progress already.
    private func join(
        _ key: Key, as waiter: Int, _ urgency: Urgency, _ deadline: Deadline?,
        _ continuation: CheckedContinuation<Outcome, Never>, _ work: @escaping Work
    ) -> Bool {
        let step = state.withLock { state -> Step in
            // `leave` takes this lock too: an earlier cancellation is seen here, a later one there.
            if Task.isCancelled || deadline?.hasPassed == true { return .refused }
            if state.flights[key] != nil {
                state.flights[key]?.waiters[waiter] = continuation
                return state.flights[key].map { .joined($0.urgency) } ?? .refused
            }
            var flight = Flight(
                number: state.nextNumber(), urgency: urgency.makeDependency(), waiters: [waiter: continuation])
            flight.task = task(for: key, number: flight.number, urgency: flight.urgency, work)
            state.flights[key] = flight
            return .started
        }
        switch step {
        case .refused: continuation.resume(returning: .failure(.cancelled))
        case .joined(let shared): urgency.donate(to: shared)
        case .started: break
        }
        if case .joined = step { return true }
        return false
    }

    private func task(for key: Key, number: Int, urgency: Urgency, _ work: @escaping Work) -> Task<Void, Never> {
        Task {
            let outcome: Outcome
            do throws(PipelineError) {
                outcome = .success(try await work(urgency))
            } catch {
                outcome = .failure(error)
            }
            finish(key, number: number, outcome)
        }
    }

    /// Removes the key before it resumes the waiters, so that a waiter that retries starts new work.
    private func finish(_ key: Key, number: Int, _ outcome: Outcome) {
        let waiters = state.withLock { state -> [CheckedContinuation<Outcome, Never>] in
            guard let flight = state.flights[key], flight.number == number else { return [] }
            state.flights[key] = nil
            return Array(flight.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    private func leave(_ key: Key, as waiter: Int) {
        let (continuation, abandoned) = state.withLock {
            state -> (CheckedContinuation<Outcome, Never>?, Task<Void, Never>?) in
            guard let continuation = state.flights[key]?.waiters.removeValue(forKey: waiter) else { return (nil, nil) }
            guard state.flights[key]?.waiters.isEmpty == true else { return (continuation, nil) }
            return (continuation, state.flights.removeValue(forKey: key)?.task)
        }
        abandoned?.cancel()
        continuation?.resume(returning: .failure(.cancelled))
    }
}
