import DarkroomNetwork

/// The value of a response's `Cache-Control` field (RFC 9111 §5.2.2).
public struct CacheControl: Hashable, Sendable {
    /// Which caches may store the response, and for how long it is fresh. Written in whole seconds, at least 0.
    public enum Storage: Hashable, Sendable {
        /// `public`: any cache may store it.
        case `public`(maxAge: Duration)
        /// `private`: only the client's own cache may store it.
        case `private`(maxAge: Duration)
        /// `no-store`: no cache may store it. No other directive is written.
        case noStore
    }

    /// Which caches may store the response, and for how long it is fresh.
    public var storage: Storage
    /// `s-maxage`: the lifetime in shared caches, in place of `max-age`.
    public var sharedMaxAge: Duration?
    /// `no-cache`: the response must be validated before every use. Lifetimes are not written in that case.
    public var needsValidation = false
    /// `must-revalidate`: the response must not be served stale (RFC 9111 §5.2.2.2).
    public var mustRevalidate = false
    /// `proxy-revalidate`: shared caches must not serve the response stale (RFC 9111 §5.2.2.8).
    public var proxyRevalidate = false
    /// `immutable`: the response does not change during its lifetime (RFC 8246).
    public var isImmutable = false
    /// `stale-while-revalidate` (RFC 5861 §3).
    public var staleWhileRevalidate: Duration?
    /// `stale-if-error` (RFC 5861 §4).
    public var staleIfError: Duration?

    /// A value with this directive and lifetime only.
    public init(_ storage: Storage) {
        self.storage = storage
    }

    /// `no-store`.
    public static let noStore = CacheControl(.noStore)
}

extension CacheControl: CustomStringConvertible {
    /// The field's value. Lifetimes are at most 2³¹−1 seconds (RFC 9111 §1.2.2).
    public var description: String {
        switch storage {
        case .public(let maxAge): "public" + details(maxAge)
        case .private(let maxAge): "private" + details(maxAge)
        case .noStore: "no-store"
        }
    }

    private func details(_ maxAge: Duration) -> String {
        var text = needsValidation ? ", no-cache" : ", max-age=\(Self.seconds(maxAge))"
        if !needsValidation, let sharedMaxAge { text += ", s-maxage=\(Self.seconds(sharedMaxAge))" }
        if mustRevalidate { text += ", must-revalidate" }
        if proxyRevalidate { text += ", proxy-revalidate" }
        if isImmutable { text += ", immutable" }
        if let staleWhileRevalidate { text += ", stale-while-revalidate=\(Self.seconds(staleWhileRevalidate))" }
        if let staleIfError { text += ", stale-if-error=\(Self.seconds(staleIfError))" }
        return text
    }

    private static func seconds(_ duration: Duration) -> Int64 {
        min(max(duration.components.seconds, 0), Int64(Int32.max))
    }
}

/// One directive of a `Cache-Control` field (RFC 9111 §5.2).
struct Directive: Hashable {
    enum Argument: Hashable {
        case none
        /// The text after `=`, without quotes.
        case text(String)
        /// Text that the grammar does not allow.
        case malformed
    }

    /// The name in lower case.
    var name: String
    var argument: Argument
    /// Whether a semicolon is next to it, where a comma should be.
    var hasSemicolon = false

    /// Whether it is well-formed without an argument, so that it may loosen a rule.
    var isFlag: Bool { argument == .none && !hasSemicolon }

    /// The argument as a number of seconds, or nil if it is malformed or missing.
    var seconds: Duration? {
        guard case .text(let text) = argument else { return nil }
        return DeltaSeconds.parse(text.utf8)
    }
}

/// The directives of a `Cache-Control` field of a request or a response.
///
/// Malformed directives are read too, so that a typo cannot hide a restriction: a name ends at the first byte that no
/// name contains, and an unclosed quote does not hide the directives after it. Many origins write semicolons instead of
/// commas, as in `public; max-age=600`.
struct DirectiveList: Sequence, IteratorProtocol {
    private var reader: FieldReader

    init(_ text: String) {
        reader = FieldReader(text)
    }

    mutating func next() -> Directive? {
        let separators = reader.take { $0.isBlank || Self.isSeparator($0) }
        guard !reader.isAtEnd else { return nil }
        let name = reader.take { !$0.isBlank && !Self.nameEnds.contains($0) }
        let gap = reader.take { Self.isInMember($0) && $0 != UInt8(ascii: "=") }
        var argument = Directive.Argument.none
        if reader.skip("=") {
            argument = self.argument()
            if !gap.isEmpty { argument = .malformed }
        } else if !gap.allSatisfy(\.isBlank) {
            argument = .malformed
        }
        let semicolon = UInt8(ascii: ";")
        return Directive(
            name: String(Substring(name)).lowercased(), argument: argument,
            hasSemicolon: separators.contains(semicolon) || reader.rest.first == semicolon)
    }

    private mutating func argument() -> Directive.Argument {
        if let text = reader.quotedString() {
            return reader.take(while: Self.isInMember).allSatisfy(\.isBlank) ? .text(text) : .malformed
        }
        let text = Substring(reader.take(while: Self.isInMember))
        // Blanks before the value are malformed; blanks after it belong to the list.
        let token = text.prefix(upTo: text.trimmingBlanks.endIndex)
        guard !token.isEmpty, !token.utf8.contains(where: { $0.isBlank || $0 == UInt8(ascii: "\"") }) else {
            return .malformed
        }
        return .text(String(token))
    }

    private static let nameEnds = Array(",=;\"".utf8)
    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";") }
    private static func isInMember(_ byte: UInt8) -> Bool { !isSeparator(byte) }
}
