/// What a response tells caches (RFC 9111 §5.2.2).
public struct CacheControl: Hashable, Sendable {
    public enum Storage: Hashable, Sendable {
        /// Any cache may keep it, and use it for this long; fractions of a second and negative times are dropped.
        case anyone(maxAge: Duration)
        /// Nobody may keep it.
        case nobody
    }

    public var storage: Storage

    public init(_ storage: Storage) {
        self.storage = storage
    }

    public static let noStore = CacheControl(.nobody)
}

extension CacheControl: CustomStringConvertible {
    /// The field's value. More seconds than 2³¹−1 are sent as that many (RFC 9111 §1.2.2).
    public var description: String {
        switch storage {
        case .anyone(let maxAge): "public, max-age=\(min(max(maxAge.components.seconds, 0), Int64(Int32.max)))"
        case .nobody: "no-store"
        }
    }
}
