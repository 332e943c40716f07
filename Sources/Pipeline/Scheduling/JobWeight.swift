import DarkroomTransforms
import NIOCore

/// What a piece of pixel work is expected to take.
struct JobWeight: Hashable, Sendable {
    /// Of memory, at its peak.
    var bytes: Int
    /// Of time, in comparison with other work.
    var work: Double

    /// Work that reads a header.
    static let header = JobWeight(bytes: 0, work: 0.1)

    /// More than any machine has, and little enough that sums stay within an `Int`.
    fileprivate static let most = JobWeight(bytes: 1 << 48, work: 1e9)
}

extension ImageProcessing {
    /// Reads the source's header. What cannot be planned ends as soon as it is begun, of the same cause and with an error that says it.
    func weight(of job: ImageJob, interrupt: @escaping @Sendable () -> Bool) -> JobWeight {
        let least = JobWeight(bytes: job.source.readableBytes, work: JobWeight.header.work)
        guard let plan = try? plan(job, interrupt: interrupt) else { return least }
        return JobWeight(
            bytes: min(max(plan.estimatedMemoryBytes, least.bytes), JobWeight.most.bytes),
            work: min(max(plan.expectedWork, least.work), JobWeight.most.work))
    }
}
