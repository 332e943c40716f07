public import DarkroomNetwork
import DarkroomOrigin

/// Which sources are purged: by what people know of them.
public enum PurgeTarget: Hashable, Sendable {
    /// The source of this address, whatever the `CacheKeyFilter` takes it for, and whether or not anything is cached.
    case source(SourceURL)
    /// Sources whose canonical address begins with this text.
    case prefix(String)
    /// Sources of this host, whatever the port; lower case.
    case host(String)
    /// Sources that their origin gave this `Surrogate-Key` or `Cache-Tag`.
    case tag(String)
    case everything
}

/// What a purge found, and removed unless it was a dry run.
public struct PurgeReport: Hashable, Sendable {
    /// One source and what is cached of it.
    public struct Source: Hashable, Sendable {
        /// Its canonical address; empty where the record that has it is gone.
        public var url: String
        /// Original, variants and the record of both, in the larger of the two tiers.
        public var entries: Int
        /// Of these entries' files, or their cost in memory.
        public var bytes: Int
    }

    /// How many sources there were.
    public var sourceCount = 0
    /// Of a dry run, the first thousand that were found, by address.
    public var sources: [Source] = []
    /// Originals, variants and records of all sources.
    public var entries = 0
    /// Of these entries.
    public var bytes = 0

    /// Nothing found.
    public init() {}
}
