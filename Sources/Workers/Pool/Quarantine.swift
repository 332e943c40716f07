import DarkroomTransforms

/// What killed a worker, so that the next request for it is refused at once instead of killing another.
struct Quarantine {
    /// What is kept away from workers.
    enum Subject: Hashable {
        /// Whatever is wanted of these bytes: a decoder died of them.
        case content(String)
        /// Just this work on them: it takes too much time or memory, and less may well be possible.
        case work(String)
    }

    /// Subjects at a time; the oldest goes first.
    static let maxSubjects = 1024

    private struct Entry {
        let verdict: ImageProcessingError
        let end: ContinuousClock.Instant
    }

    private let duration: Duration
    private var entries: [Subject: Entry] = [:]
    /// Oldest first, and so in the order of their ends.
    private var order: [Subject] = []

    /// - Parameter duration: zero = nothing is refused.
    init(duration: Duration) {
        self.duration = duration
    }

    /// Subjects that are refused, give or take some whose time is over.
    var count: Int { entries.count }

    mutating func note(_ subject: Subject, _ verdict: ImageProcessingError, now: ContinuousClock.Instant) {
        guard duration > .zero else { return }
        release(subject)
        release(endedAt: now)
        if order.count == Self.maxSubjects, let oldest = order.first { release(oldest) }
        order.append(subject)
        entries[subject] = Entry(verdict: verdict, end: now + duration)
    }

    /// The error to answer a job with; nil = it may be tried.
    mutating func verdict(on job: ImageJob, now: ContinuousClock.Instant) -> ImageProcessingError? {
        guard !entries.isEmpty, let identity = job.identity else { return nil }
        release(endedAt: now)
        return (entries[.content(identity)] ?? job.workName.flatMap { entries[.work($0)] })?.verdict
    }

    /// Gives these bytes another chance. What work on them took too much remains known.
    mutating func release(_ subject: Subject) {
        guard entries.removeValue(forKey: subject) != nil else { return }
        order.removeAll { $0 == subject }
    }

    private mutating func release(endedAt now: ContinuousClock.Instant) {
        let ended = order.prefix { subject in entries[subject].map { $0.end <= now } ?? true }
        for subject in ended { entries[subject] = nil }
        order.removeFirst(ended.count)
    }
}

extension ImageJob {
    /// Names the content and all that is done to it; nil where the content has no name.
    var workName: String? {
        identity.map { "\($0) \(pages.first) \(pages.count ?? 0) \(resampling) \(output.key) \(chain.key)" }
    }
}
