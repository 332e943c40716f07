import DarkroomNetwork
import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomTransforms
import Foundation
import HTTPTypes

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
                .originFailed(OriginFailure(error.description, receivedStatus: refusal.status))
            case .unreachable(let stage): .originFailed(OriginFailure(error.description, proxyError: stage.proxyError))
            case .tooManyRedirects, .badRedirect, .unacceptableEncoding:
                .originFailed(OriginFailure(error.description, proxyError: .httpProtocolError))
            }
    }

    init(_ error: ImageProcessingError) {
        self =
            switch error {
            case .unsupported: .unsupported
            case .corrupt: .corrupt
            case .tooLarge(let reason): .tooLarge(reason)
            case .badParameter(let error): .badParameter(error)
            case .interrupted: .timedOut
            case .transformFailed, .encodingFailed: .failed
            }
    }

    /// What a delegate's veto comes to.
    static let notDownloadable = PipelineError.notAllowed("This source may not be downloaded.")

    /// Whether a stale picture is better than this (RFC 5861 §4): the origin is in trouble, and has not said that the
    /// picture is gone.
    var excusesStale: Bool {
        switch cause {
        case .originFailed(let trouble): trouble.receivedStatus.map { $0 >= 500 } ?? true
        case .originTimedOut, .originUnavailable, .corrupt, .unsupported: true
        default: false
        }
    }

    /// Whether another picture may stand in: the source is to blame, neither the request nor this server.
    var isFaultOfSource: Bool {
        switch cause {
        case .notFound, .tooLarge, .unsupported, .corrupt, .originFailed, .originTimedOut, .originUnavailable: true
        default: false
        }
    }
}

extension OriginError {
    /// How long a source that failed like this is left alone.
    func retention(now: Date) -> Retention {
        switch self {
        case .notFound(let refusal): .gone(StoredResponse(refusal))
        case .localNotFound, .invalidURL, .notAllowed, .loop, .cancelled, .hostUnavailable: .never
        case .unexpectedStatus(let refusal):
            .passing(retryAfter: RetryAfter(refusal.headers, now: now)?.delay)
        case .tooLarge, .tooManyRedirects, .badRedirect, .unacceptableEncoding, .emptyBody, .unreachable, .timedOut:
            .passing(retryAfter: nil)
        }
    }
}

extension StoredResponse {
    fileprivate init(_ refusal: UnusableResponse) {
        self.init(
            status: refusal.status, fields: refusal.headers, sent: [:], requestedAt: refusal.requestedAt,
            receivedAt: refusal.receivedAt)
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
        }
    }
}

extension OriginError.Phase {
    fileprivate var proxyError: ProxyStatus.Failure {
        switch self {
        case .waiting: .connectionLimitReached
        case .resolving: .dnsTimeout
        case .connecting: .connectionTimeout
        case .response: .httpResponseTimeout
        case .body: .httpResponseIncomplete
        }
    }
}
