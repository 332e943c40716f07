import Synchronization

/// Counts of the shared tier since the server started.
package struct SharedStatistics: Equatable, Sendable {
    /// Lookups that found an entry.
    package var hits = 0
    /// Lookups that found nothing.
    package var misses = 0
    /// Lookups that the store did not answer in time, or answered with an error.
    package var failures = 0
    /// Lookups that were skipped because the store was failing.
    package var skipped = 0
    /// Objects that were corrupt, foreign or incomplete.
    package var damaged = 0
    /// Objects written.
    package var writes = 0
    /// Writes that were dropped: the queue was full, or the store failed.
    package var droppedWrites = 0
    /// The number of writes that are waiting or running.
    package var queuedWrites = 0
    /// The memory that these writes hold, in bytes.
    package var queuedBytes = 0
    /// Whether reading works, as far as is known.
    package var isReadable = true
    /// Whether writing works, as far as is known.
    package var isWritable = true
}

final class SharedCounts: Sendable {
    private let statistics = Mutex(SharedStatistics())

    var current: SharedStatistics { statistics.withLock(\.self) }

    func countLook(isHit: Bool) {
        statistics.withLock { if isHit { $0.hits += 1 } else { $0.misses += 1 } }
    }

    func countFailure() { statistics.withLock { $0.failures += 1 } }
    func countSkip() { statistics.withLock { $0.skipped += 1 } }
    func countDamage() { statistics.withLock { $0.damaged += 1 } }
    func countWrite() { statistics.withLock { $0.writes += 1 } }
    func countDrop() { statistics.withLock { $0.droppedWrites += 1 } }
}
