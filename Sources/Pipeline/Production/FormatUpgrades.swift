import DarkroomCache
import DarkroomRequests
import DarkroomStore
import DarkroomWaiting
import Synchronization

/// Encodes variants in their preferred formats after requests were answered in quicker formats: one job for each
/// variant, few at a time.
///
/// Jobs have the lowest priority in the pixel queue and hold no client. A job is made, or dropped: the queue of jobs or
/// of pixel work was full, the job waited too long for a thread, or its source was purged. Or it fails: the image could
/// not be encoded in time, or was not stored.
final class FormatUpgrades: Sendable {
    /// The values that must be equal for requests to share a job.
    struct Key: Hashable, Sendable {
        let variant: EntryKey
        /// No request relies on a job that started before a purge.
        let epoch: PurgeEpoch
    }

    let jobs: BackgroundJobs<Key>
    /// Decides once for all requests that arrive together.
    let decisions = Coalescer<Key, Bool>()
    private let deadlines: DeadlineTimer
    private let interimAnswers = Atomic(0)

    /// - Parameter deadlines: bounds the time of a job from its start, with its wait for a pixel thread.
    init(_ jobs: BackgroundJobs<Key>, deadlines: DeadlineTimer) {
        self.jobs = jobs
        self.deadlines = deadlines
    }

    /// Starts a job, unless the variant already has one.
    ///
    /// - Parameters:
    ///   - bytes: the bytes of the originals that `work` holds.
    ///   - urgency: the urgency of `work`, which shows whether it waits for a pixel thread.
    ///   - work: returns whether the image is stored.
    func start(
        _ key: Key, holding bytes: Int, urgency: Urgency = Urgency(.background),
        _ work: @escaping @Sendable () async throws(PipelineError) -> Bool
    ) {
        jobs.start(key, holding: bytes) { [deadlines] in
            do throws(PipelineError) {
                return try await withDeadline(deadlines, expired: PipelineError.timedOut, work) ? .made : .failed
            } catch {
                switch error {
                case .overloaded, .cancelled: return .dropped
                case .timedOut: return urgency.isQueued ? .dropped : .failed
                default: return .failed
                }
            }
        }
    }

    func recordInterimAnswer() { interimAnswers.add(1, ordering: .relaxed) }

    var statistics: FormatUpgradeStatistics {
        let (waiting, running, outcomes) = jobs.counts
        return FormatUpgradeStatistics(
            waiting: waiting, running: running, interimAnswers: interimAnswers.load(ordering: .relaxed),
            outcomes: BackgroundJobs<Key>.Outcome.allCases.map { ($0.rawValue, outcomes[$0] ?? 0) })
    }
}

/// The work of making preferred formats behind quicker answers.
package struct FormatUpgradeStatistics: Sendable {
    /// Jobs in the queue.
    package var waiting: Int
    /// Jobs that were started, whether or not they have a pixel thread.
    package var running: Int
    /// Requests that were answered in their interim output since the start.
    package var interimAnswers: Int
    /// Ended jobs since the start: `made`, `dropped` and `failed`.
    package var outcomes: [(result: String, count: Int)]
}

extension ImagePipeline {
    /// The state of the work behind answers in interim outputs.
    package var formatUpgrades: FormatUpgradeStatistics { resolver.upgrades.statistics }
}
