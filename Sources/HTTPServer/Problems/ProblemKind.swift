package import HTTPTypes

/// A kind of failure that clients can distinguish. Kinds are static members, so that each module declares its own. This
/// file has the kinds of HTTP itself.
package struct ProblemKind: Sendable {
    /// The permanent identifier, such as `target-too-long`. Metrics and logs use it too.
    package let slug: String
    package let status: HTTPResponse.Status
    /// A short summary, identical for all problems of the kind (RFC 9457 §3.1.3).
    package let title: String
    /// Why the problem occurs, in a sentence or two for the sender of the request.
    package let cause: String
    /// What to do about it.
    package let remedy: String

    package init(
        _ slug: String, _ status: HTTPResponse.Status, title: String, cause: String, remedy: String
    ) {
        self.slug = slug
        self.status = status
        self.title = title
        self.cause = cause
        self.remedy = remedy
    }

    /// The URI reference that identifies the kind (RFC 9457 §3.1.1), relative to the server. It leads to a page about
    /// the kind.
    package var type: String { "/problems/\(slug)" }
}

extension ProblemKind: Hashable {
    package static func == (one: ProblemKind, other: ProblemKind) -> Bool { one.slug == other.slug }

    package func hash(into hasher: inout Hasher) { hasher.combine(slug) }
}

extension ProblemKind: CustomStringConvertible {
    package var description: String { slug }
}

extension ProblemKind {
    package static let invalidBody = ProblemKind(
        "invalid-body", .badRequest, title: "The body is not valid",
        cause:
            "The request body is incomplete or empty, not JSON or a form as the endpoint expects it, or asks for "
            + "something impossible.",
        remedy: "The detail says what is wrong, and names the faulty member of JSON. Correct the body.")

    package static let noSuchRoute = ProblemKind(
        "no-such-route", .notFound, title: "There is nothing at this path",
        cause: "The server has no endpoint with this path, or not on this port.",
        remedy: "Images are at /image. /openapi.yaml describes all paths.")

    package static let methodNotAllowed = ProblemKind(
        "method-not-allowed", .methodNotAllowed, title: "The method is not allowed here",
        cause: "The path exists, but does not support this method.",
        remedy: "Use one of the methods in the response's 'Allow' field.")

    package static let bodyTooLarge = ProblemKind(
        "body-too-large", .contentTooLarge, title: "The body is too large",
        cause: "The request body exceeds the size limit of this endpoint.", remedy: "Send several smaller requests.")

    package static let targetTooLong = ProblemKind(
        "target-too-long", .uriTooLong, title: "The request target is too long",
        cause: "Path and query together exceed the length limit.", remedy: "Shorten the source's URL.")

    package static let unsupportedBody = ProblemKind(
        "unsupported-body", .unsupportedMediaType, title: "The body's media type is not supported",
        cause: "The request body is not declared as a media type that the endpoint reads, or is compressed.",
        remedy:
            "Send JSON with 'Content-Type: application/json' to /prefetch, and to /image an image with its type or a "
            + "form as 'multipart/form-data', without a Content-Encoding.")

    package static let rateLimited = ProblemKind(
        "rate-limited", .tooManyRequests, title: "Too many requests from this client",
        cause:
            "The client exceeded the request rate that the server's operator allows. Clients are identified by "
            + "their IPv4 address or IPv6 /64 network.",
        remedy:
            "Wait for the number of seconds in 'Retry-After', or raise 'rate-limit' on the server. If all clients are "
            + "affected at once, they share a proxy that 'trusted-proxies' does not list.")

    package static let malformedRequest = ProblemKind(
        "malformed-request", .badRequest, title: "The request is not valid HTTP",
        cause:
            "The bytes received are not an HTTP/1.1 request, or could be interpreted differently by two servers, "
            + "which enables request smuggling.",
        remedy:
            "Use another client, or contact the operator of the proxy in between: one of them sends malformed requests."
    )

    package static let headTooLarge = ProblemKind(
        "head-too-large", .requestHeaderFieldsTooLarge, title: "The request's header fields are too large",
        cause: "There are too many header fields, or they are too long. Cookies are the usual reason.",
        remedy: "Send fewer or shorter header fields. This server needs no cookies.")

    package static let internalError = ProblemKind(
        "internal-error", .internalServerError, title: "Something failed on this server",
        cause: "An unexpected error occurred on the server.",
        remedy:
            "Retry. If the problem persists, report the request id in the problem's 'instance' to the server's "
            + "operator: the log has more details under it.")

    package static let unavailable = ProblemKind(
        "unavailable", .serviceUnavailable, title: "The server is starting or shutting down",
        cause: "The server is not ready to accept requests.",
        remedy: "Retry after the number of seconds in 'Retry-After'.")
}
