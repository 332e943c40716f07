import DarkroomMachine
import NIOCore
import Synchronization

/// The format of an object in the shared tier: a head that describes the object and is protected by a hash, and the
/// body, whose hash is in the head.
///
/// Everything that a reader needs is in the object itself, because some stores keep no metadata.
struct SharedObject: Sendable {
    enum Kind: UInt8 {
        case record = 1
        case original, variant, removal, purge
    }

    /// What an object says about its body.
    struct Head: Hashable, Sendable {
        var kind: Kind
        var key: EntryKey
        /// When the object was written, in milliseconds since 1970, one of ``SharedObject/times``.
        var writtenAt: Int64
        /// The record that the object was stored with; for the object of a record, the record itself.
        var record: SharedRecord
        /// The entry's own metadata.
        var metadata = ByteBuffer()
        var bodyBytes = 0
        /// The SHA-256 of the body.
        var bodyDigest: StoreKey
    }

    private static let mark = [UInt8]("DKRM\u{1}".utf8)
    /// The mark and the length of the head.
    static let leadBytes = mark.count + MemoryLayout<UInt32>.size
    /// No head is longer: the fields of a response and its address are bounded.
    static let maxHeadBytes = 512 << 10
    /// The times and orders of objects: the years 1970 to 9999. The values in an object are not trusted, and arithmetic
    /// on times in this range cannot overflow.
    static let times = Int64(0)...253_402_300_799_999
    /// How far an object's time and order may be ahead of this server's clock. With a lower tolerance, differing clocks
    /// would make objects unreadable. Without a limit, one object from the far future would outdate all other objects
    /// permanently.
    static let clockTolerance = Int64(86_400_000)
    /// The capacity reserved for an announced body, which may never arrive.
    static let maxExpectedBytes = 1 << 20

    let head: Head
    let body: SharedBytes

    static func encode(_ head: Head, _ body: ByteBuffer) -> ByteBuffer {
        var fields = ByteBuffer()
        fields.writeInteger(head.kind.rawValue)
        fields.writeBytes(head.key.source.bytes)
        fields.writeBytes(head.key.entry.bytes)
        fields.writeInteger(head.writtenAt)
        fields.writeInteger(head.record.order)
        fields.writeSized(head.record.metadata)
        fields.writeSized(head.metadata)
        fields.writeInteger(UInt64(body.readableBytes))
        fields.writeBytes(head.bodyDigest.bytes)
        var object = ByteBuffer()
        object.reserveCapacity(Self.leadBytes + fields.readableBytes + StoreKey.byteCount + body.readableBytes)
        object.writeBytes(Self.mark)
        object.writeInteger(UInt32(fields.readableBytes + StoreKey.byteCount))
        object.writeBuffer(&fields)
        object.writeBytes(StoreKey(hashing: object.readableBytesView).bytes)
        object.writeImmutableBuffer(body)
        return object
    }

    /// The length of the head, from the first ``leadBytes`` bytes; nil if they do not begin such an object.
    static func headBytes(_ lead: ByteBuffer) -> Int? {
        var lead = lead
        guard lead.readBytes(length: mark.count) == mark, let count = lead.readInteger(as: UInt32.self),
            count <= maxHeadBytes
        else { return nil }
        return Int(count)
    }
}

extension SharedObject.Head {
    /// Whether the object may have been written by now.
    ///
    /// - Parameter now: the store's time in milliseconds since 1970.
    func isPlausible(at now: Int64) -> Bool { max(writtenAt, record.order) <= now + SharedObject.clockTolerance }

    /// Decodes the lead and the head that follows it; nil if they are corrupt.
    init?(_ bytes: ByteBuffer) {
        let protected = bytes.readableBytes - StoreKey.byteCount
        guard protected > 0, let digest = bytes.getBytes(at: bytes.readerIndex + protected, length: StoreKey.byteCount),
            StoreKey(hashing: bytes.readableBytesView.prefix(protected)) == StoreKey(digest: digest)
        else { return nil }
        var bytes = bytes
        bytes.moveReaderIndex(forwardBy: SharedObject.leadBytes)
        guard let kind = bytes.readInteger(as: UInt8.self).flatMap(SharedObject.Kind.init(rawValue:)),
            let source = bytes.readKey(), let entry = bytes.readKey(),
            let writtenAt = bytes.readInteger(as: Int64.self), let order = bytes.readInteger(as: Int64.self),
            let record = bytes.readSized(), let metadata = bytes.readSized(),
            let bodyBytes = bytes.readInteger(as: UInt64.self).flatMap(Int.init(exactly:)),
            let bodyDigest = bytes.readKey(), bytes.readableBytes == StoreKey.byteCount,
            SharedObject.times.contains(writtenAt), SharedObject.times.contains(order)
        else { return nil }
        self.init(
            kind: kind, key: EntryKey(source: source, entry: entry), writtenAt: writtenAt,
            record: SharedRecord(order: order, metadata: record), metadata: metadata, bodyBytes: bodyBytes,
            bodyDigest: bodyDigest)
    }
}

