package import DarkroomNetwork
import DarkroomOrigin
package import DarkroomTransforms
package import DarkroomWaiting

/// A request as the caches see it.
package struct CacheAccess: Sendable {
    package let keys: RequestKeys
    package let source: SourceURL
    /// The frames or pages that the request needs, of which some may have failed to decode.
    package let pages: PageSelection
    package let options: CacheOptions
    /// The source's purge epoch when the request started. Results are stored only while it is current.
    package let epoch: PurgeEpoch
    /// When the request's waits end; nil if something else ends them.
    package let deadline: Deadline?

    package init(
        keys: RequestKeys, source: SourceURL, pages: PageSelection, options: CacheOptions, epoch: PurgeEpoch,
        deadline: Deadline?
    ) {
        self.keys = keys
        self.source = source
        self.pages = pages
        self.options = options
        self.epoch = epoch
        self.deadline = deadline
    }
}

extension SourceURL {
    /// The host in lowercase without the port; empty for local files.
    package var hostName: String { host.map { "\($0)".lowercased() } ?? "" }
}
