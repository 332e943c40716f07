import HTTPTypes

/// Everything that can go wrong, as clients see it. The raw value names the kind for ever; words may change.
enum ProblemKind: String, CaseIterable, Sendable {
    case invalidParameter = "invalid-parameter"
    case invalidURL = "invalid-url"
    case invalidBody = "invalid-body"
    case sourceNotAllowed = "source-not-allowed"
    case refreshNotAllowed = "refresh-not-allowed"
    case gpsNotAllowed = "gps-not-allowed"
    case adminDisabled = "admin-disabled"
    case adminTokenWrong = "admin-token-wrong"
    case signatureRequired = "signature-required"
    case signatureWrong = "signature-wrong"
    case signatureExpired = "signature-expired"
    case presetsOnly = "presets-only"
    case sourceNotFound = "source-not-found"
    case noSuchRoute = "no-such-route"
    case noSuchJob = "no-such-job"
    case methodNotAllowed = "method-not-allowed"
    case sourceTooLarge = "source-too-large"
    case bodyTooLarge = "body-too-large"
    case targetTooLong = "target-too-long"
    case unsupportedImage = "unsupported-image"
    case unsupportedBody = "unsupported-body"
    case corruptImage = "corrupt-image"
    case internalError = "internal-error"
    case originFailed = "origin-failed"
    case originUnavailable = "origin-unavailable"
    case overloaded = "overloaded"
    case unavailable = "unavailable"
    case cacheUnavailable = "cache-unavailable"
    case originTimeout = "origin-timeout"
    case timeout = "timeout"
    case notCached = "not-cached"
    case loop = "loop"

    /// RFC 9457 §3.1.1: a reference, relative to the server, that is the same for every problem of the kind.
    var type: String { "/problems/\(rawValue)" }

    /// RFC 9457 §3.1.3: the same for every problem of the kind.
    var title: String {
        switch self {
        case .invalidParameter: "A query parameter is not valid"
        case .invalidURL: "The source's URL is not valid"
        case .invalidBody: "The body is not valid"
        case .sourceNotAllowed: "The source is not allowed"
        case .refreshNotAllowed: "The origin is not asked for everybody"
        case .gpsNotAllowed: "Positions are not told here"
        case .adminDisabled: "Administration is switched off"
        case .adminTokenWrong: "The admin token is missing or wrong"
        case .signatureRequired: "A signature is needed"
        case .signatureWrong: "The signature is wrong"
        case .signatureExpired: "The signed address has expired"
        case .presetsOnly: "Pictures are made by presets alone"
        case .sourceNotFound: "The origin has no such picture"
        case .noSuchRoute: "There is nothing at this path"
        case .noSuchJob: "There is no such job"
        case .methodNotAllowed: "The method is not allowed here"
        case .sourceTooLarge: "The source is too large"
        case .bodyTooLarge: "The body is too large"
        case .targetTooLong: "The request target is too long"
        case .unsupportedImage: "The source is not a supported image"
        case .unsupportedBody: "The body is of another type"
        case .corruptImage: "The source is a damaged image"
        case .internalError: "Something failed on this server"
        case .originFailed: "The origin failed"
        case .originUnavailable: "The origin is left alone for a while"
        case .overloaded: "The server is busy"
        case .unavailable: "The server is starting or going down"
        case .cacheUnavailable: "The disk cache fails"
        case .originTimeout: "The origin took too long"
        case .timeout: "The picture took too long"
        case .notCached: "The picture is not cached"
        case .loop: "The request came back to this server"
        }
    }

    var status: HTTPResponse.Status {
        switch self {
        case .invalidParameter, .invalidURL, .invalidBody: .badRequest
        case .sourceNotAllowed, .refreshNotAllowed, .gpsNotAllowed, .adminDisabled: .forbidden
        case .signatureRequired, .signatureWrong, .signatureExpired, .presetsOnly: .forbidden
        case .adminTokenWrong: .unauthorized
        case .sourceNotFound, .noSuchRoute, .noSuchJob: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .sourceTooLarge, .bodyTooLarge: .contentTooLarge
        case .targetTooLong: .uriTooLong
        case .unsupportedImage, .unsupportedBody: .unsupportedMediaType
        case .corruptImage: .unprocessableContent
        case .internalError: .internalServerError
        case .originFailed: .badGateway
        case .originUnavailable, .overloaded, .unavailable, .cacheUnavailable: .serviceUnavailable
        case .originTimeout, .timeout, .notCached: .gatewayTimeout
        case .loop: HTTPResponse.Status(code: 508, reasonPhrase: "Loop Detected")
        }
    }
}
