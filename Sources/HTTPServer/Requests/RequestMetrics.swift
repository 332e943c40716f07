package import CoreMetrics
import HTTPTypes
import Synchronization

/// Counts and times requests by route, method and status class, and failures by problem kind.
///
/// Labels come from closed lists, never from clients, so the number of time series is bounded.
package final class RequestMetrics: Sendable {
    /// The help text of each metric by its name.
    package static let help = [
        "darkroom_http_requests_total": "Requests answered, by route, method and status class.",
        "darkroom_http_request_duration_seconds": "Time from a request's head to its response's head.",
        "darkroom_http_problems_total": "Responses that were a problem document, by problem kind.",
    ]

    private let metrics: any MetricsFactory
    private let problems: [ProblemKind: Counter]
    private let routes = Mutex<[String?: RouteMetrics]>([:])

    /// - Parameter kinds: all problem kinds that the server reports.
    package init(_ metrics: any MetricsFactory, kinds: [ProblemKind]) {
        self.metrics = metrics
        let counters = kinds.map { kind in
            (
                kind,
                Counter(label: "darkroom_http_problems_total", dimensions: [("problem", kind.slug)], factory: metrics)
            )
        }
        problems = Dictionary(uniqueKeysWithValues: counters)
    }

    func record(_ problem: ProblemKind) {
        assert(problems[problem] != nil, "Problem kind '\(problem)' is missing from the list of kinds")
        problems[problem]?.increment()
    }

    /// - Parameter route: the path as its route spells it; nil when no route matches.
    func record(status: Int, _ method: HTTPRequest.Method, route: String?, took duration: Duration) {
        of(route: route).record(status: status, method, took: duration)
    }

    /// The metrics of a route, to be kept by who records often.
    ///
    /// - Parameter route: the path as its route spells it; nil for requests without one.
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
    private struct Series {
        let count: Counter
        let duration: CoreMetrics.Timer
    }

    private let route: String
    private let metrics: any MetricsFactory
    /// The series of each method and status class, made when they are first used.
    private let series = Mutex<[Series?]>(Array(repeating: nil, count: (methods.count + 1) * statusClasses))

    fileprivate init(route: String, _ metrics: any MetricsFactory) {
        self.route = route
        self.metrics = metrics
    }

    func record(status: Int, _ method: HTTPRequest.Method, took duration: Duration) {
        let series = series(Self.methods.firstIndex(of: method), statusClass: min(max(0, status / 100), 9))
        series.count.increment()
        series.duration.record(duration)
    }

    private func series(_ method: Int?, statusClass: Int) -> Series {
        let index = (method ?? Self.methods.count) * Self.statusClasses + statusClass
        return series.withLock { table in
            if let known = table[index] { return known }
            let new = makeSeries(method.map { Self.methods[$0].rawValue } ?? "other", statusClass)
            table[index] = new
            return new
        }
    }

    /// All other methods count as one.
    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .patch, .options]
    private static let statusClasses = 10

    private func makeSeries(_ method: String, _ statusClass: Int) -> Series {
        let dimensions = [("route", route), ("method", method), ("status", "\(statusClass)xx")]
        return Series(
            count: Counter(label: "darkroom_http_requests_total", dimensions: dimensions, factory: metrics),
            duration: CoreMetrics.Timer(
                label: "darkroom_http_request_duration_seconds", dimensions: dimensions, factory: metrics))
    }
}

extension CoreMetrics.Timer {
    /// Records a duration with nanosecond precision.
    package func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        recordNanoseconds(seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
    }
}
