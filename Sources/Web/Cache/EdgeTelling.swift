package import DarkroomCache

/// Tells the caches in front of the server of a purge, and returns the progress at each. With ``EdgeNotice/waits``, it
/// returns once all have confirmed or refused the purge.
package typealias EdgeTelling = @Sendable (EdgeNotice) async -> [EdgeProgress]

/// A purge that was carried out here.
package struct EdgeNotice: Sendable {
    package let target: PurgeTarget
    /// Whether images became stale instead of being removed.
    package let isSoft: Bool
    /// The time until the purge holds on all servers that share a store with this server.
    package let propagation: Duration
    /// Whether the client waits until all caches have confirmed the purge.
    package let waits: Bool
}

/// The progress of a purge at a cache in front of the server.
package struct EdgeProgress: Codable, Hashable, Sendable {
    package enum State: String, Codable, Sendable {
        case told, pending
    }

    /// The vendor with the zone, service or host.
    package let edge: String
    package let state: State
    /// Why the last attempt failed; nil if none did.
    package let reason: String?

    package init(edge: String, state: State, reason: String?) {
        self.edge = edge
        self.state = state
        self.reason = reason
    }
}

extension PurgeReport.Propagation {
    /// The time until the purge holds on all servers; nil if it did not reach them.
    var duration: Duration? {
        switch self {
        case .within(let duration): duration
        case .failed: nil
        }
    }
}
