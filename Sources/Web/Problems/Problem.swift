import DarkroomHTTPCaching
import HTTPTypes

/// Why a request was not answered, told to the client as RFC 9457 wants it. Nothing in it is private.
struct Problem: Error, Hashable {
    var kind: ProblemKind
    /// What went wrong this time, and what to do about it.
    var detail: String
    /// The query parameter at fault, where one is.
    var parameter: String?
    /// When to try again (RFC 9110 §10.2.3).
    var retryAfterSeconds: Int?
    /// The methods that would be allowed (RFC 9110 §10.2.1).
    var allow: [HTTPRequest.Method] = []
    /// Set where a failure was remembered.
    var cacheStatus: CacheStatus?
    /// What was wrong with the origin.
    var proxyStatus: ProxyStatus?
    /// Whether another `Accept` field might have had another answer.
    var variesByAccept = false

    init(_ kind: ProblemKind, _ detail: String, parameter: String? = nil, retryAfterSeconds: Int? = nil) {
        self.kind = kind
        self.detail = detail
        self.parameter = parameter
        self.retryAfterSeconds = retryAfterSeconds
    }
}
