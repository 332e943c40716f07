package import CoreMetrics
import HTTPTypes
import Synchronization

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
