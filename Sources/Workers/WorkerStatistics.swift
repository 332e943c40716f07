/// What the workers are and have done since the pool was started.
package struct WorkerStatistics: Equatable, Sendable {
    /// Why a worker came to its end.
    package enum End: String, CaseIterable, Sendable {
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
    package var ready = 0
    /// How many there are when all is well.
    package var wanted = 0
    package var started = 0
    /// Starts that came to nothing.
    package var failedStarts = 0
    package var ended: [End: Int] = [:]
    /// Contents and pieces of work that are refused at once.
    package var quarantined = 0
    /// Jobs that were refused for that.
    package var refused = 0
    /// Bytes of all workers that are in the machine's memory.
    package var residentBytes = 0
}
