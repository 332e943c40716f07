import DarkroomWaiting

/// Runs work once for all callers that request the same key at the same time. Shared work has the highest urgency of
/// its callers.
typealias Coalescer<Key: Hashable & Sendable, Value: Sendable> =
    SingleFlight<Key, Result<Value, PipelineError>, Urgency>

extension SingleFlight where Traits == Urgency {
    /// Returns the value for a key, from work in progress or by starting `work`, and whether another caller had started
    /// the work. Shared work inherits the urgency of each caller, also when it rises later.
    func value<Product>(
        for key: Key, urgency: Urgency, deadline: Deadline? = nil,
        work: @escaping @Sendable (Urgency) async throws(PipelineError) -> Product
    ) async throws(PipelineError) -> (value: Product, isShared: Bool) where Value == Result<Product, PipelineError> {
        let answer = await value(
            for: key, deadline: deadline, traits: urgency.makeDependency, join: urgency.donate(to:)
        ) { urgency in
            await Result { () async throws(PipelineError) in try await work(urgency) }
        }
        guard let answer else { throw .cancelled }
        return (try answer.value.get(), answer.isShared)
    }
}
