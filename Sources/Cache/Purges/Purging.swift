import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomStore
import DarkroomTransforms
import Foundation

// Purges: they remove sources, or mark them as stale, here and on the other servers.
extension ImageCache {
    /// The number of sources that a report lists.
    private static let listedSources = 1_000

    /// Purges sources; see `ImagePipeline.purge`.
    package func purge(_ target: PurgeTarget, soft: Bool, dryRun: Bool, tiers: TierSet) async -> PurgeReport {
        let order = dryRun || !tiers.contains(.shared) ? nil : follower?.order
        var (report, sources) = await purge(target, soft: soft, dryRun: dryRun, tiers: tiers, order: order)
        guard let follower, let order else { return report }
        let isAnnounced = await follower.announce(target, isSoft: soft, order: order, sources: sources)
        report.propagation = isAnnounced ? .within(follower.propagation) : .failed
        return report
    }

    /// Whether other servers may have purged sources while this server was suspended.
    package var isBehind: Bool { follower?.assurance.isBehind ?? false }

    /// Carries out the purges of other servers that share a tier with this server.
    ///
    /// - Parameter limit: how long to wait for them; nil = until all are carried out.
    /// - Returns: whether the purges could be read; true without a shared tier.
    @discardableResult
    package func carryOutPurges(within limit: Duration? = nil) async -> Bool {
        guard let follower else { return true }
        return await withTaskExecutorPreference(globalConcurrentExecutor) {
            await follower.poll(within: limit, carryOut)
        }
    }

    /// Carries them out before a request is answered. The request waits for about a second at most: from then on, it is
    /// answered only with what its origin confirms.
    package func catchUpWithPurges() async {
        guard let follower else { return }
        // Purges look at all entries in memory and wait for busy workers, which must not hold up an event loop.
        await withTaskExecutorPreference(globalConcurrentExecutor) { await follower.catchUp(carryOut) }
    }

    @Sendable private func carryOut(_ target: PurgeTarget?, isSoft: Bool, order: Int64) async {
        guard let target else {
            invalidateWork(.everything)
            records.unconfirmedRecords.distrust(at: now())
            return outdate(.everything, order: order, isSoft: true)
        }
        _ = await purge(target, soft: isSoft, dryRun: false, tiers: [.memory, .disk], order: order)
    }

    /// - Parameter order: the order of the purge in the shared tier; nil if it does not concern the shared tier.
    /// - Returns: the report, and the sources that were found.
    private func purge(
        _ target: PurgeTarget, soft: Bool, dryRun: Bool, tiers: TierSet, order: Int64? = nil
    ) async -> (report: PurgeReport, sources: [StoreKey]) {
        if !dryRun {
            invalidateWork(target)
            if let order { outdate(target, order: order, isSoft: soft) }
        }
        let sources = await sources(of: target, tiers)
        let report = await report(on: sources, tiers, named: dryRun)
        guard !dryRun else { return (report, sources) }
        if soft {
            for source in sources { await markStale(source) }
        } else if case .everything = target {
            await removeEverything(tiers)
        } else {
            await remove(sources, of: target, tiers)
        }
        return (report, sources)
    }

    /// Invalidates work in progress for these sources: its results are not stored, and no request joins it.
    private func invalidateWork(_ target: PurgeTarget) {
        let source = source(of: target)
        // The tags of sources in progress arrive with the response, and are compared when the work ends.
        epochs.advance(target, source: source)
        if let source {
            originalsInUse.remove([source])
            forget(failures.remove([source]))
        } else {
            originalsInUse.removeAll { target.matches(url: $0.url, host: $0.host, tags: $0.response.tags) }
            forget(failures.removeAll(of: target))
        }
        switch target {
        case .source(let url): clearOutages(url.hostName)
        case .host(let host): clearOutages(host)
        case .everything: clearOutages(nil)
        case .prefix, .tag: break
        }
    }

