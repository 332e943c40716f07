import CoreMetrics
import HTTPTypes
import Synchronization

/// Counts and times requests by route, method and class of status, and failures by their kind.
///
/// Labels come from closed lists, whatever clients send: a label of theirs would be a series of theirs.
final class RequestMetrics: Sendable {
    private struct Kind: Hashable {
        let route: String
        let method: String
        let statusClass: Int
    }

    private struct Series {
        let count: Counter
        let duration: CoreMetrics.Timer
    }

    static let help = [
        "darkroom_http_requests_total": "Requests answered, by route, method and class of status.",
        "darkroom_http_request_duration_seconds": "Time from a request's head to its answer's.",
        "darkroom_http_problems_total": "Answers that were a problem, by its kind.",
    ]

    private let metrics: any MetricsFactory
    private let problems: [ProblemKind: Counter]
    private let series = Mutex<[Kind: Series]>([:])

    init(_ metrics: any MetricsFactory) {
        self.metrics = metrics
        let counters = ProblemKind.all.map { kind in
            (
                kind,
                Counter(
                    label: "darkroom_http_problems_total", dimensions: [("problem", kind.rawValue)], factory: metrics)
            )
        }
        problems = Dictionary(uniqueKeysWithValues: counters)
    }

    func note(_ problem: ProblemKind) {
        problems[problem]?.increment()
    }

    /// - Parameter route: the path as its route spells it; nil = there is none.
    func note(_ status: HTTPResponse.Status, _ method: HTTPRequest.Method, route: String?, took duration: Duration) {
        let kind = Kind(
            route: route ?? "none", method: Self.methods[method] ?? "other",
            statusClass: status.code / 100)
        let series = series.withLock { table in
            if let known = table[kind] { return known }
            let made = make(kind)
            table[kind] = made
            return made
        }
        series.count.increment()
        series.duration.record(duration)
    }

    private static let methods = Dictionary(
        uniqueKeysWithValues: [HTTPRequest.Method.get, .head, .post, .put, .delete, .patch, .options].map {
            ($0, $0.rawValue)
        })

    private func make(_ kind: Kind) -> Series {
        let dimensions = [("route", kind.route), ("method", kind.method), ("status", "\(kind.statusClass)xx")]
        return Series(
            count: Counter(label: "darkroom_http_requests_total", dimensions: dimensions, factory: metrics),
            duration: CoreMetrics.Timer(
                label: "darkroom_http_request_duration_seconds", dimensions: dimensions, factory: metrics))
    }
}

extension CoreMetrics.Timer {
    /// To the nanosecond.
    func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        recordNanoseconds(seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
    }
}
