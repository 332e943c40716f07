import DarkroomNetwork
package import DarkroomRequests

/// A parsed query to `DELETE /cache`.
package struct PurgeQuery: Hashable, Sendable {
    /// The entries that are removed.
    package enum Scope: Hashable, Sendable {
        /// One source, percent-decoded once and not yet parsed.
        case url(String)
        case prefix(String)
        case host(String)
        case tag(String)
        /// Everything in these tiers.
        case all(TierSet)
        /// Entries that are older than the disk cache's maximum age.
        case expired
    }

    package let scope: Scope
    /// Whether entries are marked stale instead of removed.
    package let isSoft: Bool
    /// Whether entries are only listed.
    package let isDryRun: Bool
    /// Whether the answer waits until the purge holds everywhere.
    package let waits: Bool
    /// Whether the caches in front of the server get the purge.
    package let tellsEdges: Bool

    /// Checks the parameters against each other.
    fileprivate init(_ draft: PurgeDraft) throws(InvalidParameter) {
        scope = try draft.scope()
        isSoft = draft.soft
        isDryRun = draft.dryRun
        waits = draft.wait
        tellsEdges = draft.edges
        if scope == .expired {
            guard !isSoft else { throw Self.conflict("soft", "expired") }
            guard !isDryRun else { throw Self.conflict("dry_run", "expired") }
        }
        if draft.tier != nil {
            guard case .all = scope else { throw InvalidParameter("tier", "Parameter 'tier' requires all=true.") }
            guard !isSoft else { throw Self.conflict("soft", "tier") }
        }
    }

    private static func conflict(_ name: String, _ other: String) -> InvalidParameter {
        InvalidParameter(name, "Parameter '\(name)' cannot be combined with '\(other)'.")
    }
}

/// A purge query while its parameters are read.
struct PurgeDraft: Sendable {
    var url: String?
    var prefix: String?
    var host: String?
    var tag: String?
    var all = false
    var expired = false
    var tier: TierSet?
    var soft = false
    var dryRun = false
    var wait = false
    var edges = true

    fileprivate func scope() throws(InvalidParameter) -> PurgeQuery.Scope {
        let choices: [(name: String, scope: PurgeQuery.Scope?)] = [
            ("url", url.map { .url($0) }), ("prefix", prefix.map { .prefix($0) }), ("host", host.map { .host($0) }),
            ("tag", tag.map { .tag($0) }), ("all", all ? .all(tier ?? .all) : nil),
            ("expired", expired ? .expired : nil),
        ]
        let given = choices.filter { $0.scope != nil }
        guard given.count == 1, let scope = given.first?.scope else {
            throw InvalidParameter(
                given.dropFirst().first?.name,
                "Exactly one of url, prefix, host, tag, all=true and expired=true must be given.")
        }
        return scope
    }
}

/// The grammar of `DELETE /cache` queries.
package struct PurgeGrammar: Sendable {
    let table = ParameterTable(PurgeParameters.rows, initial: PurgeDraft())

    package init() {}

    /// Reads a query as received after the `?`.
    package func parse(_ query: String) throws(InvalidParameter) -> PurgeQuery {
        try PurgeQuery(table.read(QueryString(parsing: query)))
    }
}

/// The grammar of `/cache/entries` queries: `url`, the source whose entries are listed.
package struct EntriesGrammar: Sendable {
    struct Draft: Sendable {
        var url: String?
    }

    let table = ParameterTable<Draft>(
        [Parameter("url", .url, \.url, .source, .fetch, "URL of the source image. Required.")], initial: Draft())

    package init() {}

    /// The source URL of a query as received after the `?`, percent-decoded once and not yet parsed.
    package func parse(_ query: String) throws(InvalidParameter) -> String {
        guard let url = try table.read(QueryString(parsing: query)).url else {
            throw InvalidParameter(
                "url", "Parameter 'url' is required: the percent-encoded URL of the source image.")
        }
        return url
    }
}

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
