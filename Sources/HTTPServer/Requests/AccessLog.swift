import HTTPTypes
import Hummingbird
package import Logging
import ServiceContextModule

/// Logs one line for each request.
///
/// Queries are not logged, because they contain source URLs, which may contain tokens. Text chosen by clients is
/// truncated.
package struct AccessLog: Sendable {
    let logger: Logger
    private let redactedPrefix: String?

    /// - Parameters:
    ///   - logger: takes a line at `info` for each request.
    ///   - redactedPrefix: paths that begin with it are logged without the rest.
    package init(logger: Logger, redactedPrefix: String? = nil) {
        self.logger = logger
        self.redactedPrefix = redactedPrefix
    }

    /// - Parameter bytes: the size of the body; nil when unknown in advance.
    func record(
        _ request: Request, _ response: Response, bytes: Int?, took duration: Duration, _ context: ServerRequestContext
    ) {
        guard logger.logLevel <= .info else { return }
        var metadata: Logger.Metadata = [
            "method": "\(request.method.rawValue.truncated(to: 100))",
            "path": "\(redacted(request.uri.path))",
            "status": .stringConvertible(response.status.code),
            "duration-ms": .stringConvertible(Self.milliseconds(duration)), "request-id": "\(context.requestID)",
        ]
        if let bytes { metadata["bytes"] = .stringConvertible(bytes) }
        if let trace = ServiceContext.current?.trace { metadata["trace-id"] = "\(trace.parent.traceID)" }
        if let address = context.clientAddress { metadata["client"] = "\(address)" }
        if let cache = response.headers[.cacheStatus] { metadata["cache"] = "\(cache)" }
        // The client disconnected, so the response cannot be delivered.
        if Task.isCancelled { metadata["disconnected"] = .stringConvertible(true) }
        logger.info("request", metadata: metadata)
    }

    /// Rounded to microseconds.
    private static func milliseconds(_ duration: Duration) -> Double { (duration / .microseconds(1)).rounded() / 1_000 }

    private func redacted(_ path: String) -> String {
        if let redactedPrefix, path.hasPrefix(redactedPrefix) { return redactedPrefix + "…" }
        return path.truncated(to: 256)
    }
}
