public import DarkroomNetwork

/// Resolves host names. ``GuardedHTTPClient`` resolves once per hop and connects only to the addresses returned, after
/// it has checked them.
public protocol NameResolver: Sendable {
    /// Returns all IPv4 and IPv6 addresses of the name, best first.
    ///
    /// - Parameter client: the client that the lookup is for, as in ``OriginRequest/client``. The empty string counts
    ///   as one client.
    /// - Throws: ``OriginError/unreachable(_:)`` with `dns`, ``OriginError/timedOut(_:)`` with `resolving` or
    ///   `waiting`, or ``OriginError/cancelled``. Must return promptly when the task is canceled.
    func addresses(of name: String, for client: String) async throws(OriginError) -> [IPAddress]
}
