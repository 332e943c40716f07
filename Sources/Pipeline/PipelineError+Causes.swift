import Origin
import Transforms

extension PipelineError {
    init(_ error: OriginError) {
        self =
            switch error {
            case .invalidURL(let reason): .invalidURL(reason.description)
            case .notAllowed: .notAllowed(error.description)
            case .notFound, .localNotFound: .notFound
            case .emptyBody: .unsupported
            case .tooLarge: .tooLarge(error.description)
            case .timedOut: .originTimedOut
            case .loop: .loop
            case .cancelled: .cancelled
            case .tooManyRedirects, .badRedirect, .refusedStatus, .unacceptableEncoding, .unreachable:
                .originFailed(error.description)
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
}
