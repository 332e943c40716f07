import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The file system calls that the disk store makes; all of them block. None follows a symbolic link in the last
/// component, so that nothing planted in the cache leads out of it.
enum Files {
    /// The whole file, or a fault if it isn't a regular file of exactly `byteCount`. Checks before it allocates.
    static func read(_ path: String, byteCount: Int) throws(StorageFault) -> ByteBuffer {
        try reading(path) { (descriptor, size) throws(StorageFault) in
            guard size == byteCount else {
                throw StorageFault(operation: "read", reason: "\(size) bytes instead of \(byteCount)")
            }
            return try read(descriptor, byteCount: byteCount)
        }
    }

    /// The first bytes of a regular file, at most `count`, and the size of the whole.
    static func readStart(_ path: String, count: Int) throws(StorageFault) -> (start: ByteBuffer, fileBytes: Int) {
        try reading(path) { (descriptor, size) throws(StorageFault) in
            (try read(descriptor, byteCount: min(size, count)), size)
        }
    }

    /// Creates the file, which must not be there yet, with these buffers as its content.
    static func write(_ buffers: [ByteBuffer], to path: String) throws(StorageFault) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw fault("create") }
        defer { close(descriptor) }
        for buffer in buffers {
            var rest = buffer
            while rest.readableBytes > 0 {
                let written = rest.withUnsafeReadableBytes { systemWrite(descriptor, $0) }
                if written < 0 && errno == EINTR { continue }
                guard written > 0 else { throw fault("write") }
                rest.moveReaderIndex(forwardBy: written)
            }
        }
    }

    /// Moves a file or folder to a new name on the same volume, in place of a file that is there.
    static func rename(_ path: String, to newPath: String) throws(StorageFault) {
        guard systemRename(path, newPath) == 0 else { throw fault("rename") }
    }

    /// Creates the folder and those above it that are missing.
    static func makeFolders(_ path: String) throws(StorageFault) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw fault("create folder")
        }
        try makeFolders(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw fault("create folder") }
    }

    /// Removes what has this name, a folder with all that is in it. Nothing there is no fault.
    static func remove(_ path: String) throws(StorageFault) {
        if unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR { return }
        // A read-only volume refuses before it looks whether there is anything to remove.
        if errno == EROFS {
            let refusal = fault("remove")
            if kind(of: path) == .nothing { return }
            throw refusal
        }
        // EISDIR on Linux, EPERM where POSIX is taken by its word.
        guard errno == EISDIR || errno == EPERM, let names = names(in: path) else { throw fault("remove") }
        for name in names {
            try remove("\(path)/\(name)")
        }
        guard rmdir(path) == 0 || errno == ENOENT else { throw fault("remove folder") }
    }

    /// Removes at most `limit` names of what has this name, from the bottom up; counts `limit` down.
    /// - Returns: whether nothing is left of it.
    static func removeSome(_ path: String, limit: inout Int) throws(StorageFault) -> Bool {
        guard kind(of: path) == .folder, let names = names(in: path) else {
            try remove(path)
            limit -= 1
            return true
        }
        for name in names {
            guard limit > 0, try removeSome("\(path)/\(name)", limit: &limit) else { return false }
        }
        limit -= 1
        guard rmdir(path) == 0 || errno == ENOENT else { throw fault("remove folder") }
        return true
    }

    /// Removes the folder if it is empty.
    static func removeIfEmpty(_ folder: String) -> Bool {
        rmdir(folder) == 0
    }

    /// The names in a folder, or nil if it isn't one that can be listed.
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

    /// What a name stands for.
    enum Kind: Equatable {
        case nothing
        case file(byteCount: Int)
        case folder
        /// A link, a pipe and so on, or what we may not look at.
        case other
    }

    /// What this name stands for.
    static func kind(of path: String) -> Kind {
        var status = stat()
        guard lstat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR ? .nothing : .other }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file(byteCount: Int(status.st_size))
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    /// What tells one file or folder from all others that exist at the same time.
    struct Identity: Equatable {
        var device: UInt64
        var number: UInt64

        fileprivate init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    /// The identity of what has this name, or nil if nothing has.
    static func identity(of path: String) -> Identity? {
        var status = stat()
        return lstat(path, &status) == 0 ? Identity(status) : nil
    }

    /// The identity of an open file.
    static func identity(of descriptor: Int32) -> Identity? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Identity(status) : nil
    }

    /// The part of the path's volume that we could still write, 0 to 1, or nil if the system doesn't say.
    static func freeFraction(ofVolume path: String) -> Double? {
        var status = statvfs()
        guard statvfs(path, &status) == 0, status.f_blocks > 0 else { return nil }
        return Double(status.f_bavail) / Double(status.f_blocks)
    }

    /// What the last failed system call said.
    static func fault(_ operation: String) -> StorageFault {
        let code = errno
        return StorageFault(operation: operation, reason: String(cString: strerror(code)), code: code)
    }

    private static func reading<Value>(
        _ path: String, _ body: (_ descriptor: Int32, _ size: Int) throws(StorageFault) -> Value
    ) throws(StorageFault) -> Value {
        // Not to wait for a writer, should the name stand for a pipe.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault("open") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw fault("stat") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageFault(operation: "open", reason: "not a regular file")
        }
        return try body(descriptor, Int(status.st_size))
    }

    private static func read(_ descriptor: Int32, byteCount: Int) throws(StorageFault) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: byteCount)
        while buffer.readableBytes < byteCount {
            let missing = byteCount - buffer.readableBytes
            var got = 0
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: missing) {
                got = systemRead(descriptor, UnsafeMutableRawBufferPointer(rebasing: $0[..<missing]))
                return max(0, got)
            }
            if got < 0 && errno == EINTR { continue }
            if got < 0 { throw fault("read") }
            if got == 0 { throw StorageFault(operation: "read", reason: "the file became shorter") }
        }
        return buffer
    }
}

// The system calls whose names `Files` takes for itself.

private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, bytes.baseAddress, bytes.count)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

private func systemRename(_ path: String, _ newPath: String) -> Int32 {
    rename(path, newPath)
}
