package import CoreMetrics
package import DarkroomNetwork
import HTTPTypes
package import Logging
import Synchronization
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

/// Counts requests by route, method and status, times them, and counts failures by problem kind.
///
/// Labels come from closed lists, never from clients, so the number of time series is bounded.
package final class RequestMetrics: Sendable {
    /// The help text of each metric by its name.
    package static let help = [
        "darkroom_http_requests_total": "Requests answered, by route, method, status class and status code.",
        "darkroom_http_request_duration_seconds":
            "Time from a request's head to its response's head, by route, method, status class and use of the cache.",
        "darkroom_http_problems_total": "Responses that were a problem document, by problem kind.",
        "darkroom_http_slow_readers_total":
            "Connections closed because the client read too slowly, by reason: rate (its own) or budget (memory).",
    ]

    private let metrics: any MetricsFactory
    private let problems: [String: Counter]
    private let slowReaders: [SlowReaders.Reason: Counter]
    private let routes = Mutex<[String?: RouteMetrics]>([:])

    /// - Parameters:
    ///   - kinds: all problem kinds that the server reports.
    ///   - mainRoute: the path whose GET requests have a count of each status from the start, so that the first failure
    ///     shows as an increase.
    package init(_ metrics: any MetricsFactory, kinds: [ProblemKind], mainRoute: String? = nil) {
        self.metrics = metrics
        problems = kinds.reduce(into: [:]) { problems, kind in
            problems[kind.slug] = Counter(
                label: "darkroom_http_problems_total", dimensions: [("problem", kind.slug)], factory: metrics)
        }
        slowReaders = .counters("darkroom_http_slow_readers_total", by: "reason", metrics, \.rawValue)
        if let mainRoute { of(route: mainRoute).prepare(.get, statuses: [200, 304] + kinds.map(\.status.code)) }
    }

    func record(problem slug: String) {
        assert(problems[slug] != nil, "Problem kind '\(slug)' is missing from the list of kinds")
        problems[slug]?.increment()
    }

    func record(_ reason: SlowReaders.Reason) { slowReaders[reason]?.increment() }

    /// The metrics of a route by its path, nil for requests without one. Callers that record often keep the result.
    package func of(route: String?) -> RouteMetrics {
        routes.withLock { routes in
            if let known = routes[route] { return known }
            let new = RouteMetrics(route: route ?? "none", metrics)
            routes[route] = new
            return new
        }
    }
}

/// Counts and times the requests of one route.
package final class RouteMetrics: Sendable {
    /// How a response used the cache, as the label `cache`.
    private enum CacheUse: Int {
        case hit, miss
        /// The response has nothing to do with the cache.
        case none

        /// - Parameter status: the value of `Cache-Status`; nil without one.
        init(status: String?) {
            guard let status else {
                self = .none
                return
            }
            // The cache's name goes first (RFC 9211 §2).
            let parameters = status.utf8.drop { $0 != UInt8(ascii: ";") }.dropFirst()
            self = parameters.prefix { $0 != UInt8(ascii: ";") }.elementsEqual("hit".utf8) ? .hit : .miss
        }
    }

    private struct Series {
        var counts = HandleTable<Counter>()
        var durations = HandleTable<CoreMetrics.Timer>()
    }

    /// The path as the route spells it; `none` for requests without one.
    let route: String
    private let metrics: any MetricsFactory
    private let series = Mutex(Series())

    fileprivate init(route: String, _ metrics: any MetricsFactory) {
        self.route = route
        self.metrics = metrics
    }

    /// Durations have the status class only, which bounds the number of histograms.
    func record(_ entry: AccessLogEntry, _ method: HTTPRequest.Method) {
        let (status, cache) = (entry.status, CacheUse(status: entry.cacheStatus))
        let method = Self.methods.firstIndex(of: method) ?? Self.methods.count
        let (count, timer) = series.withLock { series in
            (
                series.counts.handle(method << 16 | status) { makeCounter(method, status) },
                series.durations.handle(method << 16 | (status / 100) << 2 | cache.rawValue) {
                    CoreMetrics.Timer(
                        label: "darkroom_http_request_duration_seconds",
                        dimensions: dimensions(method, status) + [("cache", "\(cache)")], factory: metrics)
                }
            )
        }
        count.increment()
        timer.record(entry.duration)
    }

    fileprivate func prepare(_ method: HTTPRequest.Method, statuses: [Int]) {
        guard let method = Self.methods.firstIndex(of: method) else { return }
        series.withLock { series in
            for status in statuses {
                _ = series.counts.handle(method << 16 | status) { makeCounter(method, status) }
            }
        }
    }

    /// All other methods are counted together.
    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .patch, .options]

    private func makeCounter(_ method: Int, _ status: Int) -> Counter {
        Counter(
            label: "darkroom_http_requests_total", dimensions: dimensions(method, status) + [("code", "\(status)")],
            factory: metrics)
    }

    private func dimensions(_ method: Int, _ status: Int) -> [(String, String)] {
        let method = method < Self.methods.count ? Self.methods[method].rawValue : "other"
        return [("route", route), ("method", method), ("status", "\(status / 100)xx")]
    }
}

/// Handles of metrics by number, in the order of their first use. A route has few, so that a search is quicker than a
/// hash, and no memory is reserved for statuses that never occur.
private struct HandleTable<Handle> {
    private var keys: [Int] = []
    private var handles: [Handle] = []

    mutating func handle(_ key: Int, make: () -> Handle) -> Handle {
        if let known = keys.firstIndex(of: key) { return handles[known] }
        let new = make()
        keys.append(key)
        handles.append(new)
        return new
    }
}

extension CoreMetrics.Timer {
    /// Records a duration with nanosecond precision.
    package func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        recordNanoseconds(seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
    }
}

extension Dictionary where Key: CaseIterable, Value == Counter {
    /// A counter of each case, which is the value of a label.
    package static func counters(
        _ name: String, by label: String, _ metrics: any MetricsFactory, _ value: (Key) -> String
    ) -> [Key: Counter] {
        Dictionary(
            uniqueKeysWithValues: Key.allCases.map { key in
                (key, Counter(label: name, dimensions: [(label, value(key))], factory: metrics))
            })
    }
}
