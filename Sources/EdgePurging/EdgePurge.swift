package import Foundation

/// A purge as caches in front of this server are told of it.
package struct EdgePurge: Codable, Hashable, Sendable {
    /// What the purge was asked to remove.
    package struct Selector: Codable, Hashable, Sendable {
        package enum Kind: String, Codable, Sendable { case url, prefix, host, tag, everything }

        package var kind: Kind
        /// The URL, prefix, host or tag; nil for everything.
        package var value: String?

        package init(_ kind: Kind, _ value: String? = nil) {
            (self.kind, self.value) = (kind, value)
        }
    }

    /// Unique.
    package let id: String
    /// When the purge was carried out here.
    package let purgedAt: Date
    package let selector: Selector
    /// The tags whose purge removes at least what the selector names.
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

/// What is known of one edge and one purge.
package struct EdgeState: Codable, Hashable, Sendable {
    package enum Progress: String, Codable, Sendable {
        /// The edge has confirmed the purge.
        case told
        /// The purge waits in the queue, and is told as soon as the edge takes it.
        case pending
    }

    /// The edge's name, such as `fastly:SERVICE`.
    package let edge: String
    package let progress: Progress
    /// Why the last attempt failed; nil if none did.
    package let reason: String?

    package init(_ edge: String, _ progress: Progress, reason: String? = nil) {
        self.edge = edge
        self.progress = progress
        self.reason = reason
    }
}
