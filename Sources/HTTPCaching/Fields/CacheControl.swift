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
