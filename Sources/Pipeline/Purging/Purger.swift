import DarkroomNetwork
import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import Foundation

/// Takes sources out of the caches, by what people know of them.
struct Purger: Sendable {
    let origin: any OriginFetching
    let keep: KeepResults
    let failures: FailureMemory
    let processing: any ImageProcessing
    let policy: FreshnessPolicy
    let now: @Sendable () -> Date

    /// How many sources a report names.
    private static let listedSources = 1_000

    func purge(
        _ target: PurgeTarget, soft: Bool, dryRun: Bool, tiers: TierSet, keyFilter: any CacheKeyFilter
    ) async -> PurgeReport {
        if !dryRun { stopWork(target, keyFilter) }
        let sources = await sources(of: target, tiers, keyFilter)
        let report = await report(on: sources, tiers, named: dryRun)
        guard !dryRun else { return report }
        if soft {
            for source in sources { await markStale(source) }
        } else if case .everything = target {
            await removeEverything(tiers)
        } else {
            await remove(sources, tiers)
        }
        return report
    }

    func removeExpired() async -> PurgeReport {
        var report = PurgeReport()
        guard let removed = await keep.disk?.removeExpired() else { return report }
        report.entries = removed.entries
        report.bytes = removed.bytes
        return report
    }

    func shrinkMemory(toFraction fraction: Double) {
        keep.records.shrink(toFraction: fraction)
        keep.memory.shrink(toBytes: Int(Double(keep.memory.statistics.bytes) * fraction))
        // Last, since it gives what the others freed back to the system.
        processing.shrinkMemory(toFraction: fraction)
    }

    /// From here on nothing that is under way for these sources is kept, and nobody joins it.
    private func stopWork(_ target: PurgeTarget, _ keyFilter: any CacheKeyFilter) {
        if case .source(let url) = target {
            let source = RequestKeys.source(keyFilter.identity(of: url))
            keep.generations.advance(source)
            keep.inUse.forget([source])
            failures.forget([source])
            origin.clearOutages(ofHost: url.hostName)
            return
        }
        // Which of the sources under way are meant is not known yet: tags come with the answer.
        keep.generations.advanceAll()
        keep.inUse.forgetEverything()
        failures.forget { url, host, record in
            target.means(url: url, host: host) || target.means(tags: record?.response.tags ?? [])
        }
        switch target {
        case .host(let host): origin.clearOutages(ofHost: host)
        case .everything: origin.clearOutages(ofHost: nil)
        case .source, .prefix, .tag: break
        }
    }

    private func sources(
        of target: PurgeTarget, _ tiers: TierSet, _ keyFilter: any CacheKeyFilter
    ) async -> [StoreKey] {
        if case .source(let url) = target { return [RequestKeys.source(keyFilter.identity(of: url))] }
        var found: Set<StoreKey> = []
        if tiers.contains(.memory) {
            found.formUnion(
                keep.records.sources {
                    target.means(url: $0.url, host: $0.host) || target.means(tags: $0.response.tags)
                })
        }
        if tiers.contains(.disk), let disk = keep.disk {
            found.formUnion(await disk.sources(matching: target.query))
        }
        return Array(found)
    }

    /// Their names are in their records, which may have to be read from disk.
    private func report(on sources: [StoreKey], _ tiers: TierSet, named: Bool) async -> PurgeReport {
        var report = PurgeReport()
        let onDisk = tiers.contains(.disk) ? await keep.disk?.totals(ofSources: sources) ?? [:] : [:]
        for source in sources {
            let inMemory = tiers.contains(.memory) ? keep.memory.totals(ofSource: source) : StoreTotals()
            let held = onDisk[source] ?? StoreTotals()
            let entries = max(inMemory.entries, held.entries)
            guard entries > 0 else { continue }
            let bytes = max(inMemory.bytes, held.bytes)
            report.sourceCount += 1
            report.entries += entries
            report.bytes += bytes
            if named, report.sources.count < Self.listedSources {
                let url = await keep.records.anywhere(source)?.url ?? ""
                report.sources.append(PurgeReport.Source(url: url, entries: entries, bytes: bytes))
            }
        }
        report.sources.sort { $0.url < $1.url }
        return report
    }

    /// The disk goes first. Who reads there meanwhile might bring it back to memory, but not once the generation has risen
    /// again; and what they have brought back until then goes now.
    private func remove(_ sources: [StoreKey], _ tiers: TierSet) async {
        if tiers.contains(.disk) { await keep.disk?.removeAll(ofSources: sources) }
        for source in sources { keep.generations.advance(source) }
        // Pictures kept for speed go by their content, which the record names.
        for source in sources {
            if let record = keep.records.inMemory(source) { processing.removeDecoded(identity: record.content.hex) }
        }
        if tiers.contains(.memory) {
            keep.records.forget(sources)
            keep.memory.removeAll(ofSources: sources)
        }
    }

    private func removeEverything(_ tiers: TierSet) async {
        if tiers.contains(.disk) { await keep.disk?.removeEverything() }
        keep.generations.advanceAll()
        if tiers.contains(.memory) {
            keep.records.shrink(toFraction: 0)
            keep.memory.removeEverything()
            processing.shrinkMemory(toFraction: 0)
        }
    }

    private func markStale(_ source: StoreKey) async {
        let held = await keep.records.onDisk(source)
        guard let record = keep.records.inMemory(source) ?? held else { return }
        var response = record.response
        response.staleSince = now()
        let stale = record.with(response, policy: policy)
        keep.records.store(stale, for: source, in: .memory)
        let key = RequestKeys.record(of: source)
        guard held != nil, let disk = keep.disk, !disk.store(stale.entry, for: key) else { return }
        // Its queue is full. A removal waits until there is room, and without its record nothing is used.
        await disk.remove(key)
        disk.store(stale.entry, for: key)
    }
}

extension PurgeTarget {
    func means(url: String, host: String) -> Bool {
        switch self {
        case .source(let source): source.canonical == url
        case .prefix(let prefix): url.hasPrefix(prefix)
        case .host(let name): host == name
        case .tag: false
        case .everything: true
        }
    }

    func means(tags: @autoclosure () -> [String]) -> Bool {
        if case .tag(let tag) = self { tags().contains(tag) } else { false }
    }

    /// How the disk finds them.
    fileprivate var query: LabelFilter {
        switch self {
        case .source(let source): .equal("url:\(source.canonical)")
        case .prefix(let prefix): .prefix("url:\(prefix)")
        case .host(let host): .equal("host:\(host)")
        case .tag(let tag): .equal("tag:\(tag)")
        case .everything: .all
        }
    }
}
