import Foundation
import NIOCore

/// Reads files piece by piece.
enum FileBytes {
    /// Reads a file or, by the name `-`, standard input.
    ///
    /// - Throws: `EFBIG` if there are more bytes than `limit`.
    static func read(_ path: String, upTo limit: Int) throws(FileError) -> ByteBuffer {
        let name = path == "-" ? "Standard input" : path
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(name, .read) }
        defer { close(descriptor) }
        var bytes = ByteBuffer()
        while try append(descriptor, named: name, to: &bytes) {
            guard bytes.readableBytes <= limit else { throw FileError(name, .read, code: EFBIG) }
        }
        return bytes
    }

    /// Appends the next bytes of an open file.
    ///
    /// - Returns: false at its end.
    static func append(
        _ descriptor: Int32, named path: String, to bytes: inout ByteBuffer
    ) throws(FileError) -> Bool {
        // At least as many as there are, so that the buffer grows by doubling.
        let room = min(max(bytes.readableBytes, 64 << 10), 64 << 20)
        var count = 0
        var failure: Int32 = 0
        repeat {
            bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { space in
                count = Foundation.read(descriptor, space.baseAddress, space.count)
                failure = count < 0 ? errno : 0
                return max(count, 0)
            }
        } while failure == EINTR
        guard failure == 0 else { throw FileError(path, .read, code: failure) }
        return count > 0
    }
}
