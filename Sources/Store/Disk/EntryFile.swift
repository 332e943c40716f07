import Crypto
import DarkroomMachine
import NIOCore

/// The row of an entry in the index; the header of its file has the same values.
struct EntryRecord: Equatable, Sendable {
    var key: EntryKey
    /// The SHA-256 of the labels and the metadata, as in the file, and of the body's SHA-256.
    var checksum: [UInt8]
    var labels: EntryLabels
    var fileBytes: Int
    /// The time of the first write for the key, in microseconds since 1970.
    var created: Int64
    /// The time of the last write, in microseconds since 1970.
    var modified: Int64
}

/// The start of an entry's file.
///
/// A file is a header, the labels, the metadata and the body. The header repeats the row of the index, so that a lost
/// index can be rebuilt from the files: a magic number with the version of the format, the checksum, the keys of the
/// source and the entry, the times of the first and of the last write, and the lengths of labels, metadata and body.
/// Integers are big-endian.
struct EntryHeader: Equatable, Sendable {
    var record: EntryRecord
    var metadataBytes: Int

    private static let magic = Array("dkroom\u{0}\u{2}".utf8)
    /// The length of the header without the labels.
    static let fixedBytes = magic.count + 3 * StoreKey.byteCount + 5 * 8

    /// The size of an entry's file.
    static func fileBytes(of entry: StoredEntry, _ labels: EntryLabels) -> Int {
        fixedBytes + labels.bytes.count + entry.metadata.readableBytes + entry.content.count
    }

    /// The header for an entry that is about to be written.
    init(of entry: StoredEntry, labels: EntryLabels, key: EntryKey, created: Int64, modified: Int64) {
        metadataBytes = entry.metadata.readableBytes
        record = EntryRecord(
            key: key, checksum: EntryRecord.checksum(of: entry, labels), labels: labels,
            fileBytes: Self.fileBytes(of: entry, labels), created: created, modified: modified)
    }

    /// Reads the header at the start of a file; nil if it is incomplete or disagrees with the size of the file. The
    /// rest of the file is not verified.
    init?(reading start: ByteBuffer, fileBytes: Int) {
        var start = start
        guard
            start.readBytes(length: Self.magic.count) == Self.magic,
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
        var header = ByteBuffer()
        header.reserveCapacity(Self.fixedBytes + labels.count)
        header.writeBytes(Self.magic)
        header.writeBytes(record.checksum)
        header.writeBytes(record.key.source.bytes)
        header.writeBytes(record.key.entry.bytes)
        header.writeMultipleIntegers(record.created, record.modified)
        let bodyBytes = record.fileBytes - Self.fixedBytes - labels.count - metadataBytes
        header.writeMultipleIntegers(UInt64(labels.count), UInt64(metadataBytes), UInt64(bodyBytes))
        header.writeBytes(labels)
        return header
    }
}

extension EntryRecord {
    /// Reads the record in the header of a file; nil if there is none. Metadata and body are neither read nor verified;
    /// that happens when the entry is read.
    init?(readingHeaderOf path: String) {
        let longest = EntryHeader.fixedBytes + EntryLabels.maximumBytes
        guard
            let (short, fileBytes) = try? FileSystem.readStart(
                path, count: EntryHeader.fixedBytes + EntryLabels.usualBytes)
        else { return nil }
        if let header = EntryHeader(reading: short, fileBytes: fileBytes) {
            self = header.record
        } else if let (long, fileBytes) = try? FileSystem.readStart(path, count: longest),
            let header = EntryHeader(reading: long, fileBytes: fileBytes)
        {
            self = header.record
        } else {
            return nil
        }
    }

    /// The entry in `file`, or nil unless every byte of the file is as it was when this record was made.
    func entry(verifying file: ByteBuffer) -> StoredEntry? {
        guard let header = EntryHeader(reading: file, fileBytes: file.readableBytes), header.record == self else {
            return nil
        }
        var rest = file
        rest.moveReaderIndex(forwardBy: EntryHeader.fixedBytes + labels.bytes.count)
        guard let metadata = rest.readSlice(length: header.metadataBytes) else { return nil }
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

/// The labels of an entry, encoded as in its file and its row: for each label, its length in two bytes, big-endian, and
/// its UTF-8.
struct EntryLabels: Hashable, Sendable {
    /// The maximum length of the encoded labels.
    static let maximumBytes = StoredEntry.maximumLabels * (2 + StoredEntry.maximumLabelBytes)
    /// A length that few entries exceed.
    static let usualBytes = 4096 - EntryHeader.fixedBytes

    /// No labels.
    static let none = EntryLabels()

    let bytes: [UInt8]

    private init() { bytes = [] }

    /// Encodes labels without duplicates; nil if there are too many or one is too long.
    init?(_ labels: [String]) {
        guard labels.count <= StoredEntry.maximumLabels else { return nil }
        var bytes: [UInt8] = []
        var seen: Set<[UInt8]> = []
        for label in labels {
            let utf8 = Array(label.utf8)
            guard utf8.count <= StoredEntry.maximumLabelBytes else { return nil }
            guard seen.insert(utf8).inserted else { continue }
            bytes.append(UInt8(utf8.count >> 8))
            bytes.append(UInt8(utf8.count & 0xFF))
            bytes.append(contentsOf: utf8)
        }
        self.bytes = bytes
    }

    /// Labels in encoded form; nil if the bytes are malformed.
    init?(bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.count <= Self.maximumBytes, let labels = Self.split(bytes) else { return nil }
        let areValid = labels.allSatisfy {
            $0.count <= StoredEntry.maximumLabelBytes && String(validating: $0, as: UTF8.self) != nil
        }
        guard areValid, labels.count <= StoredEntry.maximumLabels else { return nil }
    }

    /// The UTF-8 of each label.
    var utf8: [ArraySlice<UInt8>] { Self.split(bytes) ?? [] }

    /// The labels.
    var strings: [String] { utf8.map { String(decoding: $0, as: UTF8.self) } }

    private static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>]? {
        var labels: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 2 else { return nil }
            let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            rest = rest.dropFirst(2)
            guard rest.count >= count else { return nil }
            labels.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return labels
    }
}
