import DarkroomHTTPCaching
import DarkroomPipeline
import Foundation

/// What somebody may ask for, and for how long.
struct Permit: Sendable {
    /// The parameters, with those of a preset and without what only says who asks.
    var query = QueryString()
    /// The key that the request is signed with; nil = it is not.
    var key: SigningKey?
    /// Whose share the request counts for: that of a key which has a rate of its own, else that of the client's address; "" = nobody knows.
    var client = ""
    /// When the request stops being good.
    var expires: Date?
    /// Whether nothing but the admin token opened a server that is closed to others. Such an answer is nobody else's.
    var isPersonal = false

    /// What clients and caches are told, given what they would be told if everybody could ask for ever.
    func bounding(_ control: CacheControl) -> CacheControl {
        var control = control
        if expires != nil {
            // Nothing stale: that would be past the end.
            (control.staleWhileRevalidate, control.staleIfError, control.isImmutable) = (nil, nil, false)
            if control.storage != .noStore { control.mustRevalidate = true }
        }
        if isPersonal, case .public(let maxAge) = control.storage {
            control.storage = .private(maxAge: maxAge)
            (control.sharedMaxAge, control.proxyRevalidate) = (nil, false)
        }
        return control
    }

    /// Refuses sources that the key's signatures may not ask for.
    func requireSources(of request: ImageRequest) throws(Problem) {
        guard let key, !key.hosts.isEmpty, !request.staysWithin(hosts: key.hosts) else { return }
        throw Problem(
            .sourceNotAllowed, "The key of this signature may ask other hosts only.", parameter: "url")
    }

    /// How long caches may use an answer from now on; nil = nothing is said.
    func remaining(at now: Date) -> Duration? {
        expires.map { .seconds(max(0, $0.timeIntervalSince(now).rounded(.down))) }
    }
}
