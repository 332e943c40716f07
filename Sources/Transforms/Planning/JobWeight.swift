/// The estimated cost of a pixel job.
package struct JobWeight: Hashable, Sendable {
    /// Peak memory.
    package var bytes: Int
    /// Time, in the units of `ImagePlan.expectedWork`.
    package var work: Double
    /// Whether it may take far longer than estimated.
    package var isUnpredictable: Bool

    package init(bytes: Int, work: Double, isUnpredictable: Bool = false) {
        self.bytes = bytes
        self.work = work
        self.isUnpredictable = isUnpredictable
    }

    /// The cost of reading a header.
    package static let header = JobWeight(bytes: 0, work: 0.1)

    /// The maximum work of a job that runs as soon as it is weighed. Such a job starts before its work is known; the
    /// maximum is so small that its processor budget is hardly more than the budget of a short job.
    package static let maxUsualWork = 100.0

    /// Whether the job may take long enough to delay others noticeably: about a second.
    package var isLong: Bool { work >= 1000 || isUnpredictable }
}

extension JobWeight {
    /// The weight of a planned job. A job that cannot be planned is given the least weight: it fails for the same
    /// reason as soon as it runs.
    package init(of plan: ImagePlan?, sourceBytes: Int) {
        // The upper bounds are beyond any machine but keep sums within an `Int`.
        self.init(
            bytes: min(max(plan?.estimatedMemoryBytes ?? 0, sourceBytes), 1 << 48),
            work: min(max(plan?.expectedWork ?? 0, JobWeight.header.work), 1e9),
            // A short drawing may contain any amount of work.
            isUnpredictable: plan?.sourceFormat.isVector ?? false)
    }
}

/// The recent speed of pixel work, as exponential moving averages, to estimate how long a job will take.
package struct ThroughputEstimate {
    private var secondsPerWork = 0.002
    private var meanWork = 50.0

    package init() {}

    /// The estimated seconds of a job. A job whose weight is unknown counts as the mean.
    package func seconds(_ weight: JobWeight?) -> Double { (weight?.work ?? meanWork) * secondsPerWork }

    package mutating func record(_ weight: JobWeight, tookSeconds seconds: Double) {
        // The time of a header, and of a job that failed with it, says nothing about pixels.
        guard weight.work > JobWeight.header.work else { return }
        // Weighted by time: among many small images and one large image, the large one determines the wait.
        let share = 0.1
        let total = (1 - share) * meanWork + share * weight.work
        secondsPerWork = ((1 - share) * meanWork * secondsPerWork + share * seconds) / total
        meanWork = total
    }
}
