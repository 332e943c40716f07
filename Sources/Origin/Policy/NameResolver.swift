public import DarkroomNetwork

/// Turns a host name into addresses. The guarded client asks once per hop and connects to nothing but the answer.
public protocol NameResolver: Sendable {
    /// All IPv4 and IPv6 addresses of the name, best first.
    ///
    /// - Throws: ``OriginError/unreachable(_:)`` with `dns`, ``OriginError/timedOut(_:)`` with `resolving`, or
    ///   ``OriginError/cancelled``. Must return promptly when the task is cancelled.
    func addresses(of name: String) async throws(OriginError) -> [IPAddress]
}
