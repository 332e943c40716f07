import DarkroomTransforms
import Foundation
import NIOCore

/// Reads source images.
enum SourceFile {
    /// The most bytes of a file that is read.
    static let maxBytes = 512 << 20
    /// The bytes that show whether a file is an image. They hold 64 KiB of a gzipped SVG, which detection inflates.
    private static let headBytes = 128 << 10

    enum Failure: Error, Equatable {
        case unreadable(FileError)
        case notAnImage
        case tooLarge

        func sentence(_ path: String) -> String {
            switch self {
            case .unreadable(let error): error.sentence
            case .notAnImage: "\(path): \(ImageProcessingError.unsupported.sentence)"
            case .tooLarge: "\(path) is larger than \(SourceFile.maxBytes >> 20) MiB."
            }
        }
    }

    /// Reads a file. One that is no image is not read to its end, however large it is. Pipes and devices may never end.
    static func read(_ path: String, acceptsPipes: Bool = false) throws(Failure) -> ByteBuffer {
        // Without O_NONBLOCK, opening a pipe waits for its writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | (acceptsPipes ? 0 : O_NONBLOCK))
        guard descriptor >= 0 else { throw .unreadable(FileError(path, .read)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(FileError(path, .read)) }
        switch FileStatus(status).kind {
        case .folder: throw .unreadable(FileError(path, .read, code: EISDIR))
        case .special where !acceptsPipes: throw .notAnImage
        case .file, .link, .special: return try read(descriptor, named: path)
        }
    }

    /// Reads an open file to its end.
    static func read(_ descriptor: Int32, named path: String) throws(Failure) -> ByteBuffer {
        var bytes = try readHead(descriptor, path)
        guard SourceFormat(sniffing: bytes) != nil else { throw .notAnImage }
        while try readMore(descriptor, path, &bytes) {
            guard bytes.readableBytes <= maxBytes else { throw .tooLarge }
        }
        return bytes
    }

    private static func readHead(_ descriptor: Int32, _ path: String) throws(Failure) -> ByteBuffer {
        var head = ByteBuffer()
        while head.readableBytes < headBytes, try readMore(descriptor, path, &head) {}
        return head
    }

    private static func readMore(
        _ descriptor: Int32, _ path: String, _ bytes: inout ByteBuffer
    ) throws(Failure) -> Bool {
        do throws(FileError) { return try FileBytes.append(descriptor, named: path, to: &bytes) } catch {
            throw .unreadable(error)
        }
    }
}

/// Reads files piece by piece.
enum FileBytes {
    /// Reads a file or, by the name `-`, standard input. Throws `EFBIG` if there are more bytes than the limit.
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

    /// Appends the next bytes of an open file. Returns false at its end.
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