/// Reads an object as it arrives, and hashes the body meanwhile.
final class SharedObjectReader: Sendable {
    private struct State {
        /// The bytes of the head so far.
        var start = ByteBuffer()
        var head: SharedObject.Head?
        var body = SharedBytesWriter()
        var isDamaged = false

        /// - Returns: false if the object is corrupt.
        mutating func append(_ part: ByteBuffer) -> Bool {
            var part = part
            if head == nil {
                start.writeImmutableBuffer(part)
                guard start.readableBytes >= SharedObject.leadBytes else { return true }
                guard let count = SharedObject.headBytes(start) else { return false }
                guard let text = start.readSlice(length: SharedObject.leadBytes + count) else { return true }
                head = SharedObject.Head(text)
                body = SharedBytesWriter(expectedBytes: min(head?.bodyBytes ?? 0, SharedObject.maxExpectedBytes))
                (part, start) = (start, ByteBuffer())
            }
            guard let head, body.count + part.readableBytes <= head.bodyBytes else { return false }
            if part.readableBytes > 0 { body.append(part) }
            return true
        }
    }

    private let state = Mutex(State())

    /// Takes the next bytes.
    ///
    /// - Returns: false if the object is corrupt.
    func append(_ part: ByteBuffer) -> Bool {
        state.withLock { state in
            state.isDamaged = state.isDamaged || !state.append(part)
            return !state.isDamaged
        }
    }

    /// The object, if it is complete and intact. Nothing may be appended afterward.
    func finish() -> SharedObject? {
        state.withLock { state in
            guard !state.isDamaged, let head = state.head, state.body.count == head.bodyBytes else { return nil }
            state.isDamaged = true
            let bytes = state.body.finish()
            return StoreKey(of: bytes) == head.bodyDigest ? SharedObject(head: head, body: bytes) : nil
        }
    }
}

extension ByteBuffer {
    fileprivate mutating func writeSized(_ bytes: ByteBuffer) {
        writeInteger(UInt32(bytes.readableBytes))
        writeImmutableBuffer(bytes)
    }

    fileprivate mutating func readSized() -> ByteBuffer? {
        // A copy: a slice would keep the whole part of the transfer in memory.
        readInteger(as: UInt32.self).flatMap { readSlice(length: Int($0)) }.map { ByteBuffer(buffer: $0) }
    }
}

/// The names of objects in the shared tier, below the folder.
///
///     1/s/<source>/r-<order>-<digest>   a record of the source, named so that the newest is listed first
///     1/s/<source>/r-<order>-0          a removal of the source at that moment
///     1/s/<source>/o-<content>          the original with this content
///     1/s/<source>/v-<variant>          a variant
///     1/p/<time>-<number>-<kind>        a purge, named so that they are listed in the order of their times
///     1/f/<time>-<number>-l             a summary of the purges until a time
///
/// Records are never overwritten. Regardless of which node writes last, the newest record takes precedence.
enum SharedName {
    /// Changes with the layout and the format of objects, so that servers of different releases ignore each other's
    /// objects.
    private static let revision = "1"

    /// The beginning of the names of all sources' objects.
    static let sources = "\(revision)/s/"
    /// The beginning of the names of all purges.
    static let purges = "\(revision)/p/"
    /// The beginning of the names of all summaries of purges.
    static let summaries = "\(revision)/f/"

    /// The beginning of the names of all objects of a source.
    static func source(_ source: StoreKey) -> String { "\(sources)\(source.hex)/" }

    static func records(of source: StoreKey) -> String { self.source(source) + "r-" }

    static func record(of source: StoreKey, _ version: RecordVersion) -> String {
        "\(records(of: source))\(version.text)"
    }

    static func original(of source: StoreKey, content: StoreKey) -> String { "\(self.source(source))o-\(content.hex)" }

    static func variant(_ key: EntryKey) -> String { "\(source(key.source))v-\(key.entry.hex)" }
}

/// Which of a source's records an object is.
struct RecordVersion: Hashable, Sendable {
    /// When the origin confirmed the record, or when the source was removed; see ``SharedRecord/order``.
    let order: Int64
    /// Distinguishes records of the same moment; nil for a removal, which precedes them.
    let digest: UInt64?

    init(order: Int64, digest: UInt64?) {
        self.order = max(order, 0)
        self.digest = digest
    }

    /// The end of a name.
    fileprivate init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 16, let rest = Int64(parts[0], radix: 16), rest >= 0 else {
            return nil
        }
        order = Int64.max - rest
        guard parts[1] != "0" else {
            digest = nil
            return
        }
        guard parts[1].utf8.count == 16, let digest = UInt64(parts[1], radix: 16) else { return nil }
        self.digest = digest
    }

    init?(ofRecordNamed name: String, of source: StoreKey) {
        let beginning = SharedName.records(of: source)
        guard name.hasPrefix(beginning) else { return nil }
        self.init(name.dropFirst(beginning.count))
    }

    /// Later orders come first in listings.
    fileprivate var text: String {
        "\(Self.digits(UInt64(Int64.max - order)))-\(digest.map(Self.digits) ?? "0")"
    }

    static func digits(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}
