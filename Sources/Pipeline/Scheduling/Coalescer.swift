import DarkroomWaiting
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
        var waiters: Set<Wait<Outcome>>
        let task: Task<Void, Never>
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var lastNumber = 0
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
        if Task.isCancelled || deadline?.hasPassed == true { throw .cancelled }
        let wait = Wait<Outcome>()
        let shared = join(key, urgency, wait, work)
        if let shared { urgency.donate(to: shared) }
        let outcome = await wait.answer(until: deadline ?? Deadline()) { [self] in leave(key, wait) }
        return (try outcome.get(), shared != nil)
    }

    /// Joins or starts the work.
    ///
    /// - Returns: the urgency of the work that was in progress already.
    private func join(
        _ key: Key, _ urgency: Urgency, _ wait: Wait<Outcome>, _ work: @escaping Work
    ) -> Urgency? {
        state.withLock { state in
            if let flight = state.flights[key] {
                state.flights[key]?.waiters.insert(wait)
                return flight.urgency
            }
            state.lastNumber += 1
            let (number, urgency) = (state.lastNumber, urgency.makeDependency())
            state.flights[key] = Flight(
                number: number, urgency: urgency, waiters: [wait],
                task: task(for: key, number: number, urgency: urgency, work))
            return nil
        }
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
        let waiters = state.withLock { state -> Set<Wait<Outcome>> in
            guard let flight = state.flights[key], flight.number == number else { return [] }
            state.flights[key] = nil
            return flight.waiters
        }
        for waiter in waiters { waiter.end(outcome) }
    }

    private func leave(_ key: Key, _ wait: Wait<Outcome>) {
        let (hasLeft, abandoned) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard state.flights[key]?.waiters.remove(wait) != nil else { return (false, nil) }
            guard state.flights[key]?.waiters.isEmpty == true else { return (true, nil) }
            return (true, state.flights.removeValue(forKey: key)?.task)
        }
        abandoned?.cancel()
        if hasLeft { wait.end(.failure(.cancelled)) }
    }
}
