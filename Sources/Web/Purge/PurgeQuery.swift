import DarkroomPipeline

/// What a query to `DELETE /cache` asks for.
struct PurgeQuery: Hashable, Sendable {
    /// What is removed.
    enum Scope: Hashable, Sendable {
        /// One source, percent-decoded once and not yet checked.
        case url(String)
        case prefix(String)
        case host(String)
        case tag(String)
        /// Everything in these tiers.
        case all(TierSet)
        /// What the disk cache's own maximum age gives up.
        case expired
    }

    var scope: Scope
    /// Whether entries are marked stale and stay.
    var isSoft: Bool
    /// Whether nothing is done but to list.
    var isDryRun: Bool

    /// Weighs the parts of a draft against each other.
    init(_ draft: PurgeDraft) throws(InvalidParameter) {
        scope = try draft.scope()
        isSoft = draft.soft
        isDryRun = draft.dryRun
        if scope == .expired {
            guard !isSoft else { throw Self.contradiction("soft", "expired") }
            guard !isDryRun else { throw Self.contradiction("dry_run", "expired") }
        }
        if draft.tier != nil {
            guard case .all = scope else {
                throw InvalidParameter("tier", "'tier' means something only together with all=true.")
            }
            guard !isSoft else { throw Self.contradiction("soft", "tier") }
        }
    }

    private static func contradiction(_ name: String, _ other: String) -> InvalidParameter {
        InvalidParameter(name, "'\(name)' cannot stand beside '\(other)'.")
    }
}

/// The values of a query as given, before they are weighed against each other.
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
                "Exactly one of url, prefix, host, tag, all=true and expired=true has to say what is removed.")
        }
        return scope
    }
}
