public import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
public import DarkroomTransforms
public import Foundation
import HTTPTypes

/// The reason why a request has no image. Every text may be sent to clients: it states a remedy and contains nothing
/// private.
public indirect enum PipelineError: Error, Sendable, Hashable {
    /// The source address cannot be parsed, or its scheme is not supported.
    case invalidURL(String)
    /// A parameter cannot be applied to this image.
    case badParameter(TransformError)
    /// The source's host, port or address may not be contacted, or the delegate refused the download.
    case notAllowed(String)
    /// The source does not exist: the origin answered 404 or 410. A nil status means a missing local file.
    ///
    /// `lifetime` is how long the origin lets caches use that answer; nil if it does not say, zero if they must not.
    case notFound(status: Int?, lifetime: Duration? = nil)
    /// The source or the result has more bytes, pixels or frames than the limits allow.
    case tooLarge(String)
    /// The source is not an image in a supported format.
    case unsupported
    /// This machine has no decoder for the source's format.
    case missingDecoder(SourceFormat)
    /// This machine's decoder is too old for the source.
    case outdatedDecoder(HEIFFeature)
    /// The source is corrupt or truncated.
    case corrupt
    /// The origin could not be reached, or its response was not an image.
    case originFailed(OriginFailure)
    /// The origin did not respond in time.
    case originTimedOut(OriginFailure)
    /// The origin's circuit breaker is open after repeated failures.
    case originUnavailable(retryAfterSeconds: Int)
    /// An earlier request for the source failed with this error, and the source is not tried again before the delay.
    ///
    /// `isBeyondHTTP` says whether HTTP caching alone would try it again (see ``FreshnessPolicy/remembersFailures``).
    case remembered(PipelineError, retryAfterSeconds: Int, isBeyondHTTP: Bool = false)
    /// The client accepts only a cached answer, and there is none.
    case notCached
    /// The image was not ready in time.
    case timedOut
    /// All pixel threads are busy and the queue is full.
    case overloaded(retryAfterSeconds: Int)
    /// The request has passed through this server before.
    case loop
    /// The request was canceled, or the pipeline was shut down.
    case cancelled
    case failed
    /// The image of this name (``PartImage/name``), which is drawn onto the source, failed with this error, not the
    /// source.
    case mark(PipelineError, name: String = "")

    /// The underlying failure of a remembered error; any other error itself.
    public var cause: PipelineError {
        if case .remembered(let error, _, _) = self { error.cause } else { self }
    }
}

extension PipelineError: LocalizedError, CustomStringConvertible {
    /// The reason in a sentence.
    public var description: String {
        switch self {
        case .invalidURL(let sentence), .notAllowed(let sentence), .tooLarge(let sentence): sentence
        case .badParameter(let error): "Parameter '\(error.parameter)' cannot be applied: \(error.reason)."
        case .notFound(410?, _): "The origin has removed the image at this URL."
        case .notFound: "The origin has no image at this URL."
        case .unsupported:
            "The source is not a \(SourceFormat.names) image, regardless of its name or content type."
        case .missingDecoder(let format): "The source cannot be read: \(MissingCodec.decoder(format).reason)."
        case .outdatedDecoder(let feature): "The source cannot be read: \(feature.reason)."
        case .corrupt: "The source is corrupt, truncated or of another format than it claims."
        case .originFailed(let failure), .originTimedOut(let failure): failure.sentence
        case .originUnavailable: "The origin's host failed repeatedly and is temporarily not contacted."
        case .remembered(let error, _, _): error.description
        case .notCached: "The request accepts only a cached response, and there is no usable one."
        case .timedOut: "The image was not ready within the time limit of a request."
        case .overloaded: "All workers are busy and the queue is full."
        case .loop: "The request has passed through this server before."
        case .cancelled: "The request was canceled, or the pipeline was shut down."
        case .failed: "The image could not be processed."
        case .mark(let error, let name): Self.sentence(error.description, aboutPart: name)
        }
    }

