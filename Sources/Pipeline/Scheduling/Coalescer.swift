import Synchronization

/// Runs work once for all who ask for the same key at the same time.
///
/// The work runs in a task of its own, so that it belongs to nobody: a waiter who leaves takes nothing along. When the
/// last one leaves, the task is cancelled and the key is free at once, so nobody can join work that is being torn down.
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
        case begun
    }

    private let state = Mutex(State())

    /// Keys that work is under way for.
    var count: Int { state.withLock { $0.flights.count } }

    /// How many wait, for any key.
    var waiterCount: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    /// How many wait for this key.
    func waiters(for key: Key) -> Int { state.withLock { $0.flights[key]?.waiters.count ?? 0 } }

    /// The value for `key`: by `work`, or by work that is already under way.
    ///
    /// - Parameter urgency: the caller's own; shared work rises to it, also when it is raised later.
    /// - Returns: the value, and whether the work was begun by somebody else.
    func value(
        for key: Key, urgency: Urgency, work: @escaping Work
    ) async throws(PipelineError) -> (value: Value, isShared: Bool) {
        let waiter = state.withLock { $0.nextNumber() }
        let isShared = Mutex(false)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let joined = join(key, as: waiter, urgency: urgency, continuation, work)
                isShared.withLock { $0 = joined }
            }
        } onCancel: {
            leave(key, as: waiter)
        }
        return (try outcome.get(), isShared.withLock { $0 })
    }

    /// True where work was under way already.
    private func join(
        _ key: Key, as waiter: Int, urgency: Urgency, _ continuation: CheckedContinuation<Outcome, Never>,
        _ work: @escaping Work
    ) -> Bool {
        let step = state.withLock { state -> Step in
            // `leave` takes this lock too: whoever is cancelled before this line is seen here, later ones are seen there.
            if Task.isCancelled { return .refused }
            if state.flights[key] != nil {
                state.flights[key]?.waiters[waiter] = continuation
                return state.flights[key].map { .joined($0.urgency) } ?? .refused
            }
            var flight = Flight(
                number: state.nextNumber(), urgency: urgency.makeFollower(), waiters: [waiter: continuation])
            flight.task = task(for: key, number: flight.number, urgency: flight.urgency, work)
            state.flights[key] = flight
            return .begun
        }
        switch step {
        case .refused: continuation.resume(returning: .failure(.cancelled))
        case .joined(let shared): urgency.carry(shared)
        case .begun: break
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
            land(key, number: number, outcome)
        }
    }

    /// The key is gone before anybody resumes, so that who asks again begins anew.
    private func land(_ key: Key, number: Int, _ outcome: Outcome) {
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
