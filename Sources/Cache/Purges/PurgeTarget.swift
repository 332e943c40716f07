public import DarkroomNetwork
import DarkroomStore

/// The sources that a purge removes.
public enum PurgeTarget: Hashable, Sendable {
    /// The source that the ``CacheKeyFilter`` identifies by this address, whether or not it is cached.
    case source(SourceURL)
    /// Sources whose canonical address starts with this text.
    case prefix(String)
    /// Sources of this host in lowercase, whatever the port.
    case host(String)
    /// Sources whose origin sent this `Surrogate-Key` or `Cache-Tag`.
    case tag(String)
    /// All sources.
    case everything
}

/// What a purge found, and removed unless it was a dry run.
public struct PurgeReport: Hashable, Sendable {
    /// A source and its entries.
    public struct Source: Hashable, Sendable {
        /// The canonical address; empty if its record is gone.
        public var url: String
        /// The number of entries (record, original and variants) in the tier that has more of them.
        public var entries: Int
        /// The size of these entries in bytes.
        public var bytes: Int
    }

    /// The number of sources found.
    public var sourceCount = 0
    /// The first thousand sources that a dry run found, sorted by address.
    public var sources: [Source] = []
    /// The number of entries of all sources.
    public var entries = 0
    /// The size of these entries in bytes.
    public var bytes = 0
    /// When servers that share a tier with this one carry the purge out; nil if none do.
    public var propagation: Propagation?

    /// How a purge reaches other servers.
    public enum Propagation: Hashable, Sendable {
        /// All of them carry it out within this time.
        case within(Duration)
        /// The shared tier does not work at present, so the others were not told. The purge has to be repeated.
        case failed
    }

    /// Creates an empty report.
    public init() {}
}

extension PurgeTarget {
    func matches(url: String, host: String) -> Bool {
        switch self {
        case .source(let source): source.canonical == url
        case .prefix(let prefix): url.hasPrefix(prefix)
        case .host(let name): host == name
        case .tag: false
        case .everything: true
        }
    }

    func matches(tags: @autoclosure () -> [String]) -> Bool {
        if case .tag(let tag) = self { tags().contains(tag) } else { false }
    }

    /// The query that finds the sources on disk.
    var query: LabelFilter {
        switch self {
        case .source(let source): .equal("url:\(source.canonical)")
        case .prefix(let prefix): .prefix("url:\(prefix)")
        case .host(let host): .equal("host:\(host)")
        case .tag(let tag): .equal("tag:\(tag)")
        case .everything: .all
        }
    }
}
