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
