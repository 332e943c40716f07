import DarkroomEviction
import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import Foundation
import Synchronization

/// A negative cache: sources that failed, each for as long as its kind of failure warrants (SDWebImage's failed URLs,
/// with an expiry).
final class FailureMemory: Sendable {
    private struct Failure {
        var error: PipelineError
        var url: String
        var host: String
        var recordedAt: Date
        var expiry: Date
        /// Consecutive transient failures.
        var attempts = 1
        var undecodable: UndecodableContent?

        /// The approximate cost in memory, in bytes.
        var costBytes: Int { 512 + url.utf8.count + host.utf8.count + (undecodable?.record.costBytes ?? 0) }
    }

    /// The budget of all failures in memory; SIEVE evicts beyond it.
    private static let budgetBytes = 16 << 20

    /// How far the wall clock may be set back without invalidating failures.
    private static let toleratedSeconds: TimeInterval = 2

    private let table = Mutex(SieveTable<StoreKey, Failure>(budgetBytes: budgetBytes))
    private let policy: FreshnessPolicy
    private let random: @Sendable () -> Double

    /// - Parameter random: 0..<1, for the backoff's jitter.
    init(policy: FreshnessPolicy, random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }) {
        self.policy = policy
        self.random = random
    }

    // MARK: Lookup

    /// The failure that a request meets without contacting the origin.
    func current(of request: ResolvedRequest, now: Date) -> PipelineError? {
        remembered(table.withLock { $0.value(for: request.keys.source) }, of: request, now: now)
    }

    /// The same, without counting as a use.
    func peek(_ request: ResolvedRequest, now: Date) -> PipelineError? {
        remembered(table.withLock { $0.peek(request.keys.source) }, of: request, now: now)
    }

    private func remembered(_ failure: Failure?, of request: ResolvedRequest, now: Date) -> PipelineError? {
        // If the clock was set back, the failure would outlast its lifetime.
        guard let failure, failure.expiry > now,
            failure.recordedAt <= now.addingTimeInterval(Self.toleratedSeconds),
            failure.undecodable?.concerns(request) ?? true
        else { return nil }
        let seconds = Int(failure.expiry.timeIntervalSince(now).rounded(.up))
        return .remembered(failure.error, retryAfterSeconds: max(seconds, 1))
    }

    /// The content that failed to decode, which is not tried again while the origin says that it is the same.
    func undecodable(of request: ResolvedRequest, now: Date) -> UndecodableContent? {
        let content = table.withLock { $0.peek(request.keys.source)?.undecodable }
        guard let content, content.concerns(request), content.expiry > now else { return nil }
        return content
    }

    /// The failure of an earlier attempt to decode a record's content; nil if there was none.
    func decodingFailure(of request: ResolvedRequest, _ record: SourceRecord, now: Date) -> PipelineError? {
        guard let undecodable = undecodable(of: request, now: now), undecodable.record.content == record.content
        else { return nil }
        return peek(request, now: now) ?? undecodable.error
    }

    // MARK: Recording

    /// Records a failed fetch.
    func record(_ error: PipelineError, _ retention: FailureRetention, of request: ResolvedRequest, now: Date) {
        table.withLock { table in
            let attempts = (table.peek(request.keys.source)?.attempts ?? 0) + 1
            let lifetime = retention.lifetime(attempts: attempts, policy: policy, random: random())
            guard lifetime > .zero else { return }
            let failure = Failure(
                error: error, url: request.source.canonical, host: request.source.hostName, recordedAt: now,
                expiry: now.addingTimeInterval(lifetime / .seconds(1)), attempts: attempts)
            _ = table.insert(failure, cost: failure.costBytes, for: request.keys.source)
        }
    }

    /// Records content that does not decode: until it is stale, or for an hour at most.
    func record(_ content: UndecodableContent, of request: ResolvedRequest, now: Date) {
        let fresh = max(content.record.freshness.remaining(at: now), .seconds(1))
        let expiry = min(now.addingTimeInterval(fresh / .seconds(1)), content.expiry)
        guard expiry > now else { return remove([request.keys.source]) }
        let failure = Failure(
            error: content.error, url: request.source.canonical, host: request.source.hostName, recordedAt: now,
            expiry: expiry, undecodable: content)
        table.withLock { _ = $0.insert(failure, cost: failure.costBytes, for: request.keys.source) }
    }

    /// Records that the origin responded, which ends its transient failures. Undecodable content stays recorded.
    func recordSuccess(of request: ResolvedRequest) {
        table.withLock { table in
            if table.peek(request.keys.source)?.undecodable == nil { _ = table.remove(for: request.keys.source) }
        }
    }

    func remove(_ sources: [StoreKey]) {
        table.withLock { table in
            for source in sources { _ = table.remove(for: source) }
        }
    }

    /// Removes the failures whose address and host, or whose undecodable record, satisfy the predicate.
    func removeAll(where isIncluded: (_ url: String, _ host: String, _ record: SourceRecord?) -> Bool) {
        table.withLock { _ = $0.removeAll { isIncluded($1.url, $1.host, $1.undecodable?.record) } }
    }
}

/// Content that failed to decode: it is no image, or a corrupt one.
struct UndecodableContent: Sendable {
    let record: SourceRecord
    /// The decoder's error.
    let error: PipelineError
    /// The frames or pages that were requested; others may decode.
    let pages: PageSelection
    /// When decoding is tried again although the content is the same.
    let expiry: Date

    static let maxLifetimeSeconds: TimeInterval = 3_600

    init(_ record: SourceRecord, _ error: PipelineError, pages: PageSelection, decodedAt now: Date) {
        self.init(
            record: record, error: error, pages: pages, expiry: now.addingTimeInterval(Self.maxLifetimeSeconds))
    }

    private init(record: SourceRecord, error: PipelineError, pages: PageSelection, expiry: Date) {
        self.record = record
        self.error = error
        self.pages = pages
        self.expiry = expiry
    }

    /// Whether the request would fail too. An unsupported format fails whichever pages are requested.
    func concerns(_ request: ResolvedRequest) -> Bool {
        switch error {
        case .unsupported, .missingDecoder: true
        default: pages == request.input.pages
        }
    }

    /// The same content with the origin's current metadata.
    func with(_ record: SourceRecord) -> UndecodableContent {
        UndecodableContent(record: record, error: error, pages: pages, expiry: expiry)
    }
}
