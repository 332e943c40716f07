import DarkroomHTTPCaching
import DarkroomNetwork
package import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import Foundation
import Synchronization

// Purges: they remove sources, or mark them as stale, here and on the other servers.
extension ImageCache {
    /// The number of sources that a report lists.
    private static let listedSources = 1_000

    /// The sources that are removed together. Writes to disk come in between.
    private static let sourcesBatch = 2_000

    /// Purges sources; see `ImagePipeline.purge`.
    package func purge(
        _ target: PurgeTarget, soft: Bool, dryRun: Bool, tiers: TierSet,
        progress: @escaping @Sendable (PurgeReport) -> Void
    ) async -> PurgeReport {
        guard !dryRun else { return await self.report(on: self.sources(of: target, tiers), tiers, named: true) }
        let order = tiers.contains(.shared) ? await follower?.order() : nil
        let underWay = order.flatMap { shared?.purgesUnderWay.begin(target, source: source(of: target), order: $0) }
        defer { if let underWay { shared?.purgesUnderWay.end(underWay) } }
        invalidateWork(target)
        if let order { outdate(target, order: order, isSoft: soft) }
        var announced: PurgeLog.Name?
        var report = PurgeReport()
        if let follower, let order {
            announced = await follower.announce(target, isSoft: soft, order: order, source: source(of: target))
            report.propagation = announced == nil ? .failed : .within(follower.propagation)
        }
        let sources = await purgeEntries(target, soft: soft, tiers, &report, progress)
        if let announced, let order {
            follower?.finish(announced, target, isSoft: soft, order: order, sources: sources)
        }
        return report
    }

    /// Whether other servers may have purged sources while this server was suspended.
    package var isBehind: Bool { follower?.assurance.isBehind ?? false }

    /// Carries out the purges of other servers that share a tier with this server.
    ///
    /// - Returns: whether the purges could be read; true without a shared tier.
    @discardableResult
    package func carryOutPurges() async -> Bool {
        guard let follower else { return true }
        return await withTaskExecutorPreference(globalConcurrentExecutor) { await follower.poll(carryOut) }
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
            shared?.purgedOrders.doubt(upTo: order)
            return
        }
        let underWay = shared?.purgesUnderWay.begin(target, source: source(of: target), order: order)
        defer { if let underWay { shared?.purgesUnderWay.end(underWay) } }
        invalidateWork(target, upTo: order)
        outdate(target, order: order, isSoft: isSoft)
        var report = PurgeReport()
        _ = await purgeEntries(target, soft: isSoft, [.memory, .disk], upTo: order, &report) { _ in }
    }

    /// Removes entries, or marks them as stale, some sources at a time.
    ///
    /// - Parameters:
    ///   - order: the order up to which the purge concerns work in progress; nil = all of it.
    ///   - report: counts the entries, and is reported as it grows.
    /// - Returns: the sources that were found.
    private func purgeEntries(
        _ target: PurgeTarget, soft: Bool, _ tiers: TierSet, upTo order: Int64? = nil, _ report: inout PurgeReport,
        _ progress: @Sendable (PurgeReport) -> Void
    ) async -> [StoreKey] {
        progress(report)
        let hold = PurgeHold(records.unconfirmedRecords, clears: follower == nil)
        defer { hold.end() }
        // Ends with this function.
        async let _: Void = hold.begin(clock, now)
        // In the order of the index, whose pages are then written once.
        let sources = await sources(of: target, tiers).sorted()
        for start in stride(from: 0, to: sources.count, by: Self.sourcesBatch) {
            let batch = Array(sources[start..<min(start + Self.sourcesBatch, sources.count)])
            report.add(await self.report(on: batch, tiers, named: false))
            if soft {
                for source in batch { await markStale(source) }
            } else if target != .everything {
                if tiers.contains(.disk) { await disk?.removeAll(ofSources: batch) }
                removeFromMemory(batch, tiers)
            }
            progress(report)
        }
        if soft {
            // Work that found entries before they were marked.
            epochs.advance(target, source: source(of: target), order: order)
        } else if target == .everything {
            await removeEverything(tiers, upTo: order)
        } else {
            removeCopies(of: sources, target, tiers, upTo: order)
        }
        return sources
    }

    /// Invalidates work in progress for these sources: its results are not stored, and no request joins it.
    ///
    /// - Parameter order: the order of another server's purge, which does not concern what was requested from origins
    ///   after it; nil = the purge concerns all work.
    private func invalidateWork(_ target: PurgeTarget, upTo order: Int64? = nil) {
        let source = source(of: target)
        // The tags of sources in progress arrive with the response, and are compared when the work ends.
        epochs.advance(target, source: source, order: order)
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

    private func removeFromMemory(_ sources: [StoreKey], _ tiers: TierSet) {
        // Decoded images are kept by their content, which the record names.
        for source in sources {
            if let record = records.inMemory(source) { processing.removeDecoded(identity: record.content.hex) }
        }
        if tiers.contains(.memory) {
            records.remove(sources)
            memory.removeAll(ofSources: sources)
        }
    }

    /// Until the epoch advances again, a concurrent reader may copy an entry to memory that is no longer on disk.
    private func removeCopies(of sources: [StoreKey], _ target: PurgeTarget, _ tiers: TierSet, upTo order: Int64?) {
        epochs.advance(target, source: source(of: target), order: order)
        removeFromMemory(sources, tiers)
    }

    private func removeEverything(_ tiers: TierSet, upTo order: Int64?) async {
        if tiers.contains(.disk) {
            await disk?.removeEverything()
            follower?.save()
        }
        epochs.advance(.everything, source: nil, order: order)
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

/// Marks records suspect while a purge takes long: what it has not removed yet is then used only as origins confirm it.
private final class PurgeHold: Sendable {
    private enum State {
        case waiting, holding, ended
    }

    private let unconfirmedRecords: UnconfirmedRecords
    private let clears: Bool
    private let state = Mutex(State.waiting)

    /// - Parameter clears: see ``UnconfirmedRecords/endPurge(clears:)``.
    init(_ unconfirmedRecords: UnconfirmedRecords, clears: Bool) {
        self.unconfirmedRecords = unconfirmedRecords
        self.clears = clears
    }

    func begin(_ clock: any Clock<Duration>, _ now: @Sendable () -> Date) async {
        guard (try? await clock.sleep(for: PurgeAssurance.slowRead)) != nil else { return }
        state.withLock { state in
            guard state == .waiting else { return }
            state = .holding
            unconfirmedRecords.beginPurge(at: now())
        }
    }

    func end() {
        state.withLock { state in
            if state == .holding { unconfirmedRecords.endPurge(clears: clears) }
            state = .ended
        }
    }
}

extension PurgeReport {
    fileprivate mutating func add(_ other: PurgeReport) {
        sourceCount += other.sourceCount
        entries += other.entries
        bytes += other.bytes
    }
}
