import DarkroomEviction
package import DarkroomHTTPCaching
package import DarkroomRequests
package import DarkroomStore
package import DarkroomTransforms
package import Foundation
import HTTPTypes
package import NIOCore
import Synchronization

/// The record of a source: the hash of its content, and its origin's caching metadata.
///
/// The original and the variants are used only through the record. A 304 that freshens the record freshens them all. A
/// record of new content makes all entries of the old content unreachable at once.
package final class SourceRecord: Sendable {
    /// The canonical address of the source.
    package let url: String
    /// The source's host in lowercase; empty for local files.
    package let host: String
    /// The canonical address that answered after redirects, which the validators belong to.
    package let answeredURL: String
    package let response: StoredResponse
    /// The hash of the content.
    package let content: StoreKey
    package let freshness: Freshness
    /// The caching policy to send to clients.
    package let cachePolicy: ClientCachePolicy
    /// When the content was last modified, if the origin said so.
    package let lastModified: Date?
    /// Whether the response has a `Vary` field that must match each request.
    package let varies: Bool
    /// When the origin was asked; nil for a record read from disk. The response's dates cannot order two responses,
    /// because wall clocks jump.
    package let requestedAt: ContinuousClock.Instant?
    /// The least order of the record in the shared tier, in milliseconds since 1970 by the store's clock: its order
    /// there, or an order that makes it later than the shared record that it replaces, whatever the clocks say.
    package let leastOrder: Int64
    /// A moment after the responses that the record replaces, by this machine's clock. The record's order is at or
    /// after this moment.
    package let leastDate: Date
    private let verified: Atomic<Bool>

    package init(
        url: String, host: String, answeredURL: String, response: StoredResponse, content: StoreKey,
        policy: FreshnessPolicy, requestedAt: ContinuousClock.Instant? = nil, leastOrder: Int64 = 0,
        leastDate: Date = .distantPast, isVerified: Bool = true, isConfirmed: Bool = true
    ) {
        self.url = url
        self.host = host
        self.answeredURL = answeredURL
        self.response = response
        self.content = content
        let origin = OriginCachePolicy(response.fields)
        var freshness = response.freshness(policy, origin)
        if !isConfirmed {
            freshness.staleSince = min(freshness.staleSince ?? freshness.receivedAt, freshness.receivedAt)
            freshness.staleWhileRevalidate = .zero
        }
        self.freshness = freshness
        cachePolicy = ClientCachePolicy(response, origin, lifetime: freshness.lifetime, policy: policy)
        lastModified = response.fields[.lastModified].flatMap { HTTPDate(parsing: $0) }?.date
        varies = response.fields.contains(.vary)
        self.requestedAt = requestedAt
        self.leastOrder = leastOrder
        self.leastDate = leastDate
        verified = Atomic(isVerified)
    }

    /// Whether the content is known to decode. Its entries are stored only then.
    package var isVerified: Bool { verified.load(ordering: .relaxed) }

    package func markVerified() { verified.store(true, ordering: .relaxed) }

    /// The same content with the metadata of another response.
    package func with(
        _ response: StoredResponse, requestedAt: ContinuousClock.Instant? = nil, leastOrder: Int64? = nil,
        leastDate: Date? = nil, isConfirmed: Bool = true, policy: FreshnessPolicy
    ) -> SourceRecord {
        SourceRecord(
            url: url, host: host, answeredURL: answeredURL, response: response, content: content, policy: policy,
            requestedAt: requestedAt ?? self.requestedAt, leastOrder: leastOrder ?? self.leastOrder,
            leastDate: leastDate ?? self.leastDate, isVerified: isVerified, isConfirmed: isConfirmed)
    }

    /// The same record, which may be used only after the origin has confirmed it, or while the origin fails.
    package func unconfirmed(policy: FreshnessPolicy) -> SourceRecord {
        with(response, isConfirmed: false, policy: policy)
    }

    /// The same record by a clock that is ahead by so many seconds.
    package func moved(by seconds: TimeInterval, policy: FreshnessPolicy) -> SourceRecord {
        guard seconds != 0 else { return self }
        var response = response
        response.requestedAt += seconds
        response.receivedAt += seconds
        response.staleSince = response.staleSince.map { $0 + seconds }
        return with(response, policy: policy)
    }

    /// The minimum order of a record that replaces this record.
    package var nextOrder: Int64 { leastOrder + 1 }

    /// Later than this record, also after rounding to milliseconds.
    package var nextDate: Date { max(response.requestedAt, leastDate) + 0.002 }

    /// The record's entry on disk: metadata without a body.
    package var entry: StoredEntry { StoredEntry(body: ByteBuffer(), metadata: bytes, labels: labels) }

    /// The labels by which a purge finds the source on disk.
    private var labels: [String] {
        let address = "url:\(url)".utf8.prefix(StoredEntry.maximumLabelBytes)
        return [String(Substring(address))] + (host.isEmpty ? [] : ["host:\(host)"])
            + response.tags.map { "tag:\($0)" }
    }

    /// The approximate cost in memory, in bytes.
    package var costBytes: Int {
        let fields = response.fields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 64 }
        return 768 + 2 * url.utf8.count + fields
    }
}

