import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore
import Synchronization

/// Writes results. A file with the result's name is either absent or complete: bytes are written to a hidden file
/// beside it, which is renamed at the end.
enum ResultFile {
    enum Failure: Error, Equatable {
        /// There is a file, and it is not to be replaced.
        case exists
        case unwritable(FileError)
    }

    private static let lastNumber = Atomic<Int>(0)

    /// Writes a file, and the folders that it is in. Throws `exists` if a file is not to be replaced.
    static func write(_ bytes: ByteBuffer, to path: String, replaces: Bool) throws(Failure) {
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let folder = PathParts(path).folder
        let temporary = "\(folder).darkroom-\(getpid())-\(number).tmp"
        var descriptor = create(temporary)
        if descriptor < 0, errno == ENOENT, !folder.isEmpty {
            try makeFolders(String(folder.dropLast()))
            descriptor = create(temporary)
        }
        guard descriptor >= 0 else { throw .unwritable(FileError(path, .written)) }
        var failure = write(bytes, to: descriptor)
        // Some file systems report a full disk only here.
        if close(descriptor) != 0, failure == 0 { failure = errno }
        if failure == 0 { failure = rename(temporary, to: path, replaces: replaces) }
        guard failure != 0 else { return }
        unlink(temporary)
        throw failure == EEXIST && !replaces ? .exists : .unwritable(FileError(path, .written, code: failure))
    }

    /// Writes into a device or a pipe, which cannot be replaced, or to an open file.
    static func write(_ bytes: ByteBuffer, toSpecialFile path: String) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unwritable(FileError(path, .written)) }
        defer { close(descriptor) }
        let failure = write(bytes, to: descriptor)
        guard failure == 0 else { throw .unwritable(FileError(path, .written, code: failure)) }
    }

    /// Writes all bytes to an open file. Returns an `errno`, or 0.
    static func write(_ bytes: ByteBuffer, to descriptor: Int32) -> Int32 {
        bytes.withUnsafeReadableBytes { write($0, to: descriptor).failure }
    }

    /// Writes all bytes to an open file, as far as possible. Returns the number written and an `errno`, or 0.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> (count: Int, failure: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                // Another process that shares the descriptor made it non-blocking.
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&entry, 1, -1)
            } else if count == 0 || errno != EINTR {
                return (bytes.count - rest.count, count == 0 ? EIO : errno)
            }
        }
        return (bytes.count, 0)
    }

    /// Creates a folder and its missing parents.
    static func makeFolders(_ path: String) throws(Failure) {
        if path.isEmpty || mkdir(path, 0o777) == 0 || errno == EEXIST { return }
        let code = errno
        var parent = PathParts(path).folder
        while parent.utf8.count > 1, parent.utf8.last == UInt8(ascii: "/") { parent.unicodeScalars.removeLast() }
        guard code == ENOENT, !parent.isEmpty, parent != "/" else {
            throw .unwritable(FileError(path, .written, code: code))
        }
        try makeFolders(parent)
        guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw .unwritable(FileError(path, .written)) }
    }

    private static func create(_ path: String) -> Int32 { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }

    private static func rename(_ temporary: String, to path: String, replaces: Bool) -> Int32 {
        if replaces { return Foundation.rename(temporary, path) == 0 ? 0 : errno }
        // Unlike rename(2), link(2) fails if another process has created the file in the meantime.
        if link(temporary, path) == 0 {
            unlink(temporary)
            return 0
        }
        // Not every file system has links.
        guard [EPERM, ENOTSUP, ENOSYS, EMLINK].contains(errno) else { return errno }
        if (try? FileStatus(of: path, followingLink: false)) != nil { return EEXIST }
        return Foundation.rename(temporary, path) == 0 ? 0 : errno
    }
}

/// The names and formats of results in a folder. Both follow from the name of the input alone, so that the names are
/// known before any file is read.
struct ResultName: Sendable {
    /// The format of all results; nil = the format of each input's extension.
    let format: OutputFormat?

    func format(for name: String) -> OutputFormat {
        if let format { return format }
        let suffix = Self.halves(of: name).suffix.lowercased()
        if let format = Self.formats[suffix], format.isAvailable { return format }
        // PNG is lossless, whatever the input contains. HEIC files are photographs.
        return SourceFormat.heic.extensions.contains(suffix) ? .jpeg : .png
    }

    /// The input's name with the extension of its result. An extension that already means the format keeps its
    /// spelling. An extension that means no image, such as `.v2` of `photo.v2`, is part of the name.
    func name(for name: String) -> String {
        let format = format(for: name)
        let (stem, suffix) = Self.halves(of: name)
        let known = suffix.lowercased()
        if Self.formats[known] == format { return name }
        let isReplaced = Self.formats[known] != nil || Self.otherInputs.contains(known)
        return "\(isReplaced ? stem : name).\(format.extensions.first ?? format.rawValue)"
    }

    private static let formats: [String: OutputFormat] = Dictionary(
        OutputFormat.allCases.filter { !$0.isText }.flatMap { format in format.extensions.map { ($0, format) } },
        uniquingKeysWith: { first, _ in first })

    /// Extensions of images that are read and never written.
    private static let otherInputs = Set(SourceFormat.allCases.flatMap(\.extensions))

    private static func halves(of name: String) -> (stem: String, suffix: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...].dropFirst()))
    }
}
