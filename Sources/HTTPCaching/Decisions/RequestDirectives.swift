import DarkroomNetwork
public import HTTPTypes

/// What a client's own cache directives ask for (RFC 9111 §5.2.1).
public struct RequestDirectives: Hashable, Sendable {
    /// Nothing without asking the origin.
    public var noCache = false
    /// Nothing is to be kept.
    public var noStore = false
    /// The origin is not to be asked.
    public var onlyIfCached = false
    /// The oldest that the client takes. Without `maxStale` it takes nothing stale either.
    public var maxAge: Duration?
    /// For how long from now on the answer has to be fresh.
    public var minFresh: Duration?
    /// How long an answer may have been stale; `unlimited` where the client names no time.
    public var maxStale: Duration?

    /// No wishes.
    public static let none = RequestDirectives()
    /// 68 years.
    public static let unlimited = DeltaSeconds.longest

    /// No wishes.
    public init() {}

    /// Reads a request's `Cache-Control`, or where there is none its `Pragma` (RFC 9111 §5.4). Numbers that cannot be read
    /// are as good as absent; of several of one name the first counts.
    public init(_ fields: HTTPFields) {
        if let text = fields[.cacheControl] {
            for directive in DirectiveList(text) { note(directive) }
        } else if let text = fields[.pragma] {
            noCache = DirectiveList(text).contains { $0.name == "no-cache" }
        }
    }

    private mutating func note(_ directive: Directive) {
        switch directive.name {
        case "no-cache": noCache = true
        case "no-store": noStore = true
        case "only-if-cached": onlyIfCached = true
        case "max-age": maxAge = maxAge ?? Self.seconds(directive)
        case "min-fresh": minFresh = minFresh ?? Self.seconds(directive)
        case "max-stale":
            maxStale = maxStale ?? (directive.argument == .none ? Self.unlimited : Self.seconds(directive))
        default: break
        }
    }

    private static func seconds(_ directive: Directive) -> Duration? {
        guard case .seconds(let duration) = CacheDirectives.Stated(directive.argument) else { return nil }
        return duration
    }
}
