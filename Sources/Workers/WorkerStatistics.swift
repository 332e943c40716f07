public import Transforms

/// What the workers are and have done since the pool was started.
public struct WorkerStatistics: Equatable, Sendable {
    /// Why a worker came to its end.
    public enum End: String, CaseIterable, Sendable {
        /// By itself: of a signal, or by leaving.
        case crashed
        /// Killed, for it went on after its job was cancelled.
        case hung
        /// Killed, for it had more in memory than it may.
        case memory
        /// Killed, for it said what no worker says.
        case garbled
        /// It had done its share, and was replaced.
        case recycled
    }

    /// Workers that are ready or busy now.
    public var ready = 0
    /// How many there are when all is well.
    public var wanted = 0
    public var started = 0
    /// Starts that came to nothing.
    public var failedStarts = 0
    public var ended: [End: Int] = [:]
    /// Contents and pieces of work that are refused at once.
    public var quarantined = 0
    /// Jobs that were refused for that.
    public var refused = 0
    /// Bytes of all workers that are in the machine's memory.
    public var residentBytes = 0
    /// The decoded pictures that they keep.
    public var decoded = DecodedStatistics()
}