    public var errorDescription: String? { description }

    /// The sentence of an error as one about the drawn image of this name, instead of the source.
    package static func sentence(_ sentence: String, aboutPart name: String) -> String {
        let part = name.isEmpty ? "The watermark" : "The image of '\(PartImage.parameter(of: name))'"
        return "\(part) cannot be used: \(sentence)"
    }
}

/// What went wrong at an origin.
public struct OriginFailure: Hashable, Sendable {
    /// A sentence for clients.
    public var sentence: String
    /// The error's name in RFC 9209 §2.3; nil if the origin answered with ``receivedStatus``.
    public var proxyError: ProxyStatus.Failure?
    /// The status that the origin answered with; nil if there was no such response.
    public var receivedStatus: Int?
    /// The origin's `Retry-After` in seconds, at most 300; nil without one.
    public var retryAfterSeconds: Int?

    public init(
        _ sentence: String, proxyError: ProxyStatus.Failure? = nil, receivedStatus: Int? = nil,
        retryAfterSeconds: Int? = nil
    ) {
        self.sentence = sentence
        self.proxyError = proxyError
        self.receivedStatus = receivedStatus
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// What the origin's status says about the request.
    package enum Verdict: Hashable, Sendable {
        /// The origin works, and denies this request: 401, 403 and other client errors.
        case refused
        /// The origin has too many requests: 429.
        case busy
        /// The origin fails.
        case failed
    }

    /// The verdict of the status that the origin answered with. A request that arrived too slowly or too early (408,
    /// 425) says nothing about the image.
    package var verdict: Verdict {
        switch receivedStatus {
        case 429?: .busy
        case 408?, 425?: .failed
        case let status? where (400..<500).contains(status): .refused
        default: .failed
        }
    }
}

extension PipelineError {
    init(_ error: OriginError) {
        self =
            switch error {
            case .invalidURL(let reason): .invalidURL(reason.description)
            case .notAllowed: .notAllowed(error.description)
            case .notFound(let refusal): .notFound(status: refusal.status)
            case .localNotFound: .notFound(status: nil)
            case .emptyBody: .unsupported
            case .tooLarge: .tooLarge(error.description)
            case .timedOut(let phase): .originTimedOut(OriginFailure(error.description, proxyError: phase.proxyError))
            case .hostUnavailable(let retryAfter):
                .originUnavailable(retryAfterSeconds: max(1, Int((retryAfter / .seconds(1)).rounded(.up))))
            case .loop: .loop
            case .cancelled: .cancelled
            case .unexpectedStatus(let refusal):
                .originFailed(
                    OriginFailure(
                        error.description, receivedStatus: refusal.status,
                        retryAfterSeconds: refusal.retryAfter.map { Int(($0 / .seconds(1)).rounded(.up)) }))
            case .unreachable(let stage): .originFailed(OriginFailure(error.description, proxyError: stage.proxyError))
            case .tooManyRedirects, .badRedirect, .unacceptableEncoding:
                .originFailed(OriginFailure(error.description, proxyError: .httpProtocolError))
            }
    }

    init(_ error: ImageProcessingError) {
        self =
            switch error {
            case .unsupported: .unsupported
            case .missingDecoder(let format): .missingDecoder(format)
            case .outdatedDecoder(let feature): .outdatedDecoder(feature)
            case .corrupt: .corrupt
            case .tooLarge(let reason): .tooLarge(reason)
            case .badParameter(let error): .badParameter(error)
            case .interrupted: .timedOut
            case .transformFailed, .encodingFailed: .failed
            case .mark(let error, let name): PipelineError(error).ofPart(name)
            }
    }

    /// The error of a download that the delegate refused.
    static let notDownloadable = PipelineError.notAllowed("This source may not be downloaded.")

