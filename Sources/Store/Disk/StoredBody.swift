package import NIOCore

/// The body of a large entry, which stays in its file and is read in pieces, as a client takes them.
///
/// All bytes were verified when the entry was found. Each piece is checked for a change of the file since. Removing the
/// entry has no effect: the file stays open.
///
/// A mapping of the file would need no reads, but a page that cannot be read, or that a truncation has removed, ends
/// the process (SIGBUS), and a page that is not in memory blocks the event loop.
package struct StoredBody: Sendable {
    /// The size of a piece in bytes: the memory that a slow client holds. Reading it takes about ten microseconds.
    package static let pieceBytes = 64 << 10

    /// The size of the body in bytes.
    package let count: Int
    private let file: OpenFile
    private let offset: Int
    private let threads: ReaderThreads

    init(_ file: OpenFile, from offset: Int, byteCount: Int, threads: ReaderThreads) {
        self.file = file
        self.offset = offset
        self.threads = threads
        count = byteCount
    }

    /// The bytes from a position below ``count`` on, at most ``pieceBytes``. Nil if the file was changed, or if the
    /// device does not deliver the bytes in time.
    package func piece(at position: Int) async -> ByteBuffer? {
        let byteCount = min(Self.pieceBytes, count - position)
        return await read { try? file.read(from: offset + position, byteCount: byteCount) }
    }

    /// The whole body; nil as for a piece.
    package func bytes() async -> ByteBuffer? {
        await read { try? file.read(from: offset, byteCount: count) }
    }

    private func read(_ read: @escaping @Sendable () -> ByteBuffer?) async -> ByteBuffer? {
        let bytes: ByteBuffer?? = await withCheckedContinuation { continuation in
            threads.append(
                ReadJob(at: .now) {
                    let bytes = read()
                    // Checked after the bytes were read, so that a change before that shows.
                    return file.isUnchanged ? bytes : nil
                } answer: {
                    continuation.resume(returning: $0)
                })
        }
        return bytes ?? nil
    }
}
