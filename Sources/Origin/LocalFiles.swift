import DarkroomHTTPCaching
import DarkroomMachine
public import DarkroomNetwork
import Foundation
import HTTPTypes
import NIOCore
public import NIOPosix

/// Serves `local:///path` from the files below one folder.
///
/// Paths are decoded once. Empty, `.` and `..` components, NUL, encoded slashes, symbolic links below the root, and
/// everything but plain files are refused. The query of the URL is ignored.
public struct LocalFiles: OriginFetching {
    private let root: String?
    private let maxSourceBytes: Int
    private let threadPool: NIOThreadPool

    /// - Parameters:
    ///   - root: the path of the folder, or nil to refuse all local sources.
    ///   - maxSourceBytes: the largest file that is read. Default: 50 MiB.
    ///   - threadPool: the threads that read files.
    public init(root: String?, maxSourceBytes: Int = 50 << 20, threadPool: NIOThreadPool = .singleton) {
        self.root = root
        self.maxSourceBytes = min(maxSourceBytes, SharedBytesWriter.maxBytes)
        self.threadPool = threadPool
    }

    /// Reads the file of a `local` URL.
    ///
    /// - Returns: the file with `Last-Modified` and an `ETag` derived from its size, modification time in nanoseconds
    ///   and inode, or 304 with them if the request's validators match.
    public func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        guard request.url.scheme == .local else {
            throw .invalidURL(.unsupportedScheme(request.url.scheme.rawValue))
        }
        guard let root else { throw .notAllowed(.local) }
        let path = try LocalFile.components(of: request.url.path)
        let requestedAt = Date()
        let contents = try await read(path, below: root, conditions: request.conditions)
        return OriginResponse(
            url: request.url, status: contents.body == nil ? .notModified : .ok, headers: contents.version.fields,
            content: contents.body ?? SharedBytes(ByteBuffer()), requestedAt: requestedAt, receivedAt: Date())
    }

    /// Checks the path, not whether the file exists.
    public func refusal(of source: SourceURL) -> OriginError? {
        guard root != nil else { return .notAllowed(.local) }
        do throws(OriginError) {
            _ = try LocalFile.components(of: source.path)
            return nil
        } catch {
            return error
        }
    }

    private func read(
        _ path: [String], below root: String, conditions: HTTPFields
    ) async throws(OriginError) -> LocalFile.Contents {
        do {
            return try await threadPool.runIfActive { [maxSourceBytes] in
                try LocalFile.read(path, below: root, maxSourceBytes: maxSourceBytes) { $0.satisfies(conditions) }
            }
        } catch let error as OriginError {
            throw error
        } catch {
            throw .cancelled
        }
    }
}

extension LocalFile.Version {
    fileprivate var fields: HTTPFields {
        [.eTag: tag.description, .lastModified: HTTPDate(modifiedAt).description]
    }

    /// Whether the validators match this version. A tag takes precedence over a date (RFC 9110 §13.1.3). A date must be
    /// equal, because a file can be replaced by an older file.
    fileprivate func satisfies(_ conditions: HTTPFields) -> Bool {
        if let tags = conditions[.ifNoneMatch] { return EntityTagCondition(parsing: tags)?.matches(tag) == true }
        return conditions[.ifModifiedSince] == fields[.lastModified]
    }
}

extension LocalFile {
    /// The components of a path, decoded once and safe as file names.
    ///
    /// - Throws: ``OriginError/Denial/path`` for empty, `.` and `..` components, and for NUL, slashes and bytes that
    ///   are not UTF-8 once decoded. An escape that remains after decoding (`%252e`) is part of the file name.
    static func components(of path: String) throws(OriginError) -> [String] {
        let encoded = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return try encoded.map { part throws(OriginError) in
            let name = String(validating: PercentEncoding.decodeLeniently(Array(part)[...]), as: UTF8.self)
            guard let name, !["", ".", ".."].contains(name), !name.utf8.contains(0), !name.utf8.contains(0x2f) else {
                throw .notAllowed(.path)
            }
            return name
        }
    }
}

/// Reads one plain file below a folder without following symbolic links. Blocks, so call it on a thread pool.
enum LocalFile {
    /// The attributes that distinguish versions of a file.
    struct Version: Sendable {
        /// Derived from the size, the modification time and the inode.
        let tag: EntityTag
        let modifiedAt: Date

        init(_ status: stat) {
            #if canImport(Darwin)
                let time = status.st_mtimespec
            #else
                let time = status.st_mtim
            #endif
            let parts = [Int64(time.tv_sec), Int64(time.tv_nsec), Int64(status.st_size)].map { UInt64(bitPattern: $0) }
            tag = EntityTag((parts + [UInt64(status.st_ino)]).map { String($0, radix: 16) }.joined(separator: "-"))
            modifiedAt = Date(timeIntervalSince1970: TimeInterval(time.tv_sec))
        }
    }

    /// A version of a file with its bytes, or without them if the version is known.
    typealias Contents = (version: Version, body: SharedBytes?)

    /// Opens one component after the other, each relative to its parent, so that no folder can be replaced by a link
    /// between a check and its use.
    ///
    /// - Parameter isKnown: returns whether a version need not be read.
    static func read(
        _ path: [String], below root: String, maxSourceBytes: Int, unless isKnown: (Version) -> Bool
    ) throws(OriginError) -> Contents {
        var current = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard current >= 0 else { throw .localNotFound }
        defer { close(current) }
        for component in path.dropLast() {
            let next = try openComponent(component, in: current, flags: O_DIRECTORY)
            close(current)
            current = next
        }
        // Avoids waiting for the writer of a FIFO. Has no effect on plain files.
        let file = try openComponent(path.last ?? "", in: current, flags: O_NONBLOCK)
        defer { close(file) }
        return try contents(of: file, maxSourceBytes: maxSourceBytes, unless: isKnown)
    }

    private static func openComponent(_ name: String, in folder: Int32, flags: Int32) throws(OriginError) -> Int32 {
        let descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags)
        if descriptor >= 0 { return descriptor }
        switch errno {
        case ENOENT: throw .localNotFound
        // With O_DIRECTORY and O_NOFOLLOW together, a link is reported as not a directory.
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
        // Taken before reading: if the file changes meanwhile, its next version differs from this version.
        let version = Version(status)
        if isKnown(version) { return (version, nil) }
        let body = try readAll(file, expectedBytes: Int(status.st_size), maxSourceBytes: maxSourceBytes)
        guard body.count > 0 else { throw .emptyBody }
        return (version, body)
    }

    /// Reads to the end and counts, since the file may grow meanwhile.
    private static func readAll(_ file: Int32, expectedBytes: Int, maxSourceBytes: Int) throws(OriginError)
        -> SharedBytes
    {
        var body = SharedBytesWriter(expectedBytes: expectedBytes)
        var part = ByteBufferAllocator().buffer(capacity: min(expectedBytes + 1, maxPartBytes))
        while true {
            var failed = false
            part.clear()
            let count = part.writeWithUnsafeMutableBytes(minimumWritableBytes: 1) { space in
                let count = Foundation.read(file, space.baseAddress, space.count)
                failed = count < 0
                return max(0, count)
            }
            guard !failed else { throw .localNotFound }
            guard body.count + count <= maxSourceBytes else { throw .tooLarge(limitBytes: maxSourceBytes) }
            if count == 0 { return body.finish() }
            body.append(part)
        }
    }

    /// The most that is read at once: it stays in the processor's cache until it is hashed and copied.
    private static let maxPartBytes = 256 << 10
}
