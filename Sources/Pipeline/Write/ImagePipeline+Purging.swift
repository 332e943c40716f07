import DarkroomStore

extension ImagePipeline {
    /// Purges sources from the caches, along with their remembered failures. Work in progress for them is answered but
    /// not stored.
    ///
    /// - Parameters:
    ///   - soft: marks the sources as stale instead of removing them.
    ///   - dryRun: reports what would be purged without purging it.
    ///   - tiers: the tiers to purge. Purging a single tier is meant for `.everything`. With the shared one, the other
    ///     servers purge the sources too.
    @discardableResult
    public func purge(
        _ target: PurgeTarget, soft: Bool = false, dryRun: Bool = false, tiers: TierSet = .all
    ) async -> PurgeReport {
        let order = dryRun || !tiers.contains(.shared) ? nil : follower?.order
        var (report, sources) = await purger.purge(
            target, soft: soft, dryRun: dryRun, tiers: tiers, keyFilter: keyFilter, order: order)
        guard let follower, let order else { return report }
        let isAnnounced = await follower.announce(target, isSoft: soft, order: order, sources: sources)
        report.propagation = isAnnounced ? .within(follower.propagation) : .failed
        return report
    }

    /// Carries out the purges of other servers that share a tier with this one.
    ///
    /// - Returns: whether they could be read; true without a shared tier.
    @discardableResult
    package func carryOutPurges() async -> Bool { await follower?.poll() ?? true }

    /// Removes the disk entries that are older than the disk tier keeps them.
    @discardableResult
    public func removeExpired() async -> PurgeReport {
        await purger.removeExpired()
    }

    /// Evicts from memory, decoded images included, until this fraction, 0 to 1, of the bytes held is left.
    public func shrinkMemory(toFraction fraction: Double) {
        purger.shrinkMemory(toFraction: fraction)
    }
}
