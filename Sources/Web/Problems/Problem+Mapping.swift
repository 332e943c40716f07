import HTTPTypes
import Pipeline
import Transforms

extension Problem {
    init(_ error: InvalidParameter) {
        self.init(.invalidParameter, error.detail, parameter: error.parameter)
    }

    /// Every way in which the pipeline ends without a picture.
    init(_ error: PipelineError) {
        switch error {
        case .invalidURL(let text): self.init(.invalidURL, text, parameter: "url")
        case .badParameter(let error): self.init(error)
        case .notAllowed(let text): self.init(.sourceNotAllowed, text, parameter: "url")
        case .notFound: self.init(.sourceNotFound, "The origin has no picture at this URL.", parameter: "url")
        case .tooLarge(let text): self.init(.sourceTooLarge, text)
        case .unsupported:
            self.init(
                .unsupportedImage,
                "The bytes are none of JPEG, PNG, WebP, GIF, AVIF, HEIC, JPEG XL, TIFF and SVG, "
                    + "whatever their name says."
            )
        case .corrupt: self.init(.corruptImage, "The source is damaged, cut off, or not what it claims to be.")
        case .originFailed(let text): self.init(.originFailed, text)
        case .originTimedOut: self.init(.originTimeout, "The origin did not deliver the source in time.")
        case .timedOut: self.init(.timeout, "The picture could not be made in the time that a request has.")
        case .overloaded(let seconds):
            self.init(.overloaded, "All workers are busy and the queue is full.", retryAfterSeconds: seconds)
        case .loop: self = .loop
        case .cancelled:
            self.init(.unavailable, "The server stopped before the picture was ready.", retryAfterSeconds: 1)
        case .failed: self = .internalError
        }
    }

    /// The reason is part of a sentence that begins with what was given.
    private init(_ error: TransformError) {
        self.init(
            .invalidParameter, "The parameter '\(error.parameter)' cannot be followed: \(error.reason).",
            parameter: error.parameter)
    }

    static let loop = Problem(
        .loop, "The request has come through this server already, so the source leads back to it.")

    static let internalError = Problem(.internalError, "The failure was logged under the instance given here.")

    static func noSuchRoute() -> Problem {
        Problem(.noSuchRoute, "Pictures are at /image; /openapi.yaml describes everything there is.")
    }

    static func methodNotAllowed(_ method: HTTPRequest.Method, allow: [HTTPRequest.Method]) -> Problem {
        let allowed = allow.map(\.rawValue).joined(separator: ", ")
        var problem = Problem(
            .methodNotAllowed,
            "\(InvalidParameter.clipped(method.rawValue)) is not allowed here; allowed are \(allowed).")
        problem.allow = allow
        return problem
    }
}
