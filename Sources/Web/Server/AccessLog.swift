import DarkroomQuery
import HTTPTypes
import Hummingbird
import Logging
import ServiceContextModule

/// One line for each request that was answered.
///
/// Queries stay out of it: they hold source URLs, and those hold tokens. What clients choose freely is clipped.
struct AccessLog: Sendable {
    let logger: Logger

    /// - Parameter bytes: of the body that is sent; nil = not known beforehand.
    func note(_ request: Request, _ response: Response, bytes: Int?, took duration: Duration, _ context: WebContext) {
        guard logger.logLevel <= .info else { return }
        var metadata: Logger.Metadata = [
            "method": "\(InvalidParameter.clipped(request.method.rawValue))",
            "path": "\(Self.clipped(request.uri.path))",
            "status": .stringConvertible(response.status.code),
            "duration-ms": .stringConvertible(Self.milliseconds(duration)), "request-id": "\(context.requestID)",
        ]
        if let bytes { metadata["bytes"] = .stringConvertible(bytes) }
        if let trace = ServiceContext.current?.trace { metadata["trace-id"] = "\(trace.parent.traceID)" }
        if let address = context.clientAddress { metadata["client"] = "\(address)" }
        if let cache = response.headers[.cacheStatus] { metadata["cache"] = "\(cache)" }
        // The answer then reached nobody.
        if Task.isCancelled { metadata["disconnected"] = .stringConvertible(true) }
        logger.info("request", metadata: metadata)
    }

    /// To the microsecond.
    private static func milliseconds(_ duration: Duration) -> Double { (duration / .microseconds(1)).rounded() / 1_000 }

    /// No path of ours is longer than this.
    private static let maxPathBytes = 256

    private static func clipped(_ path: String) -> String {
        // A query again, of which every copy is as good as the first.
        guard !path.hasPrefix(SignedPath.prefix) else { return SignedPath.prefix + "…" }
        guard path.utf8.count > maxPathBytes else { return path }
        return String(decoding: path.utf8.prefix(maxPathBytes), as: UTF8.self) + "…"
    }
}
