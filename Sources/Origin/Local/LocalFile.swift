import Foundation
import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// One plain file, read below a folder without following a single symbolic link. Blocks; belongs on a thread pool.
enum LocalFile {
    /// What tells one state of a file from another.
    struct Version: Sendable {
        let sizeBytes: Int64
        let modifiedAt: Date
        let modifiedAtNanosecond: Int
        let inode: UInt64

        init(_ status: stat) {
            #if canImport(Darwin)
                let time = status.st_mtimespec
            #else
                let time = status.st_mtim
            #endif
            sizeBytes = Int64(status.st_size)
            modifiedAt = Date(timeIntervalSince1970: TimeInterval(time.tv_sec))
            modifiedAtNanosecond = Int(time.tv_nsec)
            inode = UInt64(status.st_ino)
        }
    }

    struct Contents: Sendable {
        let version: Version
        /// Nil where the version is known already.
        let body: ByteBuffer?
    }

    /// Walks down from the root one component at a time, each opened relative to the one before, so that nobody can swap
    /// a folder for a link between a check and its use.
    ///
    /// - Parameter isKnown: whether a version need not be read.
    static func read(
        _ path: LocalPath, below root: String, maxSourceBytes: Int, unless isKnown: (Version) -> Bool
    ) throws(OriginError) -> Contents {
        var current = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard current >= 0 else { throw .localNotFound }
        defer { close(current) }
        for component in path.components.dropLast() {
            let next = try openComponent(component, in: current, flags: O_DIRECTORY)
            close(current)
            current = next
        }
        // Not to wait for the writer of a FIFO; plain files do not mind.
        let file = try openComponent(path.components.last ?? "", in: current, flags: O_NONBLOCK)
        defer { close(file) }
        return try contents(of: file, maxSourceBytes: maxSourceBytes, unless: isKnown)
    }

    private static func openComponent(_ name: String, in folder: Int32, flags: Int32) throws(OriginError) -> Int32 {
        let descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags)
        if descriptor >= 0 { return descriptor }
        switch errno {
        case ENOENT: throw .localNotFound
        // A link met by O_DIRECTORY and O_NOFOLLOW together is reported as no directory.
        case ENOTDIR where !isSymbolicLink(name, in: folder): throw .localNotFound
        default: throw .notAllowed(.path)
        }
    }

    private static func isSymbolicLink(_ name: String, in folder: Int32) -> Bool {
        var status = stat()
        return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private static func contents(
        of file: Int32, maxSourceBytes: Int, unless isKnown: (Version) -> Bool
    ) throws(OriginError) -> Contents {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .notAllowed(.path) }
        guard status.st_size <= maxSourceBytes else { throw .tooLarge(limitBytes: maxSourceBytes) }
        // Taken before the bytes: should the file change while it is read, its next version differs from this one.
        let version = Version(status)
        if isKnown(version) { return Contents(version: version, body: nil) }
        let body = try readAll(file, expectedBytes: Int(status.st_size), maxSourceBytes: maxSourceBytes)
        guard body.readableBytes > 0 else { throw .emptyBody }
        return Contents(version: version, body: body)
    }

    /// Reads to the end, counting: the file may grow meanwhile.
    private static func readAll(_ file: Int32, expectedBytes: Int, maxSourceBytes: Int) throws(OriginError)
        -> ByteBuffer
    {
        var body = ByteBuffer()
        body.reserveCapacity(expectedBytes + 1)
        while true {
            var failed = false
            let count = body.writeWithUnsafeMutableBytes(minimumWritableBytes: 1) { space in
                let count = Foundation.read(file, space.baseAddress, space.count)
                failed = count < 0
                return max(0, count)
            }
            guard !failed else { throw .localNotFound }
            guard body.readableBytes <= maxSourceBytes else { throw .tooLarge(limitBytes: maxSourceBytes) }
            if count == 0 { return body }
        }
    }
}
