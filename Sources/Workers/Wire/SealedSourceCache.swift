import DarkroomMachine
import DarkroomTransforms
import Synchronization

/// Memory files made for jobs that were just planned: as a rule they are processed next, and need not be copied again.
/// Jobs whose sources arrived in memory files have no need of it.
final class SealedSourceCache: Sendable {
    private let capacity: Int
    /// Larger sources are not stored: they may never be taken.
    private static let maxBytes = 8 << 20
    private let sources = Mutex<[(identity: String, memory: MemoryFile)]>([])

    /// - Parameter capacity: maximum number of sources; the oldest is evicted.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Stores the source of a job until ``take(_:)``.
    func store(_ memory: MemoryFile, of job: ImageJob) {
        guard let identity = job.identity, job.sharedSource.file == nil, memory.count <= Self.maxBytes else { return }
        sources.withLock { sources in
            sources.removeAll { $0.identity == identity }
            sources.append((identity, memory))
            if sources.count > capacity { sources.removeFirst() }
        }
    }

    /// The memory file of a job's source: its own, one stored before, or a new one.
    func take(_ job: ImageJob) throws(MemoryFile.Failure) -> MemoryFile {
        if let file = job.sharedSource.file { return file }
        let stored = sources.withLock { sources in
            sources.firstIndex { $0.identity == job.identity }.map { sources.remove(at: $0).memory }
        }
        return if let stored { stored } else { try job.sharedSource.inFile() }
    }
}
