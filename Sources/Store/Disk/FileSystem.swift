import DarkroomMachine
import Foundation
import NIOCore

/// The file system calls of the disk store. All of them block. None follows a symbolic link in the last component, so
/// that nothing planted in the cache leads out of it.
enum FileSystem {
    private static let maxJoinedBytes = 64 << 10

    /// Creates a file of these buffers and a body; throws if the file exists. Removes it again if that fails.
    static func create(_ path: String, of start: [ByteBuffer], body: SharedBytes) throws(StorageError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw error("create") }
        defer { close(descriptor) }
        do throws(StorageError) {
            // Copying small parts costs less than a system call for each.
            var small = start.reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1) }
            let isSmall = body.file == nil && body.count <= maxJoinedBytes
            if isSmall { small.writeImmutableBuffer(body.buffer) }
            try append(small, to: descriptor)
            if let file = body.file {
                try append(file, to: descriptor)
            } else if !isSmall {
                try append(body.buffer, to: descriptor)
            }
        } catch {
            unlink(path)
            throw error
        }
    }

    private static func append(_ buffer: ByteBuffer, to descriptor: Int32) throws(StorageError) {
        var rest = buffer
        while rest.readableBytes > 0 {
            let written = rest.withUnsafeReadableBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw error("write") }
            rest.moveReaderIndex(forwardBy: written)
        }
    }

    /// Appends a memory file without mapping it.
    private static func append(_ file: MemoryFile, to descriptor: Int32) throws(StorageError) {
        #if os(Linux)
            var offset = 0
            while offset < file.count {
                let copied = sendfile(descriptor, file.descriptor, &offset, file.count - offset)
                if copied < 0 && errno == EINTR { continue }
                guard copied > 0 else { throw error("write") }
            }
        #else
            try append(file.buffer, to: descriptor)
        #endif
    }

    /// Renames a file or folder on the same volume, and replaces a file of the new name.
    static func move(_ path: String, to newPath: String) throws(StorageError) {
        guard rename(path, newPath) == 0 else { throw error("rename") }
    }

    /// Creates a folder and its missing parents.
    static func makeFolders(_ path: String) throws(StorageError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw error("create folder")
        }
        try makeFolders(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw error("create folder") }
    }

    /// Removes a file, or a folder with its contents. A missing file is not an error.
    static func remove(_ path: String) throws(StorageError) {
        if unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR { return }
        // A read-only volume refuses without looking whether there is anything to remove.
        if errno == EROFS {
            let refusal = error("remove")
            if kind(of: path) == .nothing { return }
            throw refusal
        }
        // EISDIR on Linux, EPERM on systems that follow POSIX strictly.
        guard errno == EISDIR || errno == EPERM, let names = names(in: path) else { throw error("remove") }
        for name in names {
            try remove("\(path)/\(name)")
        }
        guard rmdir(path) == 0 || errno == ENOENT else { throw error("remove folder") }
    }

    /// Removes at most `limit` files and folders of a tree, bottom up, and subtracts them from `limit`.
    /// - Returns: whether the whole tree is gone.
    static func removeSome(_ path: String, limit: inout Int) throws(StorageError) -> Bool {
        guard kind(of: path) == .folder, let names = names(in: path) else {
            try remove(path)
            limit -= 1
            return true
        }
        for name in names {
            guard limit > 0, try removeSome("\(path)/\(name)", limit: &limit) else { return false }
        }
        limit -= 1
        guard rmdir(path) == 0 || errno == ENOENT else { throw error("remove folder") }
        return true
    }

    /// The names in a folder; nil if it can't be listed.
    static func names(in folder: String) -> [String]? {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            return nil
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// The kind of file that a path names.
    enum Kind: Equatable {
        case nothing
        case file(byteCount: Int)
        case folder
        /// A symbolic link, a pipe and so on, or a file that may not be examined.
        case other
    }

    static func kind(of path: String) -> Kind {
        var status = stat()
        guard lstat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR ? .nothing : .other }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file(byteCount: Int(status.st_size))
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    /// The identity of a file or folder among all that exist at the same time: device and inode.
    struct Identity: Equatable {
        var device: UInt64
        var number: UInt64

        init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    /// The identity of the file at this path, or nil if there is none.
    static func identity(of path: String) -> Identity? {
        var status = stat()
        return lstat(path, &status) == 0 ? Identity(status) : nil
    }

    static func identity(of descriptor: Int32) -> Identity? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Identity(status) : nil
    }

    /// The error of the last system call, from `errno`.
    static func error(_ operation: String) -> StorageError {
        let code = errno
        return StorageError(operation: operation, reason: String(cString: strerror(code)), code: code)
    }
}
