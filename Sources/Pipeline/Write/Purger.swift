import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import Foundation

/// Removes sources from the caches.
struct Purger: Sendable {
    let origin: any OriginFetching
    let caches: PipelineCaches
    let failures: FailureMemory
    let processing: any ImageProcessing
    let policy: FreshnessPolicy
    let now: @Sendable () -> Date

    /// The number of sources that a report lists.
    private static let listedSources = 1_000

    /// - Parameter order: the order of the purge in the shared tier; nil if it does not concern that.
    /// - Returns: the report, and the sources that were found.
    func purge(
        _ target: PurgeTarget, soft: Bool, dryRun: Bool, tiers: TierSet, keyFilter: any CacheKeyFilter,
        order: Int64? = nil
    ) async -> (report: PurgeReport, sources: [StoreKey]) {
        if !dryRun {
            invalidateWork(target, keyFilter)
            if let order { outdate(target, keyFilter, order: order, isSoft: soft) }
        }
        let sources = await sources(of: target, tiers, keyFilter)
        let report = await report(on: sources, tiers, named: dryRun)
        guard !dryRun else { return (report, sources) }
        if soft {
            for source in sources { await markStale(source) }
        } else if case .everything = target {
            await removeEverything(tiers)
        } else {
            await remove(sources, tiers)
        }
        return (report, sources)
    }

    func removeExpired() async -> PurgeReport {
        var report = PurgeReport()
        guard let removed = await caches.disk?.removeExpired() else { return report }
        report.entries = removed.entries
        report.bytes = removed.bytes
        return report
    }

    func shrinkMemory(toFraction fraction: Double) {
        caches.records.shrink(toFraction: fraction)
        caches.memory.shrink(toBytes: Int(Double(caches.memory.statistics.bytes) * fraction))
        // Last, since it returns the memory that the others freed to the system.
        processing.shrinkMemory(toFraction: fraction)
    }

    /// Invalidates work in progress for these sources: its results are not stored, and no request joins it.
    private func invalidateWork(_ target: PurgeTarget, _ keyFilter: any CacheKeyFilter) {
        if case .source(let url) = target {
            let source = RequestKeys.source(keyFilter.identity(of: url))
            caches.epochs.advance(source)
            caches.originalsInUse.remove([source])
            failures.remove([source])
            origin.clearOutages(ofHost: url.hostName)
            return
        }
        // Which of the sources in progress match is not known yet, since tags arrive with the response.
        caches.epochs.advanceAll()
        caches.originalsInUse.removeAll()
        failures.removeAll { url, host, record in
            target.matches(url: url, host: host) || target.matches(tags: record?.response.tags ?? [])
        }
        switch target {
        case .host(let host): origin.clearOutages(ofHost: host)
        case .everything: origin.clearOutages(ofHost: nil)
        case .source, .prefix, .tag: break
        }
    }

    /// From here on, what the shared tier has of these sources is not used. Follows the invalidation of work, since
    /// work that is current stores records that this does not concern.
    private func outdate(_ target: PurgeTarget, _ keyFilter: any CacheKeyFilter, order: Int64, isSoft: Bool) {
        var source: StoreKey?
        if case .source(let url) = target { source = RequestKeys.source(keyFilter.identity(of: url)) }
        caches.shared?.horizon.add(target, source: source, order: order, isSoft: isSoft)
    }

    private func sources(
        of target: PurgeTarget, _ tiers: TierSet, _ keyFilter: any CacheKeyFilter
    ) async -> [StoreKey] {
        if case .source(let url) = target { return [RequestKeys.source(keyFilter.identity(of: url))] }
        var found: Set<StoreKey> = []
        if tiers.contains(.memory) {
            found.formUnion(
                caches.records.sources {
                    target.matches(url: $0.url, host: $0.host) || target.matches(tags: $0.response.tags)
                })
        }
        if tiers.contains(.disk), let disk = caches.disk {
            found.formUnion(await disk.sources(matching: target.query))
            found.remove(PurgeFollower.positionKey.source)
        }
        return Array(found)
    }

    /// Counts entries. Addresses are in the records, which may have to be read from disk.
    private func report(on sources: [StoreKey], _ tiers: TierSet, named: Bool) async -> PurgeReport {
        var report = PurgeReport()
        let onDisk = tiers.contains(.disk) ? await caches.disk?.totals(ofSources: sources) ?? [:] : [:]
        for source in sources {
            let inMemory = tiers.contains(.memory) ? caches.memory.totals(ofSource: source) : StoreTotals()
            let held = onDisk[source] ?? StoreTotals()
            let entries = max(inMemory.entries, held.entries)
            guard entries > 0 else { continue }
            let bytes = max(inMemory.bytes, held.bytes)
            report.sourceCount += 1
            report.entries += entries
            report.bytes += bytes
            if named, report.sources.count < Self.listedSources {
                let url = await caches.records.anywhere(source)?.url ?? ""
                report.sources.append(PurgeReport.Source(url: url, entries: entries, bytes: bytes))
            }
        }
        report.sources.sort { $0.url < $1.url }
        return report
    }

    /// Removes from disk first: a concurrent reader may copy an entry to memory until the epoch advances again, and
    /// what it copied until then is removed from memory afterwards.
    private func remove(_ sources: [StoreKey], _ tiers: TierSet) async {
        if tiers.contains(.disk) { await caches.disk?.removeAll(ofSources: sources) }
        for source in sources { caches.epochs.advance(source) }
        // Decoded images are kept by their content, which the record names.
        for source in sources {
            if let record = caches.records.inMemory(source) { processing.removeDecoded(identity: record.content.hex) }
        }
        if tiers.contains(.memory) {
            caches.records.remove(sources)
            caches.memory.removeAll(ofSources: sources)
        }
    }

    private func removeEverything(_ tiers: TierSet) async {
        if tiers.contains(.disk) { await caches.disk?.removeEverything() }
        caches.epochs.advanceAll()
        if tiers.contains(.memory) {
            caches.records.shrink(toFraction: 0)
            caches.memory.removeEverything()
            processing.shrinkMemory(toFraction: 0)
        }
    }

    private func markStale(_ source: StoreKey) async {
        let held = await caches.records.onDisk(source)
        guard let record = caches.records.inMemory(source) ?? held else { return }
        var response = record.response
        response.staleSince = now()
        let stale = record.with(response, policy: policy)
        caches.records.store(stale, for: source, in: .memory)
        let key = RequestKeys.record(of: source)
        guard held != nil, let disk = caches.disk, !disk.store(stale.entry, for: key) else { return }
        // The write queue is full. A removal waits for room, and without its record the source is not used.
        await disk.remove(key)
        disk.store(stale.entry, for: key)
    }
}
