package import CoreMetrics
import HTTPTypes
import Synchronization

/// Counts and times requests by route, method and status class, and failures by problem kind.
///
/// Labels come from closed lists, never from clients, so the number of time series is bounded.
package final class RequestMetrics: Sendable {
    private struct Labels: Hashable {
        let route: String
        let method: String
        let statusClass: Int
    }

    private struct Series {
        let count: Counter
        let duration: CoreMetrics.Timer
    }

    /// The help text of each metric by its name.
    package static let help = [
        "darkroom_http_requests_total": "Requests answered, by route, method and status class.",
        "darkroom_http_request_duration_seconds": "Time from a request's head to its response's head.",
        "darkroom_http_problems_total": "Responses that were a problem document, by problem kind.",
    ]

    private let metrics: any MetricsFactory
    private let problems: [ProblemKind: Counter]
    private let series = Mutex<[Labels: Series]>([:])

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
    func record(_ status: HTTPResponse.Status, _ method: HTTPRequest.Method, route: String?, took duration: Duration) {
        let labels = Labels(
            route: route ?? "none", method: Self.methods[method] ?? "other", statusClass: status.code / 100)
        let series = series.withLock { table in
            if let known = table[labels] { return known }
            let new = makeSeries(labels)
            table[labels] = new
            return new
        }
        series.count.increment()
        series.duration.record(duration)
    }

    private static let methods = Dictionary(
        uniqueKeysWithValues: [HTTPRequest.Method.get, .head, .post, .put, .delete, .patch, .options].map {
            ($0, $0.rawValue)
        })

    private func makeSeries(_ labels: Labels) -> Series {
        let dimensions = [
            ("route", labels.route), ("method", labels.method), ("status", "\(labels.statusClass)xx"),
        ]
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
