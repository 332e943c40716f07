import DarkroomTransforms
import NIOCore
import Synchronization

/// Sealed sources of jobs that were just planned: as a rule they are processed next, and need not be copied again.
final class SealedSourceCache: Sendable {
    private let capacity: Int
    /// Larger sources are not stored: they may never be taken.
    private static let maxBytes = 8 << 20
    private let sources = Mutex<[(identity: String, memory: SealedMemory)]>([])

    /// - Parameter capacity: maximum number of sources; the oldest is evicted.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Stores the source of a job until ``take(_:)``.
    func store(_ memory: SealedMemory, of job: ImageJob) {
        guard let identity = job.identity, job.source.readableBytes <= Self.maxBytes else { return }
        sources.withLock { sources in
            sources.removeAll { $0.identity == identity }
            sources.append((identity, memory))
            if sources.count > capacity { sources.removeFirst() }
        }
    }

    /// Removes and returns the sealed source of a job, or seals it now.
    func take(_ job: ImageJob) throws(WireError) -> SealedMemory {
        let stored = sources.withLock { sources in
            sources.firstIndex { $0.identity == job.identity }.map { sources.remove(at: $0).memory }
        }
        return if let stored { stored } else { try SealedMemory(copying: job.source) }
    }
}
