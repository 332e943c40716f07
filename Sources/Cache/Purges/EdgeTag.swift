package import DarkroomNetwork
package import DarkroomStore

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
