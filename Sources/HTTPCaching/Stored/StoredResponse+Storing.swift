import HTTPTypes

/// Why a shared cache may not keep a response (RFC 9111 §3).
public enum StorageRefusal: String, CaseIterable, Hashable, Sendable {
    /// It is no whole picture: the status is not 200.
    case status
    case noStore = "no-store"
    /// It is meant for one client. `private` that names fields refuses too.
    case isPrivate = "private"
}

extension StoredResponse {
    /// Why it may not be kept; nil where it may.
    ///
    /// `CDN-Cache-Control` is asked before `Cache-Control` (RFC 9213). Where the policy does not respect origins, only the
    /// status counts.
    public func refusal(_ policy: FreshnessPolicy) -> StorageRefusal? {
        guard status == 200 else { return .status }
        guard policy.respectsOrigin else { return nil }
        let directives = OriginTerms(fields).directives
        if directives.forbidStoring { return .noStore }
        return directives.isPrivate ? .isPrivate : nil
    }
}
