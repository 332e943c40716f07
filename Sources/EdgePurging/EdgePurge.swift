package import Foundation

/// A purge that is sent to the caches in front of this server.
package struct EdgePurge: Codable, Hashable, Sendable {
    /// What the purge was asked to remove.
    package struct Selector: Codable, Hashable, Sendable {
        package enum Kind: String, Codable, Sendable { case url, prefix, host, tag, everything }

        package var kind: Kind
        /// The purged URL, prefix, host or tag. Nil if the purge removes everything.
        package var value: String?

        package init(_ kind: Kind, _ value: String? = nil) {
            (self.kind, self.value) = (kind, value)
        }
    }

    /// The unique identifier of the purge.
    package let id: String
    /// When the purge was carried out here.
    package let purgedAt: Date
    package let selector: Selector
    /// The tags to purge. Purging them removes at least the images that the selector names.
    package let tags: [String]
    /// Whether images become stale instead of being removed.
    package let isSoft: Bool

    package init(
        id: String = "purge_\(UUID().uuidString.lowercased())", purgedAt: Date, _ selector: Selector, tags: [String],
        isSoft: Bool
    ) {
        self.id = id
        self.purgedAt = purgedAt
        self.selector = selector
        self.tags = tags
        self.isSoft = isSoft
    }
}

/// The progress of a purge at one edge.
package struct EdgeState: Hashable, Sendable {
    package enum Progress: String, Sendable {
        /// The edge has confirmed the purge.
        case told
        /// The purge waits in the queue until the edge takes it.
        case pending
    }

    /// The edge's name, such as `fastly:SERVICE`.
    package let edge: String
    package let progress: Progress
    /// Why the last attempt failed; nil if none did.
    package let reason: String?
}

/// Results of the purges of one edge since the server started.
package struct EdgeStatistics: Hashable, Sendable {
    /// See ``EdgeDestination/name``.
    package let edge: String
    /// Requests that the edge confirmed.
    package internal(set) var told = 0
    /// Requests that failed and are repeated: the edge was busy or did not answer.
    package internal(set) var postponed = 0
    /// Requests that the edge refused.
    package internal(set) var refused = 0
    /// How often one purge of everything replaced too many waiting purges.
    package internal(set) var collapsed = 0
    /// Pending purges. A purge that is still to be sent twice counts twice.
    package internal(set) var pending = 0
    /// How long the longest overdue purge has been overdue, in seconds; 0 if no purge is overdue.
    package internal(set) var overdueSeconds = 0.0

    init(edge: String) { self.edge = edge }
}
