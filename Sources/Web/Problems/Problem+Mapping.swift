import DarkroomHTTPCaching
import DarkroomPipeline
import DarkroomQuery
import DarkroomTransforms
import HTTPTypes

extension Problem {
    init(_ error: InvalidParameter) {
        self.init(.invalidParameter, error.detail, parameter: error.parameter)
    }

    init(_ error: InvalidSourceURL) {
        self.init(.invalidURL, error.detail, parameter: error.parameter)
    }

    init(_ error: AuthorizationError) {
        self.init(error.problemKind, error.detail, parameter: error.parameter)
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
        case .originFailed(let trouble): self.init(.originFailed, trouble.sentence)
        case .originTimedOut(let trouble): self.init(.originTimeout, trouble.sentence)
        case .originUnavailable(let seconds):
            self.init(
                .originUnavailable, "The origin's host failed so often that it is not asked for a while.",
                retryAfterSeconds: seconds)
        case .remembered(let error, let seconds): self = Problem(error).remembered(forSeconds: seconds)
        case .notCached:
            self.init(
                .notCached, "Only an answer from the cache was wanted, and there is none that may be used.")
        case .timedOut: self.init(.timeout, "The picture could not be made in the time that a request has.")
        case .overloaded(let seconds):
            self.init(.overloaded, "All workers are busy and the queue is full.", retryAfterSeconds: seconds)
        case .loop: self = .loop
        case .cancelled:
            self.init(.unavailable, "The server stopped before the picture was ready.", retryAfterSeconds: 1)
        case .failed: self = .internalError
        }
        proxyStatus = error.proxyStatus
    }

    /// The same, known from an earlier request and for so long to come.
    private func remembered(forSeconds seconds: Int) -> Problem {
        var problem = self
        problem.cacheStatus = CacheStatus(cache: "darkroom", .hit, ttl: seconds, detail: "failure")
        if kind.status.kind == .serverError { problem.retryAfterSeconds = seconds }
        return problem
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

    static let goingDown = Problem(
        .unavailable, "The server is going down and takes no new requests.", retryAfterSeconds: 1)

    static let unwell = Problem(
        .unavailable, "The processes that decode pictures end faster than they can be replaced.", retryAfterSeconds: 5)
    static let starting = Problem(
        .unavailable, "The server is not listening at all its ports yet.", retryAfterSeconds: 1)

    static let cacheUnavailable = Problem(
        .cacheUnavailable,
        "The volume or the folder of the disk cache fails: pictures are answered, but nothing is kept on disk.",
        retryAfterSeconds: 5)

    static let adminDisabled = Problem(
        .adminDisabled,
        "There is no admin token on this server; whoever runs it sets one with 'admin-token', or opens an 'admin-port'."
    )

    static let adminTokenWrong = Problem(
        .adminTokenWrong, "Send the admin token of this server as 'Authorization: Bearer TOKEN'.")

    static func refreshNotAllowed(_ mode: CacheMode) -> Problem {
        Problem(
            .refreshNotAllowed,
            "cache=\(mode.rawValue) has the origin asked, which takes the admin token as 'Authorization: Bearer TOKEN', "
                + "or the setting 'allow-forced-refresh' on this server.", parameter: "cache")
    }

    static let gpsNotAllowed = Problem(
        .gpsNotAllowed,
        "Where a picture was taken is told only by servers with the setting 'allow-gps'; leave 'gps' out on this one.",
        parameter: "gps")

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

extension AuthorizationError {
    fileprivate var problemKind: ProblemKind {
        switch self {
        case .invalidParameter: .invalidParameter
        case .signatureRequired: .signatureRequired
        case .signatureWrong: .signatureWrong
        case .signatureExpired: .signatureExpired
        case .presetsOnly, .presetNotAllowed: .presetsOnly
        case .sourceNotAllowed: .sourceNotAllowed
        }
    }
}
