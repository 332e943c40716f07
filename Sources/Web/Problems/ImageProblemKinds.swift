import DarkroomHTTPServer
import DarkroomTransforms
import HTTPTypes

extension ProblemKind {
    /// All kinds that the server reports, in the order of the contract.
    static let all: [ProblemKind] = [
        .invalidParameter, .invalidURL, .invalidBody, .sourceNotAllowed, .refreshNotAllowed, .gpsNotAllowed,
        .uploadsDisabled, .iiifDisabled, .adminDisabled, .adminTokenWrong, .signatureRequired, .signatureWrong,
        .signatureExpired, .presetsOnly, .originRefused, .sourceNotFound, .sourceGone, .urlExpired, .noSuchRoute,
        .noSuchJob, .methodNotAllowed,
        .sourceTooLarge, .bodyTooLarge, .targetTooLong, .unsupportedImage, .unsupportedBody, .corruptImage,
        .rateLimited, .quotaExceeded, .malformedRequest, .headTooLarge, .internalError, .originFailed,
        .originBusy, .originUnavailable, .overloaded, .unavailable, .cacheUnavailable, .purgeNotShared, .originTimeout,
        .timeout,
        .notCached, .loop,
    ]
}

// MARK: - The request

extension ProblemKind {
    static let invalidParameter = ProblemKind(
        "invalid-parameter", .badRequest, title: "A parameter is not valid",
        cause:
            "A parameter of the query or of the path is unknown, repeated, out of range for this server or for the "
            + "image, or has a value of the wrong form.",
        remedy: "The detail names the parameter and its allowed values. Correct it; a retry will not help.")

    static let invalidURL = ProblemKind(
        "invalid-url", .badRequest, title: "The source's URL is not valid",
        cause: "The source is not an absolute URL, or its scheme is not supported.",
        remedy:
            "Pass 'url' as an absolute http, https or s3 URL, percent-encoded as a whole so that its own '&' and '#' "
            + "do not end it.")

    static let gpsNotAllowed = ProblemKind(
        "gps-not-allowed", .forbidden, title: "GPS positions are not disclosed",
        cause: "The request asks where an image was taken, which this server does not disclose.",
        remedy: "Remove 'gps', or enable 'allow-gps' on the server.")

    static let uploadsDisabled = ProblemKind(
        "uploads-disabled", .forbidden, title: "Uploads are disabled",
        cause: "The request has an image in its body, and this server transforms only images that it fetches itself.",
        remedy: "Send GET with 'url', or enable 'uploads' on the server.")

    static let iiifDisabled = ProblemKind(
        "iiif-disabled", .forbidden, title: "The IIIF Image API is disabled",
        cause: "The path is one of the IIIF Image API, which this server does not serve.",
        remedy: "Use '/image', or enable 'iiif' on the server.")

    static let refreshNotAllowed = ProblemKind(
        "refresh-not-allowed", .forbidden, title: "Forced refresh is not allowed",
        cause:
            "The request asks to contact the origin even if a fresh response is cached. Without restriction, "
            + "clients could overload an origin that way.",
        remedy: "Remove 'cache', or send the admin token as 'Authorization: Bearer TOKEN'.")

    static let noSuchJob = ProblemKind(
        "no-such-job", .notFound, title: "There is no such job",
        cause: "No prefetch job has this id: it never existed, or it finished more than an hour ago.",
        remedy: "Post the job again: images that it has cached are found immediately.")

    static let loop = ProblemKind(
        "loop", HTTPResponse.Status(code: 508, reasonPhrase: "Loop Detected"),
        title: "The request looped back to this server",
        cause: "The source leads back to this server, directly or through other servers.",
        remedy: "Pass the URL of the original image instead of one of this server's URLs.")
}

// MARK: - Access

extension ProblemKind {
    static let adminDisabled = ProblemKind(
        "admin-disabled", .forbidden, title: "Administration is disabled",
        cause: "Administrative endpoints are disabled, because the server has no admin token.",
        remedy:
            "Set 'admin-token', or serve administration on a separate port with 'admin-port', and restart the server.")