    /// The key of a target that is one source.
    private func source(of target: PurgeTarget) -> StoreKey? {
        if case .source(let url) = target { source(of: url) } else { nil }
    }

    /// Ends the quarantine of contents that crashed a decoder.
    private func forget(_ contents: [StoreKey]) {
        for content in contents { processing.removeDecoded(identity: content.hex) }
    }

    /// From here on, entries of these sources in the shared tier are not used. Follows the invalidation of work, since
    /// current work stores records that the purge does not concern.
    private func outdate(_ target: PurgeTarget, order: Int64, isSoft: Bool) {
        shared?.purgedOrders.add(target, source: source(of: target), order: order, isSoft: isSoft)
    }

    private func sources(of target: PurgeTarget, _ tiers: TierSet) async -> [StoreKey] {
        if let source = source(of: target) { return [source] }
        var found: Set<StoreKey> = []
        if tiers.contains(.memory) {
            found.formUnion(records.sources { target.matches(url: $0.url, host: $0.host, tags: $0.response.tags) })
        }
        if tiers.contains(.disk), let disk = disk {
            found.formUnion(await disk.sources(matching: target.query))
            found.remove(PurgeProgress.key.source)
        }
        return Array(found)
    }

    /// Counts entries. Addresses are in the records, which may have to be read from disk.
    private func report(on sources: [StoreKey], _ tiers: TierSet, named: Bool) async -> PurgeReport {
        var report = PurgeReport()
        let onDisk = tiers.contains(.disk) ? await disk?.totals(ofSources: sources) ?? [:] : [:]
        for source in sources {
            let inMemory = tiers.contains(.memory) ? memory.totals(ofSource: source) : StoreTotals()
            let held = onDisk[source] ?? StoreTotals()
            let entries = max(inMemory.entries, held.entries)
            guard entries > 0 else { continue }
            let bytes = max(inMemory.bytes, held.bytes)
            report.sourceCount += 1
            report.entries += entries
            report.bytes += bytes
            if named, report.sources.count < Self.listedSources {
                let url = await records.anywhere(source)?.url ?? ""
                report.sources.append(PurgeReport.Source(url: url, entries: entries, bytes: bytes))
            }
        }
        report.sources.sort { $0.url < $1.url }
        return report
    }

    /// Removes from disk first: a concurrent reader may copy an entry to memory until the epoch advances again. Such
    /// copies are removed from memory afterward.
    private func remove(_ sources: [StoreKey], of target: PurgeTarget, _ tiers: TierSet) async {
        if tiers.contains(.disk) { await disk?.removeAll(ofSources: sources) }
        epochs.advance(target, source: source(of: target))
        // Decoded images are kept by their content, which the record names.
        for source in sources {
            if let record = records.inMemory(source) { processing.removeDecoded(identity: record.content.hex) }
        }
        if tiers.contains(.memory) {
            records.remove(sources)
            memory.removeAll(ofSources: sources)
        }
    }

    private func removeEverything(_ tiers: TierSet) async {
        if tiers.contains(.disk) {
            await disk?.removeEverything()
            follower?.save()
        }
        epochs.advance(.everything, source: nil)
        if tiers.contains(.memory) {
            records.shrink(toFraction: 0)
            memory.removeEverything()
            processing.shrinkMemory(toFraction: 0)
        }
    }

    private func markStale(_ source: StoreKey) async {
        let held = await records.onDisk(source)
        guard let record = records.inMemory(source) ?? held else { return }
        var response = record.response
        response.staleSince = now()
        let stale = record.with(response, policy: policy)
        records.store(stale, for: source, in: .memory)
        let key = RequestKeys.record(of: source)
        guard held != nil, let disk = disk, !disk.store(stale.entry, for: key) else { return }
        // The write queue is full. A removal waits for free space in the queue, and without its record the source is
        // not used.
        await disk.remove(key)
        disk.store(stale.entry, for: key)
    }
}
