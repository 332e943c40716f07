import Crypto
import DarkroomMachine
import NIOCore

/// The row of an entry in the index; the header of its file, if it has one, has the same values.
struct EntryRecord: Equatable, Sendable {
    /// The most metadata that is kept in the row; an entry with more has a file even without a body.
    static let maximumContentBytes = 32 << 10

    var key: EntryKey
    /// The SHA-256 of the labels, the companion and the metadata, as in the file, and of the body's SHA-256.
    var checksum: StoreKey
    var labels: EntryLabels
    /// The size of the entry's file, or of the file that the entry would have.
    var fileBytes: Int
    /// The time of the first write for the key, in microseconds since 1970.
    var created: Int64
    /// The time of the last write, in microseconds since 1970.
    var modified: Int64
    /// The metadata of an entry without a body, which has no file; nil for an entry with a file.
    var content: ByteBuffer?
    /// Whether the row is a companion from a file, restored after the loss of the index.
    var isRestored = false
}

/// The start of an entry's file.
///
/// A file is a header, the labels, the companion, the metadata and the body. The header repeats the row of the index,
/// so that a lost index can be rebuilt from the files: a magic number with the version of the format, the checksum, the
/// keys of the source and the entry, the times of the first and of the last write, and the lengths of labels, metadata,
/// body and companion. Integers are big-endian. A file that is shorter than its header says was never completed.
///
/// The companion is the file that another entry of the source, without a body, would have.
struct EntryHeader: Equatable, Sendable {
    var record: EntryRecord
    /// Empty if it was not read.
    var companion: ByteBuffer
    var companionBytes: Int
    var metadataBytes: Int

    private static let magic = Array("dkroom\u{0}\u{3}".utf8)
    /// The most bytes of a file: a buffer holds no more.
    static let maximumFileBytes = Int(UInt32.max) - 1
    /// The length of the header without the labels.
    static let fixedBytes = magic.count + 3 * StoreKey.byteCount + 6 * 8

    var bodyOffset: Int {
        Self.fixedBytes + record.labels.bytes.count + companionBytes + metadataBytes
    }

    /// The size of an entry's file.
    static func fileBytes(of entry: StoredEntry, _ labels: EntryLabels, companion: ByteBuffer) -> Int {
        fixedBytes + labels.bytes.count + companion.readableBytes + entry.metadata.readableBytes
            + entry.content.count
    }

    /// The header for an entry that is about to be written.
    init(
        of entry: StoredEntry, labels: EntryLabels, companion: ByteBuffer = ByteBuffer(), key: EntryKey,
        created: Int64, modified: Int64
    ) {
        self.companion = companion
        companionBytes = companion.readableBytes
        metadataBytes = entry.metadata.readableBytes
        record = EntryRecord(
            key: key,
            checksum: EntryRecord.checksum(
                labels, companion, entry.metadata,
                body: entry.bodyDigest ?? StoreKey(of: entry.content)),
            labels: labels, fileBytes: Self.fileBytes(of: entry, labels, companion: companion), created: created,
            modified: modified)
    }

    /// Reads the header at the start of a file; nil if it is incomplete or disagrees with the size of the file, or if
    /// the file is too large. The rest of the file is not verified. An incomplete companion is left out.
    init?(reading start: ByteBuffer, fileBytes: Int) {
        var start = start
        guard
            // First, so that the sum of the lengths below cannot overflow.
            fileBytes <= Self.maximumFileBytes,
            start.readBytes(length: Self.magic.count) == Self.magic,
            let checksum = start.readKey(),
            let source = start.readKey(),
            let entry = start.readKey(),
            let (created, modified) = start.readMultipleIntegers(as: (Int64, Int64).self),
            let lengths = start.readMultipleIntegers(as: (UInt64, UInt64, UInt64, UInt64).self),
            let labelsBytes = Int(exactly: lengths.0), labelsBytes <= min(EntryLabels.maximumBytes, fileBytes),
            let metadataBytes = Int(exactly: lengths.1), metadataBytes <= fileBytes,
            let bodyBytes = Int(exactly: lengths.2), bodyBytes <= fileBytes,
            let companionBytes = Int(exactly: lengths.3), companionBytes <= min(Self.maximumCompanionBytes, fileBytes),
            Self.fixedBytes + labelsBytes + companionBytes + metadataBytes + bodyBytes == fileBytes,
            let labels = start.readBytes(length: labelsBytes).flatMap(EntryLabels.init(bytes:))
        else { return nil }
        self.metadataBytes = metadataBytes
        self.companionBytes = companionBytes
        companion = start.readSlice(length: companionBytes) ?? ByteBuffer()
        record = EntryRecord(
            key: EntryKey(source: source, entry: entry), checksum: checksum, labels: labels, fileBytes: fileBytes,
            created: created, modified: modified)
    }

    /// The header, the labels and the companion.
    var bytes: ByteBuffer {
        let labels = record.labels.bytes
        var header = ByteBuffer()
        header.reserveCapacity(Self.fixedBytes + labels.count + companion.readableBytes)
        header.writeBytes(Self.magic)
        for key in [record.checksum, record.key.source, record.key.entry] {
            key.withBytes { _ = header.writeBytes($0) }
        }
        header.writeMultipleIntegers(record.created, record.modified)
        header.writeMultipleIntegers(
            UInt64(labels.count), UInt64(metadataBytes), UInt64(record.fileBytes - bodyOffset),
            UInt64(companionBytes))
        header.writeBytes(labels)
        header.writeImmutableBuffer(companion)
        return header
    }
}