    static let adminTokenWrong = ProblemKind(
        "admin-token-wrong", .unauthorized, title: "The admin token is missing or wrong",
        cause: "The request has no admin token, or a wrong one.",
        remedy: "Send the server's admin token as 'Authorization: Bearer TOKEN'.")

    static let signatureRequired = ProblemKind(
        "signature-required", .forbidden, title: "A signature is required",
        cause: "This server accepts only requests signed with one of its keys, and this request is not signed.",
        remedy:
            "Sign the URL, for example with 'darkroom sign'; the documentation shows how to sign URLs in other "
            + "programs. Requests with the admin token need no signature.")

    static let signatureWrong = ProblemKind(
        "signature-wrong", .forbidden, title: "The signature is invalid",
        cause:
            "The signature does not match the request: a parameter was added, removed or changed after signing, or "
            + "the key is unknown to this server.",
        remedy:
            "Sign exactly the request that is sent: its path, and all decoded parameters except 's'. Check that "
            + "'s' names a key of this server, and that nothing in between rewrites URLs.")

    static let signatureExpired = ProblemKind(
        "signature-expired", .forbidden, title: "The signed URL has expired",
        cause: "The request was signed with an expiry time that has passed.",
        remedy:
            "Get a new URL from its issuer. 'exp' is in seconds since 1970; check that the clocks of both systems "
            + "agree."
    )

    static let urlExpired = ProblemKind(
        "url-expired", .notFound, title: "The URL has expired",
        cause: "The path is one of another service, and has an expiry time that has passed.",
        remedy: "Get a new URL from its issuer. Check that the clocks of both systems agree.")

    static let presetsOnly = ProblemKind(
        "presets-only", .forbidden, title: "Only presets are allowed",
        cause: "This server, or the signing key, allows only the server's presets instead of individual parameters.",
        remedy: "Pass only 'url' and 'preset'. The operator of the server defines presets with 'presets'.")

    static let quotaExceeded = ProblemKind(
        "quota-exceeded", .tooManyRequests, title: "The quota of the signing key is used up",
        cause:
            "The requests signed with this key have used more image processing, or more bytes of responses, than the "
            + "server's operator allows the key in a period. Cached images are refused too.",
        remedy:
            "Wait for the number of seconds in 'Retry-After', which is never longer than the period. The operator "
            + "sets 'processor' and 'egress' of each key.")

    static let sourceNotAllowed = ProblemKind(
        "source-not-allowed", .forbidden, title: "The source is not allowed",
        cause:
            "The server may not contact the source's host, port or address, or may not read the object. Private and "
            + "other special-purpose addresses are forbidden unless the operator allows them.",
        remedy:
            "Use a public address. If you operate both the source and this server, see 'allow-hosts', 'allow-ports', "
            + "'allow-networks', 's3-sources' and 'local-root'.")
}

// MARK: - The source

extension ProblemKind {
    static let sourceNotFound = ProblemKind(
        "source-not-found", .notFound, title: "The origin has no such image",
        cause:
            "The origin responded with 404, or the local file does not exist. The failure is cached for a while.",
        remedy:
            "Check the URL in a browser. Once the image exists, requests succeed after the cached failure expires, or "
            + "immediately with 'cache=reload'.")

    static let sourceGone = ProblemKind(
        "source-gone", .gone, title: "The origin has removed the image",
        cause: "The origin responded with 410: the image was there and will not return. The failure is cached.",
        remedy: "Remove the URL from the page that requests it.")

    static let originRefused = ProblemKind(
        "origin-refused", .forbidden, title: "The origin denies access to the image",
        cause:
            "The origin responded with 401, 403 or another client error, and would deny the same request again.",
        remedy:
            "Check that the image is public. An origin may deny requests without a login, or from programs that are "
            + "not browsers. The failure is cached only for seconds.")

