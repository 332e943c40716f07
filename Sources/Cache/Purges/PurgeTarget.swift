public import DarkroomNetwork
package import DarkroomStore
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

/// The tags of responses, by which edge caches purge. All nodes give the variants of a source the same tags.
package enum EdgeTag {
    /// The tag of every response.
    package static let everything = "darkroom"
    /// The tag of local files, which have no host.
    package static let localFiles = "local"

    /// The tag of a source: `s-` and the first 16 hexadecimal digits of its key.
    package static func source(_ key: StoreKey) -> String { "s-\(key.hex.prefix(16))" }

    /// The tag of a host: `h-` and its name. The colons of an IPv6 address become `-`, since Akamai allows none.
    ///
    /// - Parameter host: in lower case; empty for local files.
    package static func host(_ host: String) -> String {
        host.isEmpty ? localFiles : "h-" + host.replacing(":", with: "-")
    }

    /// The tags to purge in caches in front of this server. They may match more than the target: there are no tags of
    /// prefixes, so the host of a prefix is purged, or everything if the prefix ends within the host.
    package static func tags(of target: PurgeTarget, key: (SourceURL) -> StoreKey) -> [String] {
        switch target {
        case .source(let url): [source(key(url))]
        case .host(let name): [host(name)]
        case .tag(let tag): [tag]
        case .everything: [everything]
        case .prefix(let prefix): [hostOfPrefix(prefix).map(host) ?? everything]
        }
    }

    /// The host that all URLs with this prefix have; empty for local files, nil if they may have several.
    private static func hostOfPrefix(_ prefix: String) -> String? {
        if prefix.hasPrefix("local:///") { return "" }
        guard let scheme = ["http://", "https://", "s3://"].first(where: prefix.hasPrefix),
            let slash = prefix.dropFirst(scheme.count).firstIndex(of: "/")
        else { return nil }
        return (try? SourceURL(parsing: "\(prefix[..<slash])/x"))?.hostName
    }
}
