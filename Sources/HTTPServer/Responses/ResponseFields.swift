package import HTTPTypes

extension HTTPField.Name {
    /// `Cache-Status` (RFC 9211).
    package static let cacheStatus = known("Cache-Status")
    /// `Forwarded` (RFC 7239).
    static let forwarded = known("Forwarded")
    /// `Referrer-Policy` (W3C Referrer Policy).
    package static let referrerPolicy = known("Referrer-Policy")
    /// `Sec-Fetch-Dest` (Fetch Metadata).
    package static let secFetchDest = known("Sec-Fetch-Dest")
    /// `traceparent` and `tracestate` (W3C Trace Context).
    static let traceParent = known("traceparent")
    static let traceState = known("tracestate")
    /// `X-Forwarded-For`, the de facto predecessor of `Forwarded`.
    static let xForwardedFor = known("X-Forwarded-For")
    /// `X-Request-Id`: the request's id in logs and problem documents.
    package static let requestID = known("X-Request-Id")

    /// A field name that HTTPTypes does not define. The text must be a valid token.
    package static func known(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("'\(text)' is not a valid field name") }
        return name
    }
}

extension HTTPFields {
    /// Adds the fields that make any response inert in browsers, unless the response sets them itself.
    ///
    /// - Parameter isEmbeddable: see ``permitEmbedding()``.
    mutating func addBrowserProtection(isEmbeddable: Bool = false) {
        if isEmbeddable, self[.crossOriginResourcePolicy] == nil { permitEmbedding() }
        for field in Self.browserProtection where self[field.name] == nil { append(field) }
    }

    /// Lets pages of other sites load the response. Without it, browsers show the failure of an `<img>` of another site
    /// as `ERR_BLOCKED_BY_RESPONSE.NotSameOrigin`, without its status and body, and do not follow its redirect (Fetch
    /// Standard §3.7).
    package mutating func permitEmbedding() { self[.crossOriginResourcePolicy] = "cross-origin" }

    /// No content sniffing, no scripts or subresources, no embedding by other sites, and no leak of URLs, which may
    /// contain signatures, through `Referer`.
    private static let browserProtection: HTTPFields = [
        .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; sandbox",
        .crossOriginResourcePolicy: "same-origin", .referrerPolicy: "no-referrer",
    ]
}