    static let sourceTooLarge = ProblemKind(
        "source-too-large", .contentTooLarge, title: "The source is too large",
        cause:
            "The source exceeds a limit of this server on bytes, pixels, frames or processor time, and the request "
            + "does not ask for less.",
        remedy:
            "Use a smaller source, or request a smaller image with 'w' or 'h'; for animations and documents, request "
            + "fewer frames with 'n', and 'pick=even' to keep the duration of an animation. The limits are "
            + "'max-source-bytes', 'max-source-pixels', 'max-animation-pixels', 'max-output-side', 'max-output-pixels' "
            + "and 'max-processing-time'.")

    static let unsupportedImage = ProblemKind(
        "unsupported-image", .unsupportedMediaType, title: "The source is not a supported image",
        cause: "The source's bytes are not an image in a supported format. File names and content types are ignored.",
        remedy:
            "Use \(SourceFormat.names). Check that the URL leads to an "
            + "image rather than to an HTML page about it.")

    static let corruptImage = ProblemKind(
        "corrupt-image", .unprocessableContent, title: "The source is a corrupt image",
        cause:
            "The source looks like an image but could not be decoded completely: it is corrupt, truncated or of "
            + "another format than it claims.",
        remedy:
            "Open the source in an image editor and save it again, or upload it again. Then request it with "
            + "'cache=reload', or wait until the cached failure expires.")

    static let originFailed = ProblemKind(
        "origin-failed", .badGateway, title: "The origin failed",
        cause:
            "The origin was unreachable, closed the connection early, or responded with something other than an image.",
        remedy:
            "The detail describes the origin's response. Check that it serves the image; the failure is cached "
            + "only for seconds. If this server is not configured correctly, or a name leads to an address that "
            + "'allow-networks' does not allow, its log says so.")

    static let originBusy = ProblemKind(
        "origin-busy", .serviceUnavailable, title: "The origin limits requests",
        cause: "The origin responded with 429: it gets more requests than it accepts. Other sources are not affected.",
        remedy:
            "Retry after the number of seconds in 'Retry-After', which is the origin's, at most 300. If you operate "
            + "the origin, let this server send more requests.")

    static let originUnavailable = ProblemKind(
        "origin-unavailable", .serviceUnavailable, title: "The origin is temporarily not contacted",
        cause: "The origin's host failed repeatedly, so its circuit breaker is open.",
        remedy: "Retry after the number of seconds in 'Retry-After'.")

    static let originTimeout = ProblemKind(
        "origin-timeout", .gatewayTimeout, title: "The origin took too long",
        cause: "The origin did not deliver the source in time.",
        remedy: "Retry later. The limits are 'connect-timeout' and 'download-timeout'.")
}

// MARK: - The server

extension ProblemKind {
    static let overloaded = ProblemKind(
        "overloaded", .serviceUnavailable, title: "The server is busy",
        cause: "All workers are busy and the queue is full.",
        remedy: "Retry after the number of seconds in 'Retry-After'.")

    static let cacheUnavailable = ProblemKind(
        "cache-unavailable", .serviceUnavailable, title: "The disk cache is failing",
        cause:
            "The directory of the disk cache cannot be read or written, or is missing. Images are still served, "
            + "but nothing is stored on disk.",
        remedy:
            "Let the load balancer use other servers, and check the volume of 'cache-dir': the log has the error. "
            + "The server recovers automatically when the volume does.")

    static let purgeNotShared = ProblemKind(
        "purge-not-shared", .serviceUnavailable, title: "The purge did not reach the other servers",
        cause:
            "This server carried out the purge, but could not write it to the shared store, from which other servers "
            + "read it.",
        remedy: "Repeat the purge until it succeeds. The operator's log has the store's error; see 'shared-store'.")

    static let timeout = ProblemKind(
        "timeout", .gatewayTimeout, title: "The image took too long",
        cause: "Downloading, queueing and processing together exceeded the time limit of a request.",
        remedy:
            "Retry, or request less: fewer frames, a smaller image, a faster format. The limit is 'request-timeout'.")

    static let notCached = ProblemKind(
        "not-cached", .gatewayTimeout, title: "The image is not cached",
        cause: "The request accepts only a cached response ('only-if-cached'), and there is no usable one.",
        remedy: "Request the image without 'only-if-cached'.")
}
