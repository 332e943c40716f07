package import DarkroomNetwork
package import Logging
package import Tracing

/// A request that was answered, as the metrics, the access log and the span of the request have it.
package struct AccessLogEntry: Sendable {
    package var method: String
    /// The path of the target, without its query: queries contain source URLs, which may contain tokens.
    package var path: String
    /// The status code of the response.
    package var status: Int
    /// The size of the response's body; nil when unknown in advance.
    package var bytes: Int?
    /// The time from the request's head to its response's head.
    package var duration = Duration.zero
    package var requestID: String
    /// Nil for a request without a trace.
    package var traceID: String?
    /// The client's address; nil when unknown.
    package var client: IPAddress?
    /// The response's `Cache-Status`.
    package var cacheStatus: String?
    /// The slug of the problem's kind, if the response is a problem.
    package var problem: String?
    package var details = AccessLogDetails.none
    /// Whether the client disconnected, so that the response cannot be delivered.
    package var isDisconnected = false
}

/// Logs one entry for each request, or for each request that is not a hit. Text chosen by clients is truncated, and
/// secret paths are redacted.
package struct AccessLog: Sendable {
    private let redactedPrefixes: [String]
    private let logsHits: Bool
    private let isEnabled: @Sendable () -> Bool
    private let write: (@Sendable (AccessLogEntry) -> Void)?

    /// - Parameters:
    ///   - redactedPrefixes: a path that begins with a prefix, apart from repeated slashes, is logged up to the prefix.
    ///   - logsHits: whether hits are logged too. Slow hits, of a second or more, are always logged.
    ///   - isEnabled: whether requests are logged at the moment.
    ///   - write: called on event loops, so it must not block; nil = requests are not logged.
    package init(
        redactedPrefixes: [String] = [], logsHits: Bool = true,
        isEnabled: @escaping @Sendable () -> Bool = { true }, write: (@Sendable (AccessLogEntry) -> Void)?
    ) {
        self.redactedPrefixes = redactedPrefixes
        self.logsHits = logsHits
        self.isEnabled = isEnabled
        self.write = write
    }

    func record(_ entry: AccessLogEntry) {
        guard let write, logsHits || !entry.details.isHit || entry.duration >= .seconds(1), isEnabled() else { return }
        var entry = entry
        entry.method = entry.method.truncated(to: 100)
        entry.path = redacted(entry.path)
        write(entry)
    }

    /// A path as it may appear in logs and traces.
    func redacted(_ path: String) -> String {
        let compared = Self.withoutEmptySegments(path)
        if let prefix = redactedPrefixes.first(where: compared.hasPrefix) { return prefix + "…" }
        return path.truncated(to: Self.maxTextBytes)
    }

    /// The path as routes see it: `//signed/a` has the route of `/signed/a`, and is as secret.
    private static func withoutEmptySegments(_ path: String) -> String {
        var last: UInt8?
        let hasEmptySegment = path.utf8.contains { byte in
            defer { last = byte }
            return byte == UInt8(ascii: "/") && byte == last
        }
        guard hasEmptySegment else { return path }
        return "/" + path.split(separator: "/").joined(separator: "/")
    }

    /// The most bytes of a text that clients choose.
    static let maxTextBytes = 256
}

/// The fields that an endpoint adds to the access log's entry of its request.
package struct AccessLogDetails: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case text(String)
        case number(Int)
    }

    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: Value
    }

    /// Sorted by name.
    package let fields: [Field]
    /// Whether the response is fresh and from a cache, without contacting an origin and without processing.
    package let isHit: Bool
    /// The size of all names and texts.
    package let byteCount: Int

    package static let none = AccessLogDetails([:])

    /// - Parameter fields: a field without a value is omitted. Texts of more than 256 bytes are truncated.
    package init(_ fields: KeyValuePairs<String, Value?>, isHit: Bool = false) {
        self.fields = fields.compactMap { name, value in value.map { Field(name: name, value: $0.bounded) } }
            .sorted { $0.name < $1.name }
        self.isHit = isHit
        byteCount = self.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.byteCount }
    }
}

extension AccessLogDetails.Value {
    fileprivate var bounded: Self {
        if case .text(let text) = self { .text(text.truncated(to: AccessLog.maxTextBytes)) } else { self }
    }

    fileprivate var byteCount: Int {
        if case .text(let text) = self { text.utf8.count } else { 0 }
    }
}

/// What observes the requests of all listeners: metrics, the count of in-flight requests, the access log, the logger of
/// everything else, the trace instrument and the spans.
package struct RequestObservers: Sendable {
    package let metrics: RequestMetrics
    let state: ServerState
    let log: AccessLog
    let logger: Logger
    let instrument: any Instrument
    /// Nil = no spans are recorded.
    let tracing: RequestTracing?

    package init(
        metrics: RequestMetrics, state: ServerState, log: AccessLog, logger: Logger,
        instrument: any Instrument = InstrumentationSystem.instrument, tracing: RequestTracing? = nil
    ) {
        self.metrics = metrics
        self.state = state
        self.log = log
        self.logger = logger
        self.instrument = instrument
        self.tracing = tracing
    }

    /// Counts a problem, logs a request, and ends its span.
    func record(_ entry: AccessLogEntry, route: String?, _ span: RequestSpan?) {
        if let problem = entry.problem { metrics.record(problem: problem) }
        log.record(entry)
        guard let span else { return }
        var entry = entry
        entry.path = log.redacted(entry.path)
        span.end(entry, route: route)
    }
}
