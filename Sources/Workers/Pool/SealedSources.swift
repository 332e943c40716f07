import DarkroomTransforms
import NIOCore
import Synchronization

/// The sealed sources of jobs that a worker was just asked the plan of. As a rule their pictures are made next.
final class SealedSources: Sendable {
    private let capacity: Int
    /// What is larger is not kept: nobody may ever take it.
    private static let maxBytes = 8 << 20
    private let sources = Mutex<[(identity: String, memory: SealedMemory)]>([])

    /// - Parameter capacity: sources; beyond it the oldest is let go.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Keeps the source of a job until ``take(_:)``.
    func keep(_ memory: SealedMemory, of job: ImageJob) {
        guard let identity = job.identity, job.source.readableBytes <= Self.maxBytes else { return }
        sources.withLock { sources in
            sources.removeAll { $0.identity == identity }
            sources.append((identity, memory))
            if sources.count > capacity { sources.removeFirst() }
        }
    }

    /// The job's source, as it was kept or else sealed now.
    func take(_ job: ImageJob) throws(WireError) -> SealedMemory {
        let kept = sources.withLock { sources in
            sources.firstIndex { $0.identity == job.identity }.map { sources.remove(at: $0).memory }
        }
        return if let kept { kept } else { try SealedMemory(copying: job.source) }
    }
}
