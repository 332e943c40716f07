package import DarkroomNetwork
package import DarkroomRequests
package import DarkroomWaiting

/// A tier in which an entry was found.
public enum CacheTier: String, Sendable {
    case memory, disk, shared
}

/// A request as the caches see it.
package struct CacheAccess: Sendable {
    package let keys: RequestKeys
    package let source: SourceURL
    /// What the request decodes, of which some may have failed to decode.
    package let part: SourcePart
    package let options: CacheOptions
    /// The source's purge epoch when the request started. Results are stored only while it is current.
    package let epoch: PurgeEpoch
    /// When the request's waits end; nil if something else ends them.
    package let deadline: Deadline?
    /// The tenant's part of the caches; nil = entries are stored without counting.
    package let share: CacheShare?

    package init(
        keys: RequestKeys, source: SourceURL, part: SourcePart, options: CacheOptions, epoch: PurgeEpoch,
        deadline: Deadline?, share: CacheShare? = nil
    ) {
        self.keys = keys
        self.source = source
        self.part = part
        self.options = options
        self.epoch = epoch
        self.deadline = deadline
        self.share = share
    }
}

extension SourceURL {
    /// The host in lowercase without the port; empty for local files.
    package var hostName: String { host.map { "\($0)".lowercased() } ?? "" }
}
