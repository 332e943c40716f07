import Crypto
import NIOCore

/// What the index knows about an entry; the head of the entry's file says the same.
struct EntryRecord: Equatable, Sendable {
    var key: EntryKey
    /// SHA-256 of labels and metadata, as they stand in the file, and of the body's SHA-256.
    var checksum: [UInt8]
    var labels: EntryLabels
    var fileBytes: Int
    /// When the key was first written, in microseconds since 1970.
    var created: Int64
    /// When it was last written.
    var modified: Int64
}

/// How an entry's file begins.
///
/// A file is a header, the labels, the metadata and the body. The header repeats what the index knows, so that a lost
/// index can be made again from the files: a mark with the format's number, the checksum, the source's and the entry's
/// key, the times of the first and of this writing, and the lengths of labels, metadata and body; integers are
/// big-endian.
struct EntryHead: Equatable, Sendable {
    var record: EntryRecord
    var metadataBytes: Int

    private static let mark = Array("dkroom\u{0}\u{2}".utf8)
    /// The length of the header.
    static let fixedBytes = mark.count + 3 * StoreKey.byteCount + 5 * 8

    /// The size of an entry's file.
    static func fileBytes(of entry: StoredEntry, _ labels: EntryLabels) -> Int {
        fixedBytes + labels.bytes.count + entry.metadata.readableBytes + entry.body.readableBytes
    }

    /// The head of the file of an entry about to be written.
    init(of entry: StoredEntry, labels: EntryLabels, key: EntryKey, created: Int64, modified: Int64) {
        metadataBytes = entry.metadata.readableBytes
        record = EntryRecord(
            key: key, checksum: EntryRecord.checksum(of: entry, labels), labels: labels,
            fileBytes: Self.fileBytes(of: entry, labels), created: created, modified: modified)
    }

    /// The head that the start of a file spells, or nil if it isn't whole or doesn't fit the file's size. What follows
    /// isn't verified.
    init?(reading start: ByteBuffer, fileBytes: Int) {
        var start = start
        guard
            start.readBytes(length: Self.mark.count) == Self.mark,
            let checksum = start.readBytes(length: StoreKey.byteCount),
            let source = start.readBytes(length: StoreKey.byteCount).flatMap(StoreKey.init(digest:)),
            let entry = start.readBytes(length: StoreKey.byteCount).flatMap(StoreKey.init(digest:)),
            let (created, modified) = start.readMultipleIntegers(as: (Int64, Int64).self),
            let lengths = start.readMultipleIntegers(as: (UInt64, UInt64, UInt64).self),
            let labelsBytes = Int(exactly: lengths.0), labelsBytes <= min(EntryLabels.maximumBytes, fileBytes),
            let metadataBytes = Int(exactly: lengths.1), metadataBytes <= fileBytes,
            let bodyBytes = Int(exactly: lengths.2), bodyBytes <= fileBytes,
            Self.fixedBytes + labelsBytes + metadataBytes + bodyBytes == fileBytes,
            let labels = start.readBytes(length: labelsBytes).flatMap(EntryLabels.init(bytes:))
        else { return nil }
        self.metadataBytes = metadataBytes
        record = EntryRecord(
            key: EntryKey(source: source, entry: entry), checksum: checksum, labels: labels, fileBytes: fileBytes,
            created: created, modified: modified)
    }

    /// The header and the labels.
    var bytes: ByteBuffer {
        let labels = record.labels.bytes
        var head = ByteBuffer()
        head.reserveCapacity(Self.fixedBytes + labels.count)
        head.writeBytes(Self.mark)
        head.writeBytes(record.checksum)
        head.writeBytes(record.key.source.bytes)
        head.writeBytes(record.key.entry.bytes)
        head.writeMultipleIntegers(record.created, record.modified)
        let bodyBytes = record.fileBytes - Self.fixedBytes - labels.count - metadataBytes
        head.writeMultipleIntegers(UInt64(labels.count), UInt64(metadataBytes), UInt64(bodyBytes))
        head.writeBytes(labels)
        return head
    }
}

extension EntryRecord {
    /// The record that a file's head spells, or nil if there is none. Metadata and body aren't read, let alone
    /// verified: that is for whoever reads the entry.
    init?(readingHeadOf path: String) {
        let longest = EntryHead.fixedBytes + EntryLabels.maximumBytes
        guard
            let (short, fileBytes) = try? Files.readStart(path, count: EntryHead.fixedBytes + EntryLabels.usualBytes)
        else { return nil }
        if let head = EntryHead(reading: short, fileBytes: fileBytes) {
            self = head.record
        } else if let (long, fileBytes) = try? Files.readStart(path, count: longest),
            let head = EntryHead(reading: long, fileBytes: fileBytes)
        {
            self = head.record
        } else {
            return nil
        }
    }

    /// The entry in `file`, or nil unless each byte of the file is as it was when this record was made.
    func entry(verifying file: ByteBuffer) -> StoredEntry? {
        guard let head = EntryHead(reading: file, fileBytes: file.readableBytes), head.record == self else {
            return nil
        }
        var rest = file
        rest.moveReaderIndex(forwardBy: EntryHead.fixedBytes + labels.bytes.count)
        guard let metadata = rest.readSlice(length: head.metadataBytes) else { return nil }
        let entry = StoredEntry(body: rest, metadata: metadata, labels: labels.strings)
        return Self.checksum(of: entry, labels) == checksum ? entry : nil
    }

    static func checksum(of entry: StoredEntry, _ labels: EntryLabels) -> [UInt8] {
        var hasher = SHA256()
        labels.bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) }
        entry.metadata.withUnsafeReadableBytes { hasher.update(bufferPointer: $0) }
        hasher.update(data: (entry.bodyDigest ?? StoreKey(hashing: entry.body.readableBytesView)).bytes)
        return Array(hasher.finalize())
    }
}
