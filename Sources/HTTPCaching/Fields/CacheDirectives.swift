import DarkroomNetwork
public import Foundation
public import HTTPTypes
import StructuredFieldValues

/// The cache directives of a response (RFC 9111 §5.2.2 and extensions).
struct CacheDirectives: Hashable, Sendable {
    /// The argument of a directive that takes a number of seconds.
    enum Seconds: Hashable, Encodable, Sendable {
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
        switch CodingKeys(rawValue: directive.name) {
        case .noStore: noStore = true
        case .isPrivate: isPrivate = true
        case .noCache: noCache = true
        case .mustRevalidate: mustRevalidate = true
        case .proxyRevalidate: proxyRevalidate = true
        case .mustUnderstand: mustUnderstand = mustUnderstand || directive.isFlag
        case .isImmutable: isImmutable = isImmutable || directive.isFlag
        case .maxAge: maxAge = maxAge ?? Seconds(directive)
        case .sharedMaxAge: sharedMaxAge = sharedMaxAge ?? Seconds(directive)
        case .staleWhileRevalidate: staleWhileRevalidate = staleWhileRevalidate ?? Seconds(directive)
        case .staleIfError: staleIfError = staleIfError ?? Seconds(directive)
        case nil: break
        }
    }

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
}

extension CacheDirectives.Seconds {
    init(_ directive: Directive) { self = directive.seconds.map(Self.seconds) ?? .invalid }
}

extension CacheDirectives: StructuredFieldValue {
    static let structuredFieldType = StructuredFieldType.dictionary

    /// Reads a `CDN-Cache-Control` field, its lines joined by commas (RFC 9213 §2.1).
    ///
    /// Nil if the field is empty, is not a dictionary (RFC 9651 §3.2), or has a value of the wrong type, so that
    /// `Cache-Control` counts instead. The last of several values of one directive counts. A field of more than 2048
    /// bytes is not parsed and forbids storing, since it may contain any restriction.
    init?(targeted text: String) {
        // Decoding takes quadratic time in the number of members, which makes long fields an attack.
        guard text.utf8.count <= Self.maxTargetedBytes else {
            self.init()
            noStore = true
            return
        }
        guard text.utf8.contains(where: { $0 != 0x20 }),
            let directives = try? StructuredFieldValueDecoder().decode(Self.self, from: Array(text.utf8))
        else { return nil }
        self = directives
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func flag(_ key: CodingKeys) throws -> Bool { try fields.decodeIfPresent(Bool.self, forKey: key) ?? false }
        // A flag or a string of field names.
        func restriction(_ key: CodingKeys) throws -> Bool {
            if let flag = try? fields.decodeIfPresent(Bool.self, forKey: key) { return flag }
            return try fields.decodeIfPresent(String.self, forKey: key) != nil
        }
        func seconds(_ key: CodingKeys) throws -> Seconds? {
            let seconds = try fields.decodeIfPresent(Int64.self, forKey: key)
            return seconds.map { $0 < 0 ? .invalid : .seconds(min(.seconds($0), DeltaSeconds.max)) }
        }
        noStore = try flag(.noStore)
        isPrivate = try restriction(.isPrivate)
        noCache = try restriction(.noCache)
        mustRevalidate = try flag(.mustRevalidate)
        proxyRevalidate = try flag(.proxyRevalidate)
        mustUnderstand = try flag(.mustUnderstand)
        isImmutable = try flag(.isImmutable)
        maxAge = try seconds(.maxAge)
        sharedMaxAge = try seconds(.sharedMaxAge)
        staleWhileRevalidate = try seconds(.staleWhileRevalidate)
        staleIfError = try seconds(.staleIfError)
    }

    private static let maxTargetedBytes = 2_048
}

/// `delta-seconds`: a number of seconds in a caching field (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// 2³¹ seconds, which is 68 years. Greater numbers mean this.
    static let max = Duration.seconds(Int64(1) << 31)

    /// Reads decimal digits. Returns nil for anything else.
    static func parse(_ text: some Collection<UInt8>) -> Duration? {
        guard !text.isEmpty else { return nil }
        var seconds: Int64 = 0
        for byte in text {
            guard byte.isASCIIDigit else { return nil }
            seconds = min(seconds * 10 + Int64(byte - 0x30), max.components.seconds)
        }
        return .seconds(seconds)
    }
}

extension Duration {
    /// The time from one date to another, negative if `end` is earlier. Clamped, so that no date overflows it.
    init(from start: Date, to end: Date) {
        let seconds = end.timeIntervalSince(start)
        self = .seconds(seconds.isNaN ? 0 : min(max(seconds, -Self.maxSeconds), Self.maxSeconds))
    }

    /// More seconds than lie between any two dates that HTTP can express.
    private static let maxSeconds = 1e12
}

extension HTTPFields {
    /// How long a client should wait before it repeats the request: the `Retry-After` field (RFC 9110 §10.2.3).
    ///
    /// 0 to 2³¹ seconds; 0 for a date in the past. Nil if the field is missing or malformed.
    ///
    /// - Parameter now: the time that a date is relative to.
    public func retryAfter(now: Date) -> Duration? {
        guard let text = self[.retryAfter] else { return nil }
        if let seconds = DeltaSeconds.parse(text.utf8) { return seconds }
        guard let date = HTTPDate(parsing: text, now: now)?.date else { return nil }
        return Swift.min(Swift.max(Duration(from: now, to: date), .zero), DeltaSeconds.max)
    }
}
