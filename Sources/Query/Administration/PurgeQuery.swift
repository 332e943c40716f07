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
