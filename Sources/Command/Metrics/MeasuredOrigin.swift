import CoreMetrics
import DarkroomNetwork
import DarkroomOrigin
import HTTPTypes
import NIOCore

/// An origin whose downloads are counted and timed.
struct MeasuredOrigin: OriginFetching {
    /// What came of a download.
    enum Result: String, CaseIterable {
        case downloaded
        case notModified = "not_modified"
        case notFound = "not_found"
        case unexpectedStatus = "refused_status"
        case badAnswer = "bad_answer"
        case badRedirect = "bad_redirect"
        case tooLarge = "too_large"
        case timedOut = "timed_out"
        case unreachable
        /// It was not asked, for its host failed too often.
        case leftAlone = "left_alone"
        case notAllowed = "not_allowed"
        case loop
        case cancelled
    }

    static let help = [
        "darkroom_origin_requests_total": "Questions to origins, by what came of them.",
        "darkroom_origin_bytes_total": "Bytes of originals that were downloaded whole.",
        "darkroom_origin_duration_seconds": "Time that questions to origins took, waiting for a slot included.",
    ]

    private let origin: any OriginFetching
    private let results: [Result: Counter]
    private let bytes: Counter
    private let duration: CoreMetrics.Timer

    init(_ origin: any OriginFetching, metrics: any MetricsFactory) {
        self.origin = origin
        let counters = Result.allCases.map { result in
            (
                result,
                Counter(
                    label: "darkroom_origin_requests_total", dimensions: [("result", result.rawValue)],
                    factory: metrics)
            )
        }
        results = Dictionary(uniqueKeysWithValues: counters)
        bytes = Counter(label: "darkroom_origin_bytes_total", factory: metrics)
        duration = CoreMetrics.Timer(label: "darkroom_origin_duration_seconds", factory: metrics)
    }

    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        let start = ContinuousClock.now
        defer { duration.recordNanoseconds(Int64(start.duration(to: .now) / .nanoseconds(1))) }
        do throws(OriginError) {
            let response = try await origin.fetch(request)
            results[response.isNotModified ? .notModified : .downloaded]?.increment()
            bytes.increment(by: response.body.readableBytes)
            return response
        } catch {
            results[Result(error)]?.increment()
            throw error
        }
    }

    func sentFields(for request: OriginRequest) -> HTTPFields { origin.sentFields(for: request) }

    func refusal(of source: SourceURL) -> OriginError? { origin.refusal(of: source) }

    func clearOutages(ofHost host: String?) { origin.clearOutages(ofHost: host) }
}

extension MeasuredOrigin.Result {
    init(_ error: OriginError) {
        self =
            switch error {
            case .notFound, .localNotFound: .notFound
            case .unexpectedStatus: .unexpectedStatus
            case .emptyBody, .unacceptableEncoding: .badAnswer
            case .tooManyRedirects, .badRedirect: .badRedirect
            case .tooLarge: .tooLarge
            case .timedOut: .timedOut
            case .unreachable: .unreachable
            case .hostUnavailable: .leftAlone
            case .invalidURL, .notAllowed: .notAllowed
            case .loop: .loop
            case .cancelled: .cancelled
            }
    }
}
