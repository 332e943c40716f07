import DarkroomHTTPCaching

// Looks in the shared tier for what the nearer ones don't have, before the origin is asked.
extension ImageResolver {
    /// Whether the shared tier may know more of the source than the nearer ones, before the origin is asked.
    func mayLookInSharedTier(_ request: ResolvedRequest, _ known: SourceRecord?) async -> Bool {
        guard caches.shared != nil, request.cache.query.union.contains(.shared),
            !request.cache.policy.mode.ignoresStored
        else { return false }
        guard let known else { return true }
        let isSelected = await fetcher.isSelected(known, for: request)
        let decision = CacheEvaluation(
            stored: known.freshness, isSelected: isSelected, policy: request.cache.policy, now: now()
        ).decision
        return decision != .use && decision != .useAndRevalidate
    }

    /// - Returns: the newest record that is known now.
    func lookInSharedTier(
        _ request: ResolvedRequest, _ known: SourceRecord?, _ prior: inout DiskFindings
    ) async -> SourceRecord? {
        guard let shared = caches.shared else { return known }
        let found = await shared.look(for: request, known: known)
        prior.sharedVariant = .looked(found.variant)
        guard let record = found.record else { return known }
        await caches.adopt(record, request)
        return record
    }
}
