import DarkroomEviction
import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import Foundation
import Synchronization

/// Sources that failed, each for as long as its kind of failure says (SDWebImage's failed URLs, with an end).
final class FailureMemory: Sendable {
    private struct Failure {
        var error: PipelineError
        var url: String
        var host: String
        var notedAt: Date
        var until: Date
        /// How often in a row, for failures that pass by themselves.
        var attempts = 1
        var evidence: UndecodableContent?

        /// What it takes in memory, roughly.
        var costBytes: Int { 512 + url.utf8.count + host.utf8.count + (evidence?.record.costBytes ?? 0) }
    }

    /// What the remembered failures may take; SIEVE decides which these are.
    private static let budgetBytes = 16 << 20

    /// How far a clock may be set back without anything being forgotten.
    private static let toleratedSeconds: TimeInterval = 2

    private let table = Mutex(SieveTable<StoreKey, Failure>(budgetBytes: budgetBytes))
    private let policy: FreshnessPolicy
    private let random: @Sendable () -> Double

    /// - Parameter random: 0..<1, for the jitter.
    init(policy: FreshnessPolicy, random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }) {
        self.policy = policy
        self.random = random
    }

    /// The failure that a request meets without asking anybody.
    func current(of wanted: Wanted, now: Date) -> PipelineError? {
        remembered(table.withLock { $0.value(for: wanted.keys.source) }, of: wanted, now: now)
    }

    /// The same, without a sign that anyone asked for it.
    func peek(of wanted: Wanted, now: Date) -> PipelineError? {
        remembered(table.withLock { $0.peek(wanted.keys.source) }, of: wanted, now: now)
    }

    private func remembered(_ failure: Failure?, of wanted: Wanted, now: Date) -> PipelineError? {
        // A clock that was set back would keep it for as long as it jumped.
        guard let failure, failure.until > now, failure.notedAt <= now.addingTimeInterval(Self.toleratedSeconds),
            failure.evidence?.concerns(wanted) ?? true
        else { return nil }
        let seconds = Int(failure.until.timeIntervalSince(now).rounded(.up))
        return .remembered(failure.error, retryAfterSeconds: max(seconds, 1))
    }

    /// Content that could not be decoded and need not be tried again while the origin says that it is the same.
    func undecodable(of wanted: Wanted, now: Date) -> UndecodableContent? {
        let evidence = table.withLock { $0.peek(wanted.keys.source)?.evidence }
        guard let evidence, evidence.concerns(wanted), evidence.end > now else { return nil }
        return evidence
    }

    /// Remembers what went wrong between us and the origin.
    func note(_ error: PipelineError, _ retention: Retention, of wanted: Wanted, now: Date) {
        table.withLock { table in
            let attempts = (table.peek(wanted.keys.source)?.attempts ?? 0) + 1
            let lifetime = retention.lifetime(attempts: attempts, policy: policy, random: random())
            guard lifetime > .zero else { return }
            let failure = Failure(
                error: error, url: wanted.request.source.canonical, host: wanted.request.source.hostName,
                notedAt: now, until: now.addingTimeInterval(lifetime / .seconds(1)), attempts: attempts)
            _ = table.insert(failure, cost: failure.costBytes, for: wanted.keys.source)
        }
    }

    /// Remembers content that does not decode, until the origin says otherwise and for an hour at most.
    func note(undecodable content: UndecodableContent, of wanted: Wanted, now: Date) {
        let fresh = max(content.record.freshness.remaining(at: now), .seconds(1))
        let until = min(now.addingTimeInterval(fresh / .seconds(1)), content.end)
        guard until > now else { return forget([wanted.keys.source]) }
        let failure = Failure(
            error: content.error, url: wanted.request.source.canonical, host: wanted.request.source.hostName,
            notedAt: now, until: until, evidence: content)
        table.withLock { _ = $0.insert(failure, cost: failure.costBytes, for: wanted.keys.source) }
    }

    /// The origin answers again, so trouble with it is over. Content that does not decode is another matter.
    func noteAnswer(of wanted: Wanted) {
        table.withLock { table in
            if table.peek(wanted.keys.source)?.evidence == nil { _ = table.remove(for: wanted.keys.source) }
        }
    }

    func forget(_ sources: [StoreKey]) {
        table.withLock { table in
            for source in sources { _ = table.remove(for: source) }
        }
    }

    /// Forgets failures of sources with such an address and host, or such a record of what does not decode.
    func forget(where isMeant: (_ url: String, _ host: String, _ record: SourceRecord?) -> Bool) {
        table.withLock { _ = $0.removeAll { isMeant($1.url, $1.host, $1.evidence?.record) } }
    }
}

/// Bytes of an origin that are no picture, or a damaged one.
struct UndecodableContent: Sendable {
    let record: SourceRecord
    /// What decoding said.
    let error: PipelineError
    /// The frames or pages that were asked for: others may be sound.
    let pages: PageSelection
    /// When it is tried again even if it stays the same.
    let end: Date

    static let maxLifetimeSeconds: TimeInterval = 3_600

    init(_ record: SourceRecord, _ error: PipelineError, pages: PageSelection, decodedAt now: Date) {
        self.init(
            record: record, error: error, pages: pages, end: now.addingTimeInterval(Self.maxLifetimeSeconds))
    }

    private init(record: SourceRecord, error: PipelineError, pages: PageSelection, end: Date) {
        self.record = record
        self.error = error
        self.pages = pages
        self.end = end
    }

    /// What is no picture at all is none whatever pages are asked for.
    func concerns(_ wanted: Wanted) -> Bool { error == .unsupported || pages == wanted.request.pages }

    /// The same content as the origin describes it now.
    func with(_ record: SourceRecord) -> UndecodableContent {
        UndecodableContent(record: record, error: error, pages: pages, end: end)
    }
}
