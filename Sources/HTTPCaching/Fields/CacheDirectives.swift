/// What the response directives of RFC 9111 §5.2.2 and its extensions say to a cache.
struct CacheDirectives: Hashable, Sendable {
    /// A number of seconds that somebody wrote.
    enum Stated: Hashable, Sendable {
        case seconds(Duration)
        /// Not to be read, negative or missing.
        case invalid

        /// Zero where it is invalid: a cache had better take such a response for stale (RFC 9111 §4.2.1).
        var duration: Duration {
            switch self {
            case .seconds(let duration): duration
            case .invalid: .zero
            }
        }
    }

    var noStore = false
    var isPrivate = false
    var noCache = false
    var mustRevalidate = false
    var proxyRevalidate = false
    var mustUnderstand = false
    var isImmutable = false
    var maxAge: Stated?
    var sharedMaxAge: Stated?
    /// RFC 5861.
    var staleWhileRevalidate: Stated?
    /// RFC 5861.
    var staleIfError: Stated?

    /// Nothing said.
    init() {}

    /// Reads a `Cache-Control` field, its lines joined by commas.
    ///
    /// Of several numbers of one name the first counts (RFC 9111 §4.2.1). `no-cache` and `private` that name fields count
    /// as if they named none, which RFC 9111 §5.2.2.4 allows. A malformed restriction restricts; a malformed directive
    /// that would loosen anything does not.
    init(parsing text: String) {
        for directive in DirectiveList(text) { note(directive) }
    }

    /// Whether a response must never be used stale without asking the origin (RFC 9111 §4.2.4).
    var forbidStale: Bool { forbidStaleOutright || sharedMaxAge != nil }

    /// The same without what `s-maxage` brings along (RFC 9111 §5.2.2.10): an origin that names a window beside it has
    /// thought of staleness, and means the window.
    var forbidStaleOutright: Bool { mustRevalidate || proxyRevalidate || noCache }

    /// Whether nobody may keep it. `must-understand` lifts `no-store` for who understands the status (RFC 9111 §5.2.2.3),
    /// and the one status that is kept here, 200, is understood.
    var forbidStoring: Bool { noStore && !mustUnderstand }

    private mutating func note(_ directive: Directive) {
        switch directive.name {
        case "no-store": noStore = true
        case "private": isPrivate = true
        case "no-cache": noCache = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "must-understand": mustUnderstand = mustUnderstand || directive.argument == .none
        case "immutable": isImmutable = isImmutable || directive.argument == .none
        case "max-age": maxAge = maxAge ?? Stated(directive.argument)
        case "s-maxage": sharedMaxAge = sharedMaxAge ?? Stated(directive.argument)
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? Stated(directive.argument)
        case "stale-if-error": staleIfError = staleIfError ?? Stated(directive.argument)
        default: break
        }
    }
}

extension CacheDirectives.Stated {
    init(_ argument: Directive.Argument) {
        guard case .text(let text) = argument, let duration = DeltaSeconds.parse(text.utf8) else {
            self = .invalid
            return
        }
        self = .seconds(duration)
    }
}