/// The encoding of a record in a store: a revision, the content's hash, three dates, the status, and texts prefixed
/// with their lengths.
extension SourceRecord {
    private static let revision: UInt8 = 1
    /// The most fields that decoding accepts; no encoded record has more.
    private static let maxFields = 256

    package var bytes: ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeInteger(Self.revision)
        bytes.writeBytes(content.bytes)
        bytes.writeDate(response.requestedAt)
        bytes.writeDate(response.receivedAt)
        bytes.writeDate(response.staleSince)
        bytes.writeInteger(UInt16(clamping: response.status))
        for text in [url, host, answeredURL] { bytes.writeText(text) }
        bytes.writeFields(response.fields)
        bytes.writeFields(response.requestFields)
        return bytes
    }

    /// Decodes a record; nil if the bytes are of another revision or malformed.
    ///
    /// - Parameter leastOrder: the order of a record from the shared tier.
    package convenience init?(_ bytes: ByteBuffer, leastOrder: Int64 = 0, policy: FreshnessPolicy) {
        var bytes = bytes
        guard bytes.readInteger(as: UInt8.self) == Self.revision,
            let content = bytes.readKey(),
            let requestedAt = bytes.readDate() ?? nil, let receivedAt = bytes.readDate() ?? nil,
            let staleSince = bytes.readDate(), let status = bytes.readInteger(as: UInt16.self),
            let url = bytes.readText(), let host = bytes.readText(), let answeredURL = bytes.readText(),
            let fields = bytes.readFields(atMost: Self.maxFields),
            let requestFields = bytes.readFields(atMost: Self.maxFields)
        else { return nil }
        var response = StoredResponse(
            status: Int(status), fields: fields, sent: [:], requestedAt: requestedAt, receivedAt: receivedAt)
        response.requestFields = requestFields
        response.staleSince = staleSince
        self.init(
            url: url, host: host, answeredURL: answeredURL, response: response, content: content, policy: policy,
            leastOrder: leastOrder)
    }
}

/// Dates are milliseconds since 1970; `Int64.min` encodes nil.
extension ByteBuffer {
    fileprivate mutating func writeDate(_ date: Date?) {
        writeInteger(date.map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) } ?? Int64.min)
    }

    /// Reads a date. The outer nil means that there are not enough bytes, or that they could not be written again:
    /// near the limits of `Int64` a date rounds to nil or to a number that is too large.
    fileprivate mutating func readDate() -> Date?? {
        guard let milliseconds = readInteger(as: Int64.self) else { return nil }
        guard milliseconds != .min else { return .some(nil) }
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        guard date >= .distantPast, date <= .distantFuture else { return nil }
        return date
    }

    fileprivate mutating func writeText(_ text: String) {
        writeInteger(UInt32(text.utf8.count))
        writeString(text)
    }

    fileprivate mutating func readText() -> String? {
        guard let count = readInteger(as: UInt32.self) else { return nil }
        return readString(length: Int(count))
    }

    fileprivate mutating func writeFields(_ fields: HTTPFields) {
        writeInteger(UInt16(clamping: fields.count))
        for field in fields {
            writeText(field.name.rawName)
            writeText(field.value)
        }
    }

    fileprivate mutating func readFields(atMost limit: Int) -> HTTPFields? {
        guard let count = readInteger(as: UInt16.self), count <= limit else { return nil }
        var fields = HTTPFields()
        for _ in 0..<count {
            guard let name = readText().flatMap({ HTTPField.Name($0) }), let value = readText() else { return nil }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }
}

