import CoreMetrics
import DarkroomHTTPServer
import DarkroomMachine
import DarkroomNetwork
import DarkroomOrigin
import HTTPTypes
import NIOCore

/// Counts and times the requests to an origin.
struct MeteredOrigin: OriginFetching {
    /// The result of a request, as the label `result`.
    enum Result: String, CaseIterable {
        case downloaded
        case notModified = "not_modified"
        case notFound = "not_found"
        case unexpectedStatus = "unexpected_status"
        case badResponse = "bad_response"
        case badRedirect = "bad_redirect"
        case tooLarge = "too_large"
        case timedOut = "timed_out"
        case unreachable
        /// The circuit breaker of its host is open.
        case circuitOpen = "circuit_open"
        case notAllowed = "not_allowed"
        case loop
        case canceled
    }

    static let help = [
        "darkroom_origin_requests_total": "Requests to origins, by result.",
        "darkroom_origin_bytes_total": "Bytes of completely downloaded originals.",
        "darkroom_origin_duration_seconds": "Duration of requests to origins, including the wait for a download slot.",
    ]

    private let origin: any OriginFetching
    private let results: [Result: Counter]
    private let bytes: Counter
    private let duration: CoreMetrics.Timer

    init(_ origin: any OriginFetching, metrics: any MetricsFactory) {
        self.origin = origin
        results = .counters("darkroom_origin_requests_total", by: "result", metrics, \.rawValue)
        bytes = Counter(label: "darkroom_origin_bytes_total", factory: metrics)
        duration = CoreMetrics.Timer(label: "darkroom_origin_duration_seconds", factory: metrics)
    }

    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        let start = ContinuousClock.now
        defer { duration.record(start.duration(to: .now)) }
        do throws(OriginError) {
            let response = try await origin.fetch(request)
            results[response.isNotModified ? .notModified : .downloaded]?.increment()
            bytes.increment(by: response.content.count)
            return response
        } catch {
            results[Result(error)]?.increment()
            throw error
        }
    }

    func sentFields(for request: OriginRequest) -> HTTPFields { origin.sentFields(for: request) }

    func refusal(of source: SourceURL) -> OriginError? { origin.refusal(of: source) }

    func clearOutages(ofHost host: String?) { origin.clearOutages(ofHost: host) }

    func startWaiting() { origin.startWaiting() }
}

extension MeteredOrigin.Result {
    init(_ error: OriginError) {
        self =
            switch error {
            case .notFound, .localNotFound: .notFound
            case .unexpectedStatus: .unexpectedStatus
            case .emptyBody, .unacceptableEncoding: .badResponse
            case .tooManyRedirects, .badRedirect: .badRedirect
            case .tooLarge: .tooLarge
            case .timedOut: .timedOut
            case .unreachable: .unreachable
            case .hostUnavailable: .circuitOpen
            case .invalidURL, .notAllowed: .notAllowed
            case .loop: .loop
            case .cancelled: .canceled
            }
    }
}
