/// What a response tells caches (RFC 9111 §5.2.2).
public struct CacheControl: Hashable, Sendable {
    /// Who may keep it, and for how long. Fractions of a second and negative times are dropped when it is written.
    public enum Storage: Hashable, Sendable {
        /// Any cache may.
        case anyone(maxAge: Duration)
        /// Only the client's own cache may.
        case client(maxAge: Duration)
        /// Nobody may, and nothing else is said.
        case nobody
    }

    /// Who may keep it, and for how long.
    public var storage: Storage
    /// For shared caches, in place of the other lifetime.
    public var sharedMaxAge: Duration?
    /// `no-cache`: it may be kept but never used without asking; lifetimes are not written then.
    public var needsValidation = false
    /// Nothing stale, whatever happens (RFC 9111 §5.2.2.2).
    public var mustRevalidate = false
    /// The same for shared caches alone (RFC 9111 §5.2.2.8).
    public var proxyRevalidate = false
    /// RFC 8246.
    public var isImmutable = false
    /// RFC 5861 §3.
    public var staleWhileRevalidate: Duration?
    /// RFC 5861 §4.
    public var staleIfError: Duration?

    /// This, and nothing else said.
    public init(_ storage: Storage) {
        self.storage = storage
    }

    /// Nobody may keep it.
    public static let noStore = CacheControl(.nobody)
}

extension CacheControl: CustomStringConvertible {
    /// The field's value. More seconds than 2³¹−1 are sent as that many (RFC 9111 §1.2.2).
    public var description: String {
        switch storage {
        case .anyone(let maxAge): "public" + details(maxAge)
        case .client(let maxAge): "private" + details(maxAge)
        case .nobody: "no-store"
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
