import DarkroomNetwork
public import HTTPTypes

/// The cache directives of a request (RFC 9111 §5.2.1).
public struct RequestDirectives: Hashable, Sendable {
    /// `no-cache`: a stored response must be validated before it is used.
    public var noCache = false
    /// `no-store`: the response must not be stored.
    public var noStore = false
    /// `only-if-cached`: the origin must not be contacted.
    public var onlyIfCached = false
    /// `max-age`: the greatest age that the client accepts. Without `maxStale` it rejects stale responses too.
    public var maxAge: Duration?
    /// `min-fresh`: how long from now the response must stay fresh.
    public var minFresh: Duration?
    /// `max-stale`: how long the response may have been stale; ``unlimited`` if the client gives no value.
    public var maxStale: Duration?

    /// 2³¹ seconds, which is 68 years (RFC 9111 §1.2.2).
    public static let unlimited = DeltaSeconds.max

    public init() {}

    /// Reads a request's `Cache-Control`, or its `Pragma` if `Cache-Control` is missing (RFC 9111 §5.4). Malformed
    /// numbers are ignored. The first of several values of one directive counts.
    public init(_ fields: HTTPFields) {
        if let text = fields[.cacheControl] {
            for directive in DirectiveList(text) { apply(directive) }
        } else if let text = fields[.pragma] {
            noCache = DirectiveList(text).contains { $0.name == "no-cache" }
        }
    }

    private mutating func apply(_ directive: Directive) {
        switch directive.name {
        case "no-cache": noCache = true
        case "no-store": noStore = true
        case "only-if-cached": onlyIfCached = true
        case "max-age": maxAge = maxAge ?? directive.seconds
        case "min-fresh": minFresh = minFresh ?? directive.seconds
        case "max-stale":
            maxStale = maxStale ?? (directive.isFlag ? Self.unlimited : directive.seconds)
        default: break
        }
    }
}
