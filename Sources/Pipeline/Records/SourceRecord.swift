import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomStore
import Foundation
import HTTPTypes
import NIOCore
import Synchronization

/// What is known about a source: which content it has, and what its origin said about keeping it.
///
/// Original and variants are used only through it. So a 304 that freshens it freshens them all, and a record of other
/// content makes all that was made from the old one unreachable at once.
final class SourceRecord: Sendable {
    /// The canonical address that was asked for.
    let url: String
    /// Its host, lower case; empty for local files.
    let host: String
    /// The canonical address that answered, after redirects: the one that the validators belong to.
    let answeredURL: String
    let response: StoredResponse
    /// The hash of the content.
    let content: StoreKey
    let freshness: Freshness
    let cachePolicy: ClientCachePolicy
    /// What the origin says about the content's last change.
    let lastModified: Date?
    /// Whether it has to be held against what the origin would be sent now.
    let varies: Bool
    /// When its origin was asked; nil = by an earlier process, or it was read back from disk. The dates of the response do
    /// not tell which of two answers is later: clocks jump.
    let askedAt: ContinuousClock.Instant?
    private let proven: Atomic<Bool>

    init(
        url: String, host: String, answeredURL: String, response: StoredResponse, content: StoreKey,
        policy: FreshnessPolicy, askedAt: ContinuousClock.Instant? = nil, isProven: Bool = true
    ) {
        self.url = url
        self.host = host
        self.answeredURL = answeredURL
        self.response = response
        self.content = content
        freshness = response.freshness(policy)
        terms = ClientCachePolicy(response, policy: policy)
        lastModified = response.fields[.lastModified].flatMap(HTTPDate.init(parsing:))?.date
        varies = response.fields.contains(.vary)
        self.askedAt = askedAt
        proven = Atomic(isProven)
    }

    /// Of an answer with content.
    convenience init(
        of answer: OriginResponse, asked source: SourceURL, at askedAt: ContinuousClock.Instant, content: StoreKey,
        policy: FreshnessPolicy
    ) {
        self.init(
            url: source.canonical, host: source.hostName, answeredURL: answer.url.canonical,
            response: StoredResponse(
                status: answer.status.code, fields: answer.headers, sent: answer.sentFields,
                requestedAt: answer.requestedAt, receivedAt: answer.receivedAt),
            content: content, policy: policy, askedAt: askedAt, isProven: false)
    }

    /// Whether the content has decoded: before that nothing of it is kept.
    var isProven: Bool { proven.load(ordering: .relaxed) }

    func prove() { proven.store(true, ordering: .relaxed) }

    /// The same content, with another response's word on it.
    func with(
        _ response: StoredResponse, askedAt: ContinuousClock.Instant? = nil, policy: FreshnessPolicy
    ) -> SourceRecord {
        SourceRecord(
            url: url, host: host, answeredURL: answeredURL, response: response, content: content, policy: policy,
            askedAt: askedAt ?? self.askedAt, isProven: isProven)
    }

    /// The same content, confirmed by a 304 (RFC 9111 §4.3.4).
    func freshened(
        by answer: OriginResponse, askedAt: ContinuousClock.Instant, policy: FreshnessPolicy
    ) -> SourceRecord {
        with(
            response.freshened(
                by: answer.headers, sent: answer.sentFields, requestedAt: answer.requestedAt,
                receivedAt: answer.receivedAt),
            askedAt: askedAt, policy: policy)
    }

    /// How it lies on disk: notes without a body.
    var entry: StoredEntry { StoredEntry(body: ByteBuffer(), metadata: bytes, labels: labels) }

    /// Words by which the disk finds the source again.
    private var labels: [String] {
        let address = "url:\(url)".utf8.prefix(StoredEntry.maximumLabelBytes)
        return [String(Substring(address))] + (host.isEmpty ? [] : ["host:\(host)"])
            + response.tags.map { "tag:\($0)" }
    }

    /// What it costs in memory, roughly.
    var costBytes: Int {
        let fields = response.fields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 64 }
        return 768 + 2 * url.utf8.count + fields
    }
}

extension SourceURL {
    /// Lower case, without port; empty for local files.
    var hostName: String { host.map { "\($0)".lowercased() } ?? "" }
}
