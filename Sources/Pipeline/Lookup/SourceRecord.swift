import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomStore
import Foundation
import HTTPTypes
import NIOCore
import Synchronization

/// What is known about a source: the hash of its content, and its origin's caching metadata.
///
/// The original and the variants are used only through the record. A 304 that freshens the record freshens them all,
/// and a record of other content makes everything made from the old content unreachable at once.
final class SourceRecord: Sendable {
    /// The canonical address of the source.
    let url: String
    /// The source's host in lowercase; empty for local files.
    let host: String
    /// The canonical address that answered after redirects, which the validators belong to.
    let answeredURL: String
    let response: StoredResponse
    /// The hash of the content.
    let content: StoreKey
    let freshness: Freshness
    /// The caching policy to send to clients.
    let cachePolicy: ClientCachePolicy
    /// When the content was last modified, if the origin said so.
    let lastModified: Date?
    /// Whether the response has a `Vary` field that must match each request.
    let varies: Bool
    /// When the origin was asked; nil for a record read from disk. The response's dates cannot order two responses,
    /// because wall clocks jump.
    let requestedAt: ContinuousClock.Instant?
    /// The least order of the record in the shared tier, in milliseconds since 1970 by the store's clock: that which it
    /// has there, or one that makes it later than the record from there that it replaces, whatever the clocks say.
    let leastOrder: Int64
    /// A moment after the responses that it replaces, by this machine's clock: its order is not before that either.
    let leastDate: Date
    private let verified: Atomic<Bool>

    init(
        url: String, host: String, answeredURL: String, response: StoredResponse, content: StoreKey,
        policy: FreshnessPolicy, requestedAt: ContinuousClock.Instant? = nil, leastOrder: Int64 = 0,
        leastDate: Date = .distantPast, isVerified: Bool = true, isConfirmed: Bool = true
    ) {
        self.url = url
        self.host = host
        self.answeredURL = answeredURL
        self.response = response
        self.content = content
        var freshness = response.freshness(policy)
        if !isConfirmed {
            freshness.staleSince = min(freshness.staleSince ?? freshness.receivedAt, freshness.receivedAt)
            freshness.staleWhileRevalidate = .zero
        }
        self.freshness = freshness
        cachePolicy = ClientCachePolicy(response, policy: policy)
        lastModified = response.fields[.lastModified].flatMap(HTTPDate.init(parsing:))?.date
        varies = response.fields.contains(.vary)
        self.requestedAt = requestedAt
        self.leastOrder = leastOrder
        self.leastDate = leastDate
        verified = Atomic(isVerified)
    }

    /// Creates the record of a response with content.
    ///
    /// - Parameter known: the record that it replaces.
    convenience init(
        of response: OriginResponse, for source: SourceURL, requestedAt: ContinuousClock.Instant, content: StoreKey,
        replacing known: SourceRecord?, policy: FreshnessPolicy
    ) {
        self.init(
            url: source.canonical, host: source.hostName, answeredURL: response.url.canonical,
            response: StoredResponse(
                status: response.status.code, fields: response.headers, sent: response.sentFields,
                requestedAt: response.requestedAt, receivedAt: response.receivedAt),
            content: content, policy: policy, requestedAt: requestedAt, leastOrder: known?.nextOrder ?? 0,
            leastDate: known?.nextDate ?? .distantPast, isVerified: false)
    }

    /// Whether the content is known to decode. Nothing of it is stored before.
    var isVerified: Bool { verified.load(ordering: .relaxed) }

    func markVerified() { verified.store(true, ordering: .relaxed) }

    /// The same content with the metadata of another response.
    func with(
        _ response: StoredResponse, requestedAt: ContinuousClock.Instant? = nil, leastOrder: Int64? = nil,
        leastDate: Date? = nil, policy: FreshnessPolicy
    ) -> SourceRecord {
        SourceRecord(
            url: url, host: host, answeredURL: answeredURL, response: response, content: content, policy: policy,
            requestedAt: requestedAt ?? self.requestedAt, leastOrder: leastOrder ?? self.leastOrder,
            leastDate: leastDate ?? self.leastDate, isVerified: isVerified)
    }

    /// The same record, which may be used only after the origin has confirmed it, or while the origin fails.
    func unconfirmed(policy: FreshnessPolicy) -> SourceRecord {
        SourceRecord(
            url: url, host: host, answeredURL: answeredURL, response: response, content: content, policy: policy,
            requestedAt: requestedAt, leastOrder: leastOrder, leastDate: leastDate, isVerified: isVerified,
            isConfirmed: false)
    }

    /// The same record by a clock that is ahead by so many seconds.
    func moved(by seconds: TimeInterval, policy: FreshnessPolicy) -> SourceRecord {
        guard seconds != 0 else { return self }
        var response = response
        response.requestedAt += seconds
        response.receivedAt += seconds
        response.staleSince = response.staleSince.map { $0 + seconds }
        return with(response, policy: policy)
    }

    /// The least order of a record that replaces this one.
    private var nextOrder: Int64 { leastOrder + 1 }

    /// Later than this record, also after rounding to milliseconds.
    private var nextDate: Date { max(response.requestedAt, leastDate) + 0.002 }

    /// The same content, freshened by a 304 (RFC 9111 §4.3.4).
    func freshened(
        by answer: OriginResponse, requestedAt: ContinuousClock.Instant, policy: FreshnessPolicy
    ) -> SourceRecord {
        with(
            response.freshened(
                by: answer.headers, sent: answer.sentFields, requestedAt: answer.requestedAt,
                receivedAt: answer.receivedAt),
            requestedAt: requestedAt, leastOrder: nextOrder, leastDate: nextDate, policy: policy)
    }

    /// The record's entry on disk: metadata without a body.
    var entry: StoredEntry { StoredEntry(body: ByteBuffer(), metadata: bytes, labels: labels) }

    /// The labels by which a purge finds the source on disk.
    private var labels: [String] {
        let address = "url:\(url)".utf8.prefix(StoredEntry.maximumLabelBytes)
        return [String(Substring(address))] + (host.isEmpty ? [] : ["host:\(host)"])
            + response.tags.map { "tag:\($0)" }
    }

    /// The approximate cost in memory, in bytes.
    var costBytes: Int {
        let fields = response.fields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 64 }
        return 768 + 2 * url.utf8.count + fields
    }
}

extension SourceURL {
    /// The host in lowercase without the port; empty for local files.
    var hostName: String { host.map { "\($0)".lowercased() } ?? "" }
}
