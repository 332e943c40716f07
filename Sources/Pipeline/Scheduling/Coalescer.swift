import DarkroomWaiting

/// Runs work once for all callers that request the same key at the same time. Shared work has the highest urgency of
/// its callers.
struct Coalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Work = @Sendable (Urgency) async throws(PipelineError) -> Value

    private let flights = SingleFlight<Key, Result<Value, PipelineError>, Urgency>()

    /// The number of keys with work in progress.
    var count: Int { flights.count }

    /// The number of waiters for all keys.
    var waiterCount: Int { flights.waiterCount }

    /// The number of waiters for a key.
    func waiters(for key: Key) -> Int { flights.waiters(for: key) }

    /// Returns the value for a key, from work in progress or by starting `work`.
    ///
    /// - Parameters:
    ///   - urgency: the caller's urgency. Shared work inherits it, also when it rises later.
    ///   - deadline: when the caller stops waiting, as if it were canceled; nil = never.
    /// - Returns: the value, and whether another caller had started the work.
    func value(
        for key: Key, urgency: Urgency, deadline: Deadline? = nil, work: @escaping Work
    ) async throws(PipelineError) -> (value: Value, isShared: Bool) {
        let answer = await flights.value(
            for: key, deadline: deadline, traits: urgency.makeDependency, join: urgency.donate(to:)
        ) { urgency in
            await Result { () async throws(PipelineError) in try await work(urgency) }
        }
        guard let answer else { throw .cancelled }
        return (try answer.value.get(), answer.isShared)
    }
}
