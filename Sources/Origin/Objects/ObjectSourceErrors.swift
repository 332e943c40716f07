import DarkroomObjectStorage
import Foundation

extension OriginError {
    /// Maps the error of an object store to an origin error. The result names neither bucket nor endpoint.
    init(_ error: ObjectStorageError, requestedAt: Date) {
        func status(_ status: Int) -> UnusableResponse {
            UnusableResponse(status: status, requestedAt: requestedAt, receivedAt: Date())
        }
        self =
            switch error {
            case _ where error.isAboutConfiguration: .unreachable(.configuration)
            case .notFound: .notFound(status(404))
            case .forbidden: .unexpectedStatus(status(403))
            case .slowDown: .unexpectedStatus(status(503))
            case .unavailable(let code, _), .refused(let code, _): .unexpectedStatus(status(code))
            case .tooLarge(let limitBytes): .tooLarge(limitBytes: limitBytes)
            case .timedOut(.body): .timedOut(.body)
            case .timedOut: .timedOut(.response)
            case .unreachable(let stage): .unreachable(Stage(stage))
            case .canceled: .cancelled
            case .invalidRequest, .credentials, .noSuchBucket, .redirected, .notS3: .unreachable(.configuration)
            }
    }
}

extension OriginError.Stage {
    fileprivate init(_ stage: ObjectStorageError.Stage) {
        self =
            switch stage {
            case .dns: .dns
            case .refused: .refused
            case .connect: .connect
            case .tls: .tls
            case .certificate: .certificate
            case .reset: .reset
            case .incomplete: .incomplete
            case .malformed: .malformed
            }
    }
}

extension ObjectStorageError {
    /// Whether the operator of this server has to change something before any object can be read.
    var isAboutConfiguration: Bool {
        switch self {
        case .credentials(let error): error != .canceled
        case .invalidRequest, .noSuchBucket, .redirected, .notS3: true
        case .forbidden(let code), .refused(_, let code): code.map { Self.faultCodes.contains($0.description) } ?? false
        default: false
        }
    }

    /// The codes for requests that are not signed as the store requires.
    private static let faultCodes: Set = [
        "AuthorizationHeaderMalformed", "ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "NotSignedUp",
        "RequestTimeTooSkewed", "SignatureDoesNotMatch",
    ]
}