/// The records of sources, parsed in memory and encoded on disk.
final class SourceRecords: Sendable {
    private let table: Mutex<SieveTable<StoreKey, SourceRecord>>
    private let disk: (any Storing)?
    private let policy: FreshnessPolicy
    /// The records read from disk last if `table` is smaller, so that the same bytes need not be decoded again. The
    /// bytes on disk take precedence.
    private let decoded: Mutex<SieveTable<StoreKey, Decoded>>
    private static let decodedBytes = 1 << 20
    let unconfirmedRecords: UnconfirmedRecords

    private struct Decoded: Sendable {
        let bytes: ByteBuffer
        let isRestored: Bool
        let record: SourceRecord
    }

    /// - Parameters:
    ///   - budgetBytes: the budget of the parsed records; with 0 they are read from disk each time.
    ///   - suspectsDisk: whether other servers may have purged entries on disk while this server was stopped.
    init(budgetBytes: Int, disk: (any Storing)?, suspectsDisk: Bool = false, policy: FreshnessPolicy) {
        table = Mutex(SieveTable(budgetBytes: budgetBytes))
        self.disk = disk
        self.policy = policy
        unconfirmedRecords = UnconfirmedRecords(includesDisk: suspectsDisk)
        let isNeeded = disk != nil && budgetBytes < Self.decodedBytes
        decoded = Mutex(SieveTable(budgetBytes: isNeeded ? Self.decodedBytes : 0))
    }

    /// Reads memory only, without suspending.
    func inMemory(_ source: StoreKey) -> SourceRecord? {
        table.withLock { $0.value(for: source) }.map { judged($0, isOnDisk: false) }
    }

    /// Reads memory only, without counting as a use.
    func peek(_ source: StoreKey) -> SourceRecord? {
        table.withLock { $0.peek(source) }.map { judged($0, isOnDisk: false) }
    }

    /// Decodes the record in an entry from disk.
    ///
    /// A record that the store has restored may be older than the source's last record, so it is revalidated before
    /// use.
    func decode(_ entry: StoredEntry, of source: StoreKey) -> SourceRecord? {
        let isRestored = entry.isRestored
        if let known = decoded.withLock({ $0.value(for: source) }), known.bytes == entry.metadata,
            known.isRestored == isRestored
        {
            return judged(known.record, isOnDisk: true)
        }
        guard var record = SourceRecord(entry.metadata, policy: policy) else { return nil }
        if isRestored { record = record.unconfirmed(policy: policy) }
        let known = Decoded(bytes: entry.metadata, isRestored: isRestored, record: record)
        let cost = record.costBytes + entry.metadata.readableBytes
        let freed = decoded.withLock { $0.insert(known, cost: cost, for: source) }
        _ = consume freed
        return judged(record, isOnDisk: true)
    }

    /// The record, which has to be revalidated before use if its source may have been purged unnoticed.
    func judged(_ record: SourceRecord, isOnDisk: Bool) -> SourceRecord {
        unconfirmedRecords.concerns(record, isOnDisk: isOnDisk) ? record.unconfirmed(policy: policy) : record
    }

    /// Reads disk only.
    func onDisk(_ source: StoreKey) async -> SourceRecord? {
        guard let entry = await disk?.entry(for: RequestKeys.record(of: source)) else { return nil }
        return decode(entry, of: source)
    }

    /// Reads memory, then disk.
    func anywhere(_ source: StoreKey) async -> SourceRecord? {
        if let record = inMemory(source) { return record }
        return await onDisk(source)
    }

    /// Copies a record from disk to memory, unless memory has a newer record by now.
    func promote(_ record: SourceRecord, for source: StoreKey) {
        let freed = table.withLock { table in
            table.peek(source) == nil ? table.insert(record, cost: record.costBytes, for: source) : []
        }
        _ = consume freed
    }

    func store(_ record: SourceRecord, for source: StoreKey, in tiers: TierSet) {
        if tiers.contains(.memory) {
            let freed = table.withLock { $0.insert(record, cost: record.costBytes, for: source) }
            _ = consume freed
        }
        if tiers.contains(.disk) {
            disk?.store(record.entry, for: RequestKeys.record(of: source))
        }
    }