    /// The error of a request if the image that it draws under this name failed with this error.
    func ofPart(_ name: String) -> PipelineError {
        switch self {
        case .invalidURL, .notAllowed, .notFound, .tooLarge, .unsupported, .missingDecoder, .outdatedDecoder, .corrupt,
            .originFailed, .originTimedOut, .originUnavailable, .remembered, .loop:
            .mark(self, name: name)
        case .badParameter(let error) where !name.isEmpty:
            .badParameter(
                TransformError(
                    parameter: "\(PartImage.parameter(of: name)).\(error.parameter)", reason: error.reason))
        case .badParameter, .notCached, .timedOut, .overloaded, .cancelled, .failed, .mark: self
        }
    }

    /// Whether the same bytes would fail again.
    var isOfContent: Bool {
        switch self {
        case .unsupported, .missingDecoder, .outdatedDecoder, .corrupt: true
        default: false
        }
    }

    /// Whether a stale image may be served instead (RFC 5861 §4): the origin fails, and did not say that the source is
    /// gone.
    var permitsStale: Bool {
        switch cause {
        case .originFailed(let failure): failure.verdict != .refused
        case .originTimedOut, .originUnavailable, .corrupt, .unsupported, .missingDecoder, .outdatedDecoder: true
        default: false
        }
    }

    /// The status of a failure of the source, after which a fallback may be used; nil if the request or this server
    /// failed.
    package var statusOfSource: Int? {
        switch cause {
        case .notFound(let status, _): status == 410 ? 410 : 404
        case .tooLarge: 413
        case .unsupported, .missingDecoder: 415
        case .corrupt, .outdatedDecoder: 422
        case .originFailed(let failure):
            switch failure.verdict {
            case .refused: 403
            case .busy: 503
            case .failed: 502
            }
        case .originTimedOut: 504
        case .originUnavailable: 503
        default: nil
        }
    }

    /// Whether the request's fallback is used.
    ///
    /// - Parameter statuses: the statuses that it is used for; empty = every failure of the source.
    package func permitsFallback(for statuses: Set<Int>) -> Bool {
        statusOfSource.map { statuses.isEmpty || statuses.contains($0) } ?? false
    }
}

extension PipelineError {
    /// A word out of few (OpenTelemetry: error.type): the name in RFC 9209 §2.3 if there is one, or else the origin's
    /// status.
    var spanType: String {
        switch self {
        case .invalidURL: "invalid_url"
        case .badParameter: "bad_parameter"
        case .notAllowed: "not_allowed"
        case .notFound(let status, _): status.map(String.init) ?? "not_found"
        case .tooLarge: "too_large"
        case .unsupported, .missingDecoder, .outdatedDecoder: "unsupported"
        case .corrupt: "corrupt"
        case .originFailed(let failure), .originTimedOut(let failure):
            failure.proxyError?.rawValue ?? failure.receivedStatus.map(String.init) ?? "_OTHER"
        case .originUnavailable: "destination_unavailable"
        case .remembered(let error, _, _): error.spanType
        case .notCached: "not_cached"
        case .timedOut: "timeout"
        case .overloaded: "overloaded"
        case .loop: "proxy_loop_detected"
        case .cancelled: "canceled"
        case .failed: "_OTHER"
        case .mark(let error, _): error.spanType
        }
    }
}

extension OriginError.Stage {
    fileprivate var proxyError: ProxyStatus.Failure {
        switch self {
        case .dns: .dnsError
        case .refused: .connectionRefused
        case .connect: .destinationIPUnroutable
        case .tls: .tlsProtocolError
        case .certificate: .tlsCertificateError
        case .reset: .connectionTerminated
        case .incomplete: .httpResponseIncomplete
        case .malformed: .httpProtocolError
        case .configuration: .proxyConfigurationError
        }
    }
}

extension OriginError.Phase {
    fileprivate var proxyError: ProxyStatus.Failure {
        switch self {
        case .waiting: .connectionLimitReached
        case .lookup: .dnsTimeout
        case .connecting: .connectionTimeout
        case .response: .httpResponseTimeout
        case .body: .httpResponseIncomplete
        }
    }
}