// Companions.
extension EntryHeader {
    static let maximumCompanionBytes = fixedBytes + EntryLabels.maximumBytes + EntryRecord.maximumContentBytes

    /// The companion of an entry as in its file; empty if it has none that can be restored.
    static func companion(of entry: StoredEntry, source: StoreKey) -> ByteBuffer {
        guard let companion = entry.companion, let labels = EntryLabels(companion.labels),
            companion.metadata.readableBytes <= EntryRecord.maximumContentBytes
        else { return ByteBuffer() }
        let copy = StoredEntry(body: ByteBuffer(), metadata: companion.metadata)
        let key = EntryKey(source: source, entry: companion.key)
        var bytes = EntryHeader(of: copy, labels: labels, key: key, created: 0, modified: 0).bytes
        bytes.writeImmutableBuffer(companion.metadata)
        return bytes
    }

    /// The row of the companion; nil if the companion is missing or corrupt.
    var restorable: EntryRecord? {
        guard let header = EntryHeader(reading: companion, fileBytes: companion.readableBytes),
            header.record.key.source == record.key.source,
            let entry = header.record.entry(verifying: companion), entry.body.readableBytes == 0
        else { return nil }
        var row = header.record
        row.created = record.modified
        row.modified = record.modified
        row.content = ByteBuffer(bytes: entry.metadata.readableBytesView)
        row.isRestored = true
        return row
    }
}

// Reading files.
extension EntryHeader {
    /// Reads the header of a file with its companion; nil if there is none. Metadata and body are neither read nor
    /// verified; that happens when the entry is read.
    init?(readingFile path: String) {
        guard let file = try? OpenFile(path) else { return nil }
        self.init(readingFile: file)
    }

    fileprivate init?(readingFile file: OpenFile) {
        let fileBytes = file.version.byteCount
        let longest = Self.fixedBytes + EntryLabels.maximumBytes + Self.maximumCompanionBytes
        for count in [Self.fixedBytes + EntryLabels.usualBytes, longest] {
            guard let start = try? file.read(from: 0, byteCount: min(fileBytes, count)) else { return nil }
            if let header = EntryHeader(reading: start, fileBytes: fileBytes),
                header.companion.readableBytes == header.companionBytes
            {
                self = header
                return
            }
        }
        return nil
    }
}

extension EntryRecord {
    /// The entry in `file`, or nil unless every byte of the file is the same as when this record was written.
    func entry(verifying file: ByteBuffer) -> StoredEntry? {
        guard let header = EntryHeader(reading: file, fileBytes: file.readableBytes), header.record == self,
            let companion = file.getSlice(
                at: file.readerIndex + EntryHeader.fixedBytes + labels.bytes.count, length: header.companionBytes),
            let metadata = file.getSlice(
                at: file.readerIndex + header.bodyOffset - header.metadataBytes, length: header.metadataBytes),
            let body = file.getSlice(
                at: file.readerIndex + header.bodyOffset, length: file.readableBytes - header.bodyOffset),
            checksum
                == Self.checksum(labels, companion, metadata, body: StoreKey(hashing: body.readableBytesView))
        else { return nil }
        return StoredEntry(body: body, metadata: metadata, labels: labels.strings)
    }

    /// The entry in `file` without its body, which is hashed in pieces and stays in the file; nil unless every byte is
    /// the same as when this record was written.
    ///
    /// - Returns: the entry, and the position of its body.
    func entry(verifyingInPieces file: OpenFile) -> (entry: StoredEntry, bodyOffset: Int)? {
        guard let header = EntryHeader(readingFile: file), header.record == self,
            let metadata = try? file.read(
                from: header.bodyOffset - header.metadataBytes, byteCount: header.metadataBytes)
        else { return nil }
        var hasher = SHA256()
        for offset in stride(from: header.bodyOffset, to: fileBytes, by: Self.hashedBytes) {
            guard let piece = try? file.read(from: offset, byteCount: min(Self.hashedBytes, fileBytes - offset))
            else { return nil }
            piece.withUnsafeReadableBytes { hasher.update(bufferPointer: $0) }
        }
        guard checksum == Self.checksum(labels, header.companion, metadata, body: StoreKey(hasher.finalize()))
        else { return nil }
        let entry = StoredEntry(body: ByteBuffer(), metadata: metadata, labels: labels.strings)
        return (entry, header.bodyOffset)
    }

    /// The bytes that are read and hashed at a time.
    private static let hashedBytes = 256 << 10

    /// The entry in the row itself, or nil if the row has no entry or the entry is corrupt.
    var entryInRow: StoredEntry? {
        guard let content,
            checksum == Self.checksum(labels, ByteBuffer(), content, body: Self.digestOfNothing)
        else { return nil }
        var entry = StoredEntry(body: ByteBuffer(), metadata: content, labels: labels.strings)
        entry.isRestored = isRestored
        return entry
    }

    private static let digestOfNothing = StoreKey(hashing: EmptyCollection())

    static func checksum(
        _ labels: EntryLabels, _ companion: ByteBuffer, _ metadata: ByteBuffer, body digest: StoreKey
    ) -> StoreKey {
        var hasher = SHA256()
        labels.bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) }
        companion.withUnsafeReadableBytes { hasher.update(bufferPointer: $0) }
        metadata.withUnsafeReadableBytes { hasher.update(bufferPointer: $0) }
        digest.withBytes { hasher.update(bufferPointer: $0) }
        return StoreKey(hasher.finalize())
    }
}
