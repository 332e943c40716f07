import Foundation
import HTTPTypes
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

    /// - Returns: the file with `Last-Modified` as its only field.
    public func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        guard request.url.scheme == .local else {
            throw .invalidURL(.unsupportedScheme(request.url.scheme.rawValue))
        }
        guard let root else { throw .notAllowed(.local) }
        let path = try LocalPath(request.url.path)
        let requestedAt = Date()
        let contents = try await read(path, below: root)
        return OriginResponse(
            url: request.url, status: .ok, headers: [.lastModified: Self.httpDate(contents.modifiedAt)],
            body: contents.body, requestedAt: requestedAt, receivedAt: Date())
    }

    private func read(_ path: LocalPath, below root: String) async throws(OriginError) -> LocalFile.Contents {
        do {
            return try await threadPool.runIfActive { [maxSourceBytes] in
                try LocalFile.read(path, below: root, maxSourceBytes: maxSourceBytes)
            }
        } catch let error as OriginError {
            throw error
        } catch {
            throw .cancelled
        }
    }

    /// IMF-fixdate (RFC 9110 §5.6.7).
    private static func httpDate(_ date: Date) -> String {
        let style = Date.VerbatimFormatStyle(
            format: """
                \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\
                \(minute: .twoDigits):\(second: .twoDigits) GMT
                """,
            locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
        return date.formatted(style)
    }
}
