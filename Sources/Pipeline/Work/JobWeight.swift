import NIOCore
import Transforms

/// What a piece of pixel work is expected to take.
struct JobWeight: Hashable, Sendable {
    /// Of memory, at its peak.
    var bytes: Int
    /// Of time, in comparison with other work.
    var work: Double

    /// Work that reads a header.
    static let header = JobWeight(bytes: 0, work: 0.1)
}

extension ImageProcessing {
    /// Reads the source's header. What cannot be planned ends as soon as it is begun.
    func weight(of job: ImageJob) -> JobWeight {
        guard let plan = try? plan(job) else {
            return JobWeight(bytes: job.source.readableBytes, work: JobWeight.header.work)
        }
        return JobWeight(bytes: plan.estimatedMemoryBytes, work: max(plan.expectedWork, JobWeight.header.work))
    }
}
