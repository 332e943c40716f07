import StructuredFieldValues

/// The cache directives of a response (RFC 9111 §5.2.2 and extensions).
struct CacheDirectives: Hashable, Sendable {
    /// The argument of a directive that takes a number of seconds.
    enum Seconds: Hashable, Sendable {
        case seconds(Duration)
        /// Malformed, negative or missing.
        case invalid

        /// Zero if the number is invalid: such a response should be considered stale (RFC 9111 §4.2.1).
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
    var maxAge: Seconds?
    var sharedMaxAge: Seconds?
    /// RFC 5861.
    var staleWhileRevalidate: Seconds?
    /// RFC 5861.
    var staleIfError: Seconds?

    /// No directives.
    init() {}

    /// Reads a `Cache-Control` field, its lines joined by commas.
    ///
    /// The first of several values of one directive counts (RFC 9111 §4.2.1). Field names of `no-cache` and `private`
    /// are ignored, so that these apply to the whole response, as RFC 9111 §5.2.2.4 allows. A malformed directive that
    /// restricts still restricts. A malformed directive that permits is ignored.
    init(parsing text: String) {
        for directive in DirectiveList(text) { apply(directive) }
    }

    /// Whether the response must not be served stale (RFC 9111 §4.2.4).
    var forbidStale: Bool { explicitlyForbidStale || sharedMaxAge != nil }

    /// The same without the effect of `s-maxage` (RFC 9111 §5.2.2.10): an origin that also states a stale window means
    /// that window to apply.
    var explicitlyForbidStale: Bool { mustRevalidate || proxyRevalidate || noCache }

    /// Whether the response must not be stored. `must-understand` overrides `no-store` in caches that understand the
    /// status (RFC 9111 §5.2.2.3), and the only status stored here, 200, is understood.
    var forbidStoring: Bool { noStore && !mustUnderstand }

    private mutating func apply(_ directive: Directive) {
        switch directive.name {
        case "no-store": noStore = true
        case "private": isPrivate = true
        case "no-cache": noCache = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "must-understand": mustUnderstand = mustUnderstand || directive.argument == .none
        case "immutable": isImmutable = isImmutable || directive.argument == .none
        case "max-age": maxAge = maxAge ?? Seconds(directive.argument)
        case "s-maxage": sharedMaxAge = sharedMaxAge ?? Seconds(directive.argument)
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? Seconds(directive.argument)
        case "stale-if-error": staleIfError = staleIfError ?? Seconds(directive.argument)
        default: break
        }
    }
}

extension CacheDirectives.Seconds {
    init(_ argument: Directive.Argument) {
        guard case .text(let text) = argument, let duration = DeltaSeconds.parse(text.utf8) else {
            self = .invalid
            return
        }
        self = .seconds(duration)
    }
}

extension CacheDirectives {
    /// Reads a `CDN-Cache-Control` field, its lines joined by commas (RFC 9213 §2.1).
    ///
    /// Nil if the field is empty, is not a dictionary (RFC 9651 §3.2), or has a value of the wrong type, so that
    /// `Cache-Control` counts instead. The last of several values of one directive counts. A field of more than 2048
    /// bytes is not parsed and forbids storing, since it may contain any restriction.
    init?(targeted text: String) {
        // Decoding takes quadratic time in the number of members, which makes long fields an attack.
        self.init()
        guard text.utf8.count <= Self.maxTargetedBytes else {
            noStore = true
            return
        }
        guard text.utf8.contains(where: { $0 != 0x20 }),
            let field = try? StructuredFieldValueDecoder().decode(TargetedField.self, from: Array(text.utf8))
        else { return nil }
        noStore = field.noStore ?? false
        isPrivate = field.isPrivate?.isSet ?? false
        noCache = field.noCache?.isSet ?? false
        mustRevalidate = field.mustRevalidate ?? false
        proxyRevalidate = field.proxyRevalidate ?? false
        mustUnderstand = field.mustUnderstand ?? false
        isImmutable = field.isImmutable ?? false
        maxAge = field.maxAge.map(Seconds.init)
        sharedMaxAge = field.sharedMaxAge.map(Seconds.init)
        staleWhileRevalidate = field.staleWhileRevalidate.map(Seconds.init)
        staleIfError = field.staleIfError.map(Seconds.init)
    }

    private static let maxTargetedBytes = 2_048
}

extension CacheDirectives.Seconds {
    fileprivate init(_ seconds: Int64) {
        self = seconds < 0 ? .invalid : .seconds(min(.seconds(seconds), DeltaSeconds.max))
    }
}

private struct TargetedField: StructuredFieldValue {
    static let structuredFieldType = StructuredFieldType.dictionary

    var noStore: Bool?
    var isPrivate: Restriction?
    var noCache: Restriction?
    var mustRevalidate: Bool?
    var proxyRevalidate: Bool?
    var mustUnderstand: Bool?
    var isImmutable: Bool?
    var maxAge: Int64?
    var sharedMaxAge: Int64?
    var staleWhileRevalidate: Int64?
    var staleIfError: Int64?

    enum CodingKeys: String, CodingKey {
        case noStore = "no-store"
        case isPrivate = "private"
        case noCache = "no-cache"
        case mustRevalidate = "must-revalidate"
        case proxyRevalidate = "proxy-revalidate"
        case mustUnderstand = "must-understand"
        case isImmutable = "immutable"
        case maxAge = "max-age"
        case sharedMaxAge = "s-maxage"
        case staleWhileRevalidate = "stale-while-revalidate"
        case staleIfError = "stale-if-error"
    }

    /// A directive that is a flag or a string of field names.
    struct Restriction: Codable {
        var isSet: Bool

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                isSet = flag
            } else {
                _ = try container.decode(String.self)
                isSet = true
            }
        }
    }
}
