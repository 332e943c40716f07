/// What the queue for pixel work holds at a moment, and whom it has sent away.
public struct PipelineLoad: Sendable {
    /// Pieces of work that no thread has begun.
    public var waitingCount: Int
    /// What they are expected to take, as far as that is known, in bytes.
    public var waitingBytes: Int
    /// What runs is expected to take, in bytes.
    public var runningBytes: Int
    /// What may run at once, in bytes.
    public var budgetBytes: Int
    /// How many were refused so far, by reason: `full`, `displaced` (by a client who had less), `too_late` (it would have waited
    /// past its deadline) and `expired` (it has).
    public var refusals: [(reason: String, count: Int)]
}
