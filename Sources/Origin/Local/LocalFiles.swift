import DarkroomHTTPCaching
public import DarkroomNetwork
import Foundation
import HTTPTypes
import NIOCore
public import NIOPosix

/// Serves `local:///path` from the files below one folder.
///
/// Paths are decoded once. Empty, `.` and `..` components, NUL, encoded slashes, symbolic links of any kind below the
/// root, and everything but plain files are refused. The query of the URL is not looked at.
public struct LocalFiles: OriginFetching {
    private let root: String?
    private let maxSourceBytes: Int
    private let threadPool: NIOThreadPool

    /// - Parameters:
    ///   - root: path of the folder; nil refuses all local sources.
    ///   - maxSourceBytes: the largest file that is read. Default 50 MiB.
    ///   - threadPool: where files are read.
    public init(root: String?, maxSourceBytes: Int = 50 << 20, threadPool: NIOThreadPool = .singleton) {
        self.root = root
        self.maxSourceBytes = min(maxSourceBytes, Int(UInt32.max) - 1)
        self.threadPool = threadPool
    }

    /// - Returns: the file with `Last-Modified` and an `ETag` that changes with size, time (in nanoseconds) and identity of
    ///   the file, or 304 with them where the request's validators name the file as it is.
    public func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        guard request.url.scheme == .local else {
            throw .invalidURL(.unsupportedScheme(request.url.scheme.rawValue))
        }
        guard let root else { throw .notAllowed(.local) }
        let path = try LocalPath(request.url.path)
        let requestedAt = Date()
        let contents = try await read(path, below: root, conditions: request.conditions)
        return OriginResponse(
            url: request.url, status: contents.body == nil ? .notModified : .ok, headers: contents.version.fields,
            body: contents.body ?? ByteBuffer(), requestedAt: requestedAt, receivedAt: Date())
    }

    /// Whether there is such a file is not looked at.
    public func refusal(of source: SourceURL) -> OriginError? {
        guard root != nil else { return .notAllowed(.local) }
        do throws(OriginError) {
            _ = try LocalPath(source.path)
            return nil
        } catch {
            return error
        }
    }

    private func read(
        _ path: LocalPath, below root: String, conditions: HTTPFields
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
    private var tag: EntityTag {
        let second = Int64(modifiedAt.timeIntervalSince1970)
        let parts = [UInt64(bitPattern: second), UInt64(modifiedAtNanosecond), UInt64(sizeBytes), inode]
        return EntityTag(parts.map { String($0, radix: 16) }.joined(separator: "-"))
    }

    fileprivate var fields: HTTPFields {
        [.eTag: tag.description, .lastModified: HTTPDate(modifiedAt).description]
    }

    /// Whether validators are those of this version; a tag wins over a date (RFC 9110 §13.1.3). A date must be the very
    /// one that was given out, since a file may also be replaced by an older one.
    fileprivate func satisfies(_ conditions: HTTPFields) -> Bool {
        if let tags = conditions[.ifNoneMatch] { return EntityTagCondition(parsing: tags)?.matches(tag) == true }
        return conditions[.ifModifiedSince] == fields[.lastModified]
    }
}