    /// Removes records from memory. On disk a record is removed with the source's other entries.
    func remove(_ sources: [StoreKey]) {
        table.withLock { table in
            for source in sources { _ = table.remove(for: source) }
        }
    }

    /// The sources in memory whose record satisfies the predicate.
    func sources(where isIncluded: (SourceRecord) -> Bool) -> [StoreKey] {
        table.withLock { $0.keys { isIncluded($1) } }
    }

    /// Evicts records until this fraction of the bytes held is left.
    func shrink(toFraction fraction: Double) {
        let freed = table.withLock { $0.shrink(toBytes: Int(Double($0.bytes) * fraction)) }
        _ = consume freed
    }
}

/// The metadata stored with a variant's bytes.
package struct VariantRecord: Hashable, Sendable {
    /// The hash of the variant's original. The variant is used only while the source has this content.
    package var content: StoreKey
    package var format: OutputFormat
    /// The size of the image, or of the image that a document describes.
    package var size: PixelSize
    /// The size of the original in bytes.
    package var sourceBytes: Int
    /// The SHA-256 of the body in 64 hexadecimal digits.
    package var digest: String
    /// The quality of the result if the request left it to the image; nil if not.
    package var quality: ResultQuality?
    /// What of an SVG is not drawn as browsers draw it.
    package var gaps: SVGGaps
    /// The number of faces that were found for the result, 0…100; nil = none were looked for.
    package var faces: Int?

    private static let revision: UInt8 = 6
    private static let noQuality: UInt8 = 255
    private static let noFaces: UInt8 = 255
    private static let maxFaces: UInt8 = 100

    package init(
        content: StoreKey, format: OutputFormat, size: PixelSize, sourceBytes: Int, digest: String,
        quality: ResultQuality? = nil, gaps: SVGGaps = [], faces: Int? = nil
    ) {
        self.content = content
        self.format = format
        self.size = size
        self.sourceBytes = sourceBytes
        self.digest = digest
        self.quality = quality
        self.gaps = gaps
        self.faces = faces
    }

    /// Decodes metadata; nil if the bytes are of another revision or malformed.
    package init?(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard bytes.readInteger(as: UInt8.self) == Self.revision,
            let content = bytes.readKey(),
            let length = bytes.readInteger(as: UInt8.self),
            let name = bytes.readString(length: Int(length)), let format = OutputFormat(rawValue: name),
            let width = bytes.readInteger(as: UInt32.self), let height = bytes.readInteger(as: UInt32.self),
            let sourceBytes = bytes.readInteger(as: UInt64.self).flatMap(Int.init(exactly:)),
            let digest = bytes.readString(length: 64), StoreKey(hex: digest) != nil,
            let code = bytes.readInteger(as: UInt8.self), case let quality = ResultQuality(code: code),
            code == Self.noQuality || quality != nil,
            let gaps = bytes.readInteger(as: UInt8.self).map(SVGGaps.init(rawValue:)),
            let faces = bytes.readInteger(as: UInt8.self), faces <= Self.maxFaces || faces == Self.noFaces
        else { return nil }
        self.init(
            content: content, format: format, size: PixelSize(width: Int(width), height: Int(height)),
            sourceBytes: sourceBytes, digest: digest, quality: quality, gaps: gaps,
            faces: faces == Self.noFaces ? nil : Int(faces))
    }

    package var bytes: ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeInteger(Self.revision)
        bytes.writeBytes(content.bytes)
        bytes.writeInteger(UInt8(format.rawValue.utf8.count))
        bytes.writeString(format.rawValue)
        bytes.writeInteger(UInt32(clamping: size.width))
        bytes.writeInteger(UInt32(clamping: size.height))
        bytes.writeInteger(UInt64(clamping: sourceBytes))
        bytes.writeString(digest)
        bytes.writeInteger(quality?.code ?? Self.noQuality)
        bytes.writeInteger(gaps.rawValue)
        bytes.writeInteger(faces.map { min(UInt8(clamping: $0), Self.maxFaces) } ?? Self.noFaces)
        return bytes
    }
}
