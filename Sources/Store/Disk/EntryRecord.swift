import Crypto
import NIOCore

/// What the index knows about an entry, and how the entry's file begins.
///
/// A file is a header, the metadata and the body. The header repeats what the index knows, so that a lost index can be
/// made again from the files: a mark with the format's number, the checksum, the source's and the entry's key, the
/// time of writing, and the lengths of metadata and body; integers are big-endian.
struct EntryRecord: Equatable, Sendable {
    var key: EntryKey
    /// SHA-256 of metadata and body.
    var checksum: [UInt8]
    var metadata: ByteBuffer
    var bodyBytes: Int
    /// Microseconds since 1970.
    var created: Int64

    private static let mark = Array("dkroom\u{0}\u{1}".utf8)
    /// The length of the part of the header before the metadata.
    static let fixedBytes = mark.count + 3 * StoreKey.byteCount + 8 + 8 + 8

    /// The size of the entry's file.
    var fileBytes: Int { Self.fileBytes(body: bodyBytes, metadata: metadata.readableBytes) }

    /// The size of the file of an entry with this much in it.
    static func fileBytes(body: Int, metadata: Int) -> Int { fixedBytes + metadata + body }

    /// All of the entry's file before the body.
    var header: ByteBuffer {
        var header = ByteBuffer()
        header.reserveCapacity(Self.fixedBytes + metadata.readableBytes)
        header.writeBytes(Self.mark)
        header.writeBytes(checksum)
        header.writeBytes(key.source.bytes)
        header.writeBytes(key.entry.bytes)
        header.writeInteger(created)
        header.writeInteger(UInt64(metadata.readableBytes))
        // A record from a damaged index may say less than nothing; then no file begins like this.
        header.writeInteger(UInt64(clamping: bodyBytes))
        header.writeImmutableBuffer(metadata)
        return header
    }

    /// The entry in `file`, or nil unless each byte of the file is as it was when this record was made.
    func entry(verifying file: ByteBuffer) -> StoredEntry? {
        var rest = file
        let header = header
        guard
            rest.readSlice(length: header.readableBytes) == header,
            rest.readableBytes == bodyBytes,
            Self.checksum(metadata: metadata, body: rest) == checksum
        else { return nil }
        return StoredEntry(body: rest, metadata: metadata)
    }

    private static func checksum(metadata: ByteBuffer, body: ByteBuffer) -> [UInt8] {
        var hasher = SHA256()
        metadata.withUnsafeReadableBytes { hasher.update(bufferPointer: $0) }
        body.withUnsafeReadableBytes { hasher.update(bufferPointer: $0) }
        return Array(hasher.finalize())
    }
}

extension EntryRecord {
    /// The record of an entry about to be written.
    init(of entry: StoredEntry, key: EntryKey, created: Int64) {
        self.init(
            key: key, checksum: Self.checksum(metadata: entry.metadata, body: entry.body), metadata: entry.metadata,
            bodyBytes: entry.body.readableBytes, created: created)
    }

    /// The record that a file's header spells, or nil if the header isn't whole or doesn't fit the file's size.
    /// The body isn't read, let alone verified: that is for whoever reads the entry.
    init?(readingHeaderOf path: String) {
        guard let (fixed, fileBytes) = try? Files.readStart(path, count: Self.fixedBytes) else { return nil }
        var start = fixed
        guard
            start.readBytes(length: Self.mark.count) == Self.mark,
            let checksum = start.readBytes(length: StoreKey.byteCount),
            let source = start.readBytes(length: StoreKey.byteCount).flatMap(StoreKey.init(digest:)),
            let entry = start.readBytes(length: StoreKey.byteCount).flatMap(StoreKey.init(digest:)),
            let created = start.readInteger(as: Int64.self),
            let metadataBytes = start.readInteger(as: UInt64.self).flatMap(Int.init(exactly:)),
            let bodyBytes = start.readInteger(as: UInt64.self).flatMap(Int.init(exactly:)),
            metadataBytes <= fileBytes - Self.fixedBytes,
            bodyBytes == fileBytes - Self.fixedBytes - metadataBytes,
            let (header, _) = try? Files.readStart(path, count: Self.fixedBytes + metadataBytes),
            let metadata = header.getSlice(at: Self.fixedBytes, length: metadataBytes)
        else { return nil }
        self.init(
            key: EntryKey(source: source, entry: entry), checksum: checksum, metadata: metadata, bodyBytes: bodyBytes,
            created: created)
    }
}
