import DarkroomRequests
import DarkroomTransforms

/// Inputs that killed a worker. The next request for one of them is refused at once instead of killing another worker.
struct Quarantine {
    /// The input that is kept away from workers.
    enum Subject: Hashable {
        /// Any work on these bytes: they crashed a worker that only read their header.
        case content(String)
        /// Any work that decodes these bytes: they crashed a decoder. Their header may be read.
        case pixels(String)
        /// This work on these bytes: it takes too much time or memory; smaller work may succeed.
        case work(String)
    }

    /// Maximum number of subjects; the oldest is dropped first.
    static let maxSubjects = 1024

    private struct Entry {
        let error: ImageProcessingError
        let end: ContinuousClock.Instant
    }

    private let duration: Duration
    private var entries: [Subject: Entry] = [:]
    /// Oldest first, which is also the order in which they expire.
    private var order: [Subject] = []

    /// - Parameter duration: how long a subject stays; zero disables the quarantine.
    init(duration: Duration) {
        self.duration = duration
    }

    /// Number of subjects, including some that have just expired.
    var count: Int { entries.count }

    mutating func add(_ subject: Subject, _ error: ImageProcessingError, now: ContinuousClock.Instant) {
        guard duration > .zero else { return }
        remove(subject)
        removeExpired(at: now)
        if order.count == Self.maxSubjects, let oldest = order.first { remove(oldest) }
        order.append(subject)
        entries[subject] = Entry(error: error, end: now + duration)
    }

    /// The error to answer a job with; nil if the job may be tried.
    mutating func error(for job: ImageJob, now: ContinuousClock.Instant) -> ImageProcessingError? {
        guard !entries.isEmpty, let identity = job.identity else { return nil }
        removeExpired(at: now)
        let pixels = job.output.isHeaderOnly ? nil : entries[.pixels(identity)]
        return (pixels ?? entries[.content(identity)] ?? job.workIdentity.flatMap { entries[.work($0)] })?.error
    }

    /// Lifts the quarantine of one subject; other subjects of the same bytes stay.
    mutating func remove(_ subject: Subject) {
        guard entries.removeValue(forKey: subject) != nil else { return }
        order.removeAll { $0 == subject }
    }

    private mutating func removeExpired(at now: ContinuousClock.Instant) {
        let ended = order.prefix { subject in entries[subject].map { $0.end <= now } ?? true }
        for subject in ended { entries[subject] = nil }
        order.removeFirst(ended.count)
    }
}

/// Clients that had a drawing stopped because it took far longer than expected. For some time, their drawings run only
/// while a processor would be idle.
struct PenalizedClients {
    /// The most clients that are tracked. Beyond it, further clients are not penalized until a penalty ends.
    static let maxClients = 1024

    /// When the penalty of each client ends.
    private var ends: [String: ContinuousClock.Instant] = [:]

    mutating func add(_ client: String, until end: ContinuousClock.Instant, now: ContinuousClock.Instant) {
        ends = ends.filter { $0.value > now }
        if ends.count < Self.maxClients || ends[client] != nil { ends[client] = end }
    }

    func contains(_ client: String, now: ContinuousClock.Instant) -> Bool {
        ends[client].map { $0 > now } ?? false
    }
}

extension ImageJob {
    /// The source, as far as the job reads it; nil if the content has no identity.
    var subject: Quarantine.Subject? { identity.map { output.isHeaderOnly ? .content($0) : .pixels($0) } }

    /// Identifies the content and the work on it; nil if the content has no identity.
    var workIdentity: String? {
        identity.map { "\($0) \(pages) \(resampling) \(output.key) \(chain.key)" }
    }
}
