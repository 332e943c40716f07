import DarkroomMachine
import Foundation
import NIOCore

/// The state of a regular file: its identity, size and time of the last change. A file with the same version has the
/// same bytes, unless its device is failing or it changed within the clock's resolution.
struct FileVersion: Equatable, Sendable {
    private let identity: FileSystem.Identity
    let byteCount: Int
    /// The last change of the bytes, in nanoseconds since 1970. Programs can set it.
    private let modified: Int64
    /// The last change of the file in any way, in nanoseconds since 1970, by the system's clock.
    let changed: Int64

    /// The version with this status; nil unless the file is regular.
    init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        identity = FileSystem.Identity(status)
        byteCount = Int(status.st_size)
        #if canImport(Darwin)
            let (modification, change) = (status.st_mtimespec, status.st_ctimespec)
        #else
            let (modification, change) = (status.st_mtim, status.st_ctim)
        #endif
        modified = Int64(modification.tv_sec) &* 1_000_000_000 &+ Int64(modification.tv_nsec)
        changed = Int64(change.tv_sec) &* 1_000_000_000 &+ Int64(change.tv_nsec)
    }

    /// Whether another version has the same bytes, as after the file was removed: only its links have changed.
    func hasBytes(of other: FileVersion) -> Bool {
        identity == other.identity && byteCount == other.byteCount && modified == other.modified
    }

    /// The version of the file at this path now; nil if the path has no regular file.
    static func current(at path: String) -> FileVersion? {
        var status = stat()
        return lstat(path, &status) == 0 ? FileVersion(status) : nil
    }
}

/// A regular file that is open for reading. Closed with the last reference.
final class OpenFile: Sendable {
    /// The version of the file when it was opened.
    let version: FileVersion
    private let descriptor: Int32

    /// Opens a regular file; does not follow a symbolic link.
    convenience init(_ path: String) throws(StorageError) {
        var descriptor = open(path, Self.flags | Self.keepsAccessTime)
        if descriptor < 0, errno == EPERM { descriptor = open(path, Self.flags) }
        guard descriptor >= 0 else { throw FileSystem.error("open") }
        try self.init(descriptor)
    }

    /// Opens a regular file if the system has its path in memory; never waits for a device.
    convenience init?(cached path: String) {
        guard let descriptor = CachedFiles.open(path, Self.flags | Self.keepsAccessTime) else { return nil }
        try? self.init(descriptor)
    }

    /// Takes the descriptor over.
    private init(_ descriptor: Int32) throws(StorageError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let error = FileSystem.error("stat")
            close(descriptor)
            throw error
        }
        guard let version = FileVersion(status) else {
            close(descriptor)
            throw StorageError(operation: "open", reason: "not a regular file")
        }
        self.version = version
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Whether the file still has the bytes of ``version``. It may have been removed.
    var isUnchanged: Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, let current = FileVersion(status) else { return false }
        return current == version || status.st_nlink == 0 && current.hasBytes(of: version)
    }

    /// Reads exactly these bytes; blocks. Throws if a buffer does not hold them.
    func read(from offset: Int, byteCount: Int) throws(StorageError) -> ByteBuffer {
        guard byteCount <= EntryHeader.maximumFileBytes else {
            throw StorageError(operation: "read", reason: "the file is too large")
        }
        var buffer = ByteBufferAllocator().buffer(capacity: byteCount)
        while buffer.readableBytes < byteCount {
            let position = off_t(offset + buffer.readableBytes)
            let missing = byteCount - buffer.readableBytes
            var got = 0
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: missing) {
                got = pread(descriptor, $0.baseAddress, missing, position)
                return max(0, got)
            }
            if got < 0 && errno == EINTR { continue }
            if got < 0 { throw FileSystem.error("read") }
            if got == 0 { throw StorageError(operation: "read", reason: "the file was truncated meanwhile") }
        }
        return buffer
    }

    /// Reads exactly these bytes if the system has them in memory; never waits for a device.
    /// - Returns: nil if the bytes are not in memory, if a buffer does not hold them, or if the system can't report it.
    func readFromMemory(from offset: Int, byteCount: Int) -> ByteBuffer? {
        guard byteCount <= EntryHeader.maximumFileBytes else { return nil }
        var buffer = ByteBufferAllocator().buffer(capacity: byteCount)
        let got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: byteCount) {
            max(
                0,
                CachedFiles.read(
                    descriptor, into: UnsafeMutableRawBufferPointer(rebasing: $0.prefix(byteCount)), at: offset))
        }
        return got == byteCount ? buffer : nil
    }

    /// Without `O_NONBLOCK`, opening a pipe would wait for a writer.
    private static let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC

    /// Linux' `O_NOATIME`, which only the owner of a file may use: otherwise the first read of a file writes its inode.
    private static let keepsAccessTime: Int32 = {
        #if os(Linux)
            0o1_000_000
        #else
            0
        #endif
    }()
}
