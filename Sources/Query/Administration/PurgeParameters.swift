import DarkroomNetwork
import DarkroomRequests

/// The parameters of `DELETE /cache`, one row each.
enum PurgeParameters {
    typealias Row = Parameter<PurgeDraft>

    static let rows: [Row] = [
        Row("url", .url, \.url, .caching, .cache, "The source with this URL."),
        Row(
            "prefix", .urlPrefix, \.prefix, .caching, .cache,
            "Every source whose canonical URL begins with this text."),
        Row("host", .host, \.host, .caching, .cache, "Every source of this host."),
        Row(
            "tag", .tag, \.tag, .caching, .cache,
            "Every source that its origin tagged with `Surrogate-Key` or `Cache-Tag`."),
        Row("all", .boolean, \.all, .caching, .cache, "Every entry."),
        Row("expired", .boolean, \.expired, .caching, .cache, "Entries older than the maximum age of the disk cache."),
        Row(
            "tier", .choice(["memory": TierSet.memory, "disk": .disk]), \.tier, .caching, .cache,
            "The tier of this server that `all` empties; by default both tiers of all servers."),
        Row("soft", .boolean, \.soft, .caching, .cache, "Marks entries stale instead of removing them."),
        Row("dry_run", .boolean, \.dryRun, .caching, .cache, "Lists entries and removes nothing."),
        Row(
            "wait", .boolean, \.wait, .caching, .cache,
            "Answers once the purge holds on all servers and the caches of `purge-to` have confirmed it."),
        Row(
            "edges", .boolean, \.edges, .caching, .cache,
            "Whether the caches of `purge-to` get the purge. A receiver of webhooks that purges sends false."),
    ]
}

extension ValueFormat where Value == String {
    /// The beginning of a canonical URL, with at least its scheme and host: a typing error must not empty the cache.
    fileprivate static var urlPrefix: ValueFormat {
        text(
            pattern: "^(https?://[^A-Z/?#@\\\\]+(/[^#]*)?|s3://[a-z0-9._-]+(/[^#]*)?|local:///[^#]*"
                + "|[a-z][a-z0-9+.-]*:([^/#\\\\][^#]*)?)$",
            expected: "the beginning of a URL with http://, https://, s3://, local:/// or a short name, its host in "
                + "lowercase"
        ) { isURLPrefix($0) }
    }

    private static func isURLPrefix(_ text: String) -> Bool {
        guard !text.utf8.contains(UInt8(ascii: "#")) else { return false }
        if text.hasPrefix("local:///") { return true }
        if let scheme = ["http://", "https://", "s3://"].first(where: text.hasPrefix) {
            let host = text.utf8.dropFirst(scheme.utf8.count).prefix { $0 != UInt8(ascii: "/") }
            return !host.isEmpty
                && host.allSatisfy { !(0x41...0x5a).contains($0) && !"?@\\".utf8.contains($0) }
                && (scheme != "s3://" || host.allSatisfy(\.isPlainNameCharacter))
        }
        // Whether the short name exists is checked later.
        guard let name = text.prefixMatch(of: /[a-z][a-z0-9+.-]*:/) else { return false }
        return !text[name.range.upperBound...].utf8.prefix(1).contains { "/\\".utf8.contains($0) }
    }

    /// A host without its port, read in lowercase; an IPv6 address without brackets.
    fileprivate static var host: ValueFormat {
        ValueFormat(
            pattern: "^([A-Za-z0-9._-]{1,253}|[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)$",
            expected: "a host name or an IP address, without port and brackets", write: \.self
        ) { text in
            let host = text.lowercased()
            let isName = (1...253).contains(host.utf8.count) && host.utf8.allSatisfy { $0.isPlainNameCharacter }
            return isName || isIPv6Address(host) ? host : nil
        }
    }

    private static func isIPv6Address(_ host: String) -> Bool {
        host.utf8.count { $0 == UInt8(ascii: ":") } >= 2
            && host.utf8.allSatisfy { $0.isLowercaseHexDigit || ":.".utf8.contains($0) }
    }

    /// A member of `Surrogate-Key` or `Cache-Tag`.
    fileprivate static var tag: ValueFormat {
        text(pattern: "^[ -~]{1,256}$", expected: "a tag of 1 to 256 printable ASCII characters") { text in
            (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
        }
    }
}
