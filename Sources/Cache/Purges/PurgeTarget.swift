public import DarkroomNetwork
import DarkroomStore
import Foundation
import NIOCore
import NIOFoundationCompat

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

/// The sources and entries that a purge found, and removed unless it was a dry run.
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
    /// When servers that share a tier with this server carry the purge out; nil without such servers.
    public var propagation: Propagation?

    /// How a purge reaches other servers.
    public enum Propagation: Hashable, Sendable {
        /// All of them carry it out within this time.
        case within(Duration)
        /// The shared tier does not work at present, so the purge did not reach other servers. It has to be repeated.
        case failed
    }

    /// Creates an empty report.
    public init() {}
}

extension PurgeTarget {
    func matches(url: String, host: String, tags: @autoclosure () -> [String]) -> Bool {
        switch self {
        case .source(let source): source.canonical == url
        case .prefix(let prefix): url.hasPrefix(prefix)
        case .host(let name): host == name
        case .tag(let tag): tags().contains(tag)
        case .everything: true
        }
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

/// A purge as other servers read it: a small JSON document.
struct PurgeMessage: Codable, Hashable {
    private enum Kind: String, Codable { case url, prefix, host, tag, everything }

    private var kind: Kind
    private var value: String?
    /// Whether sources become stale instead of being removed.
    var isSoft: Bool

    private enum CodingKeys: String, CodingKey {
        case kind, value
        case isSoft = "soft"
    }

    init(_ target: PurgeTarget, isSoft: Bool) {
        self.isSoft = isSoft
        switch target {
        case .source(let url): (kind, value) = (.url, url.canonical)
        case .prefix(let prefix): (kind, value) = (.prefix, prefix)
        case .host(let host): (kind, value) = (.host, host)
        case .tag(let tag): (kind, value) = (.tag, tag)
        case .everything: (kind, value) = (.everything, nil)
        }
    }

    /// Nil if the bytes do not encode a purge, or if its value is longer than any URL.
    init?(_ bytes: ByteBuffer) {
        guard let message = try? JSONDecoder().decode(Self.self, from: Data(buffer: bytes)), message.target != nil,
            message.value?.utf8.count ?? 0 <= SourceURL.maximumBytes
        else { return nil }
        self = message
    }

    var bytes: ByteBuffer { (try? JSONEncoder().encode(self)).map { ByteBuffer(data: $0) } ?? ByteBuffer() }

    /// The target of the purge; nil if it is not understood.
    var target: PurgeTarget? {
        switch (kind, value) {
        case (.everything, _): .everything
        case (.url, let value?): (try? SourceURL(parsing: value)).map { .source($0) }
        case (.prefix, let value?): .prefix(value)
        case (.host, let value?): .host(value)
        case (.tag, let value?): .tag(value)
        case (_, nil): nil
        }
    }
}
