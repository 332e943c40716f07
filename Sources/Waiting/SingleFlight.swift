import Synchronization

/// Runs work once for all callers that need the same value at the same time.
///
/// The work runs in a separate task, so that the cancellation of one caller does not end it for other callers. That
/// task starts on the first caller's thread and continues on the first caller's executor once it has waited. When the
/// last caller leaves, the task is canceled and the key is removed at once, so that no caller joins work that is being
/// canceled.
///
/// `Traits` are the properties of the work that joining callers can read and change, such as its urgency.
package final class SingleFlight<Key: Hashable & Sendable, Value: Sendable, Traits: Sendable>: Sendable {
    private struct Flight {
        let number: Int
        let traits: Traits
        var waiters: Set<Wait<Value?>>
        /// Nil until the work first suspends.
        var task: Task<Void, Never>?
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of keys with work in progress.
    package var count: Int { state.withLock { $0.flights.count } }

    /// The number of callers that wait, for all keys.
    package var waiterCount: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    /// The number of callers that wait for a key.
    package func waiters(for key: Key) -> Int { state.withLock { $0.flights[key]?.waiters.count ?? 0 } }

    /// Returns the value for a key, from work in progress or by starting `work`.
    ///
    /// - Parameters:
    ///   - deadline: when the caller stops waiting, as if it were canceled; nil = never.
    ///   - traits: makes the traits of work that is started.
    ///   - join: called with the traits of work that is in progress already.
    /// - Returns: the value, and whether another caller had started the work; nil if the caller was canceled.
    package func value(
        for key: Key, deadline: Deadline? = nil, traits: () -> Traits, join: (Traits) -> Void = { _ in },
        work: @escaping @Sendable (Traits) async -> Value
    ) async -> (value: Value, isShared: Bool)? {
        if Task.isCancelled || deadline?.hasPassed == true { return nil }
        let wait = Wait<Value?>()
        let (flight, isShared) = enter(key, wait, traits)
        if isShared { join(flight.traits) } else { start(flight, key, work) }
        let value = await wait.answer(until: deadline ?? Deadline()) { [self] in leave(key, wait) }
        return value.map { ($0, isShared) }
    }

    /// Adds a caller to the work in progress, or to work that the caller has to start.
    private func enter(
        _ key: Key, _ wait: Wait<Value?>, _ traits: () -> Traits
    ) -> (flight: Flight, isShared: Bool) {
        state.withLock { state in
            if let flight = state.flights[key] {
                state.flights[key]?.waiters.insert(wait)
                return (flight, true)
            }
            state.lastNumber += 1
            let flight = Flight(number: state.lastNumber, traits: traits(), waiters: [wait])
            state.flights[key] = flight
            return (flight, false)
        }
    }

    /// Called by the first caller, which stays among the waiters at least until this returns.
    private func start(_ flight: Flight, _ key: Key, _ work: @escaping @Sendable (Traits) async -> Value) {
        // An unstructured task does not inherit the executor by itself.
        let executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
        let task = Task.immediate(executorPreference: executor) {
            finish(key, flight.number, await work(flight.traits))
        }
        state.withLock { state in
            // The work may have ended without waiting.
            if state.flights[key]?.number == flight.number { state.flights[key]?.task = task }
        }
    }

    /// Removes the key before it resumes the callers, so that a caller that retries starts new work.
    private func finish(_ key: Key, _ number: Int, _ value: Value) {
        let waiters = state.withLock { state -> Set<Wait<Value?>> in
            guard let flight = state.flights[key], flight.number == number else { return [] }
            state.flights[key] = nil
            return flight.waiters
        }
        for waiter in waiters { waiter.end(value) }
    }

    private func leave(_ key: Key, _ wait: Wait<Value?>) {
        let (hasLeft, abandoned) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard state.flights[key]?.waiters.remove(wait) != nil else { return (false, nil) }
            guard state.flights[key]?.waiters.isEmpty == true else { return (true, nil) }
            return (true, state.flights.removeValue(forKey: key)?.task)
        }
        abandoned?.cancel()
        if hasLeft { wait.end(nil) }
    }
}

extension SingleFlight where Traits == Void {
    /// Returns the value for a key, from work in progress or by starting `work`; nil if the caller was canceled.
    package func value(
        for key: Key, deadline: Deadline? = nil, _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await value(for: key, deadline: deadline, traits: {}, work: { await work() })?.value
    }
}
