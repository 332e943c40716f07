/// State and counters of the worker pool since it was started.
package struct WorkerStatistics: Equatable, Sendable {
    /// Why a worker exited.
    package enum EndReason: String, CaseIterable, Sendable {
        /// The process exited on its own or was killed by a signal.
        case crashed
        /// Killed because it ignored a cancellation.
        case hung
        /// Killed because it exceeded its memory limit.
        case memory
        /// Killed because its job took far more processor time than expected.
        case overtime
        /// Killed because its reply violated the protocol.
        case protocolViolation = "protocol"
        /// Replaced by a fresh worker after its share of jobs, CPU time or memory growth.
        case recycled
        /// Ended because it had nothing to do.
        case idle
    }

    /// Workers that are idle or busy now.
    package var ready = 0
    /// The number of workers of a healthy pool: the workers in use, and a spare.
    package var configured = 0
    /// Workers that have become ready.
    package var started = 0
    /// Starts that failed.
    package var failedStarts = 0
    /// Exits by reason.
    package var ended: [EndReason: Int] = [:]
    /// Sources and jobs in quarantine.
    package var quarantined = 0
    /// Jobs refused because of the quarantine.
    package var refused = 0
    /// CPU time of all workers, in seconds. Never decreases: it includes the CPU time of workers that have exited.
    package var processorSeconds = 0.0
    /// Resident memory of all workers, in bytes.
    package var residentBytes = 0
}
