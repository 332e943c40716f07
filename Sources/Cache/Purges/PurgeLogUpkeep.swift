import DarkroomNetwork
import DarkroomObjectStorage
import DarkroomStore
import NIOCore

/// Keeps the purge log readable in a short time. Deletes purges that no server needs, and sums purges up, which objects
/// need as long as they may be used.
///
/// Purges that are summed up stay in the log: servers of earlier releases read them there. Any server may write a
/// summary at any time, since each is complete by itself.
struct PurgeLogUpkeep: Sendable {
    /// With more purges after the latest summary, a new one is written.
    static let maxUnsummed = 200
    /// After this time, too: the log has purges of single sources for a shorter time than objects are used.
    private static let longestPause = Int64(86_400_000)
    /// The most purges of single sources that are read at the start.
    private static let maxSources = 10_000
    private static let concurrency = 16
    private static let maxReads = 3
    /// The most summaries that are kept. A server may be about to read an older one.
    private static let maxSummaries = 3

    let shared: SharedTier
    let log: PurgeLog
    let source: @Sendable (SourceURL) -> StoreKey
    /// The time for each request.
    let limit: Duration

    /// The time until which a summary is complete, in milliseconds since 1970, and the order after which it has the
    /// purges of single sources.
    typealias Recalled = (time: Int64, sourcesAfter: Int64)

    /// Takes over the purges of the latest readable summary, and of the summaries before it up to one that has purges
    /// of single sources. Servers of earlier releases write summaries without them.
    ///
    /// - Returns: nil without a summary.
    func recall() async throws(ObjectStorageError) -> Recalled? {
        var latest: Recalled?
        for name in try await log.summaries(within: limit).reversed() {
            guard let bytes = try await log.summary(name, within: limit),
                let summary = PurgeSummary(bytes, latest: order(at: log.latestTime))
            else { continue }
            shared.purgedOrders.include(summary)
            let recalled: Recalled = (name.time, summary.sourcesAfter)
            if summary.sourcesAfter != .max { return recalled }
            latest = latest ?? recalled
        }
        return latest
    }

    /// The order after which the log has the purges of single sources. Servers may have deleted earlier ones.
    var sourcesKept: Int64 {
        order(at: shared.store.milliseconds - PurgeFollower.retention + PurgeFollower.overlap)
    }

    /// The order after which a summary and the log have the purges of single sources.
    func sourcesAfter(_ recalled: Recalled?) -> Int64 {
        guard let recalled, order(at: recalled.time) >= sourcesKept else { return sourcesKept }
        return min(recalled.sourcesAfter, order(at: recalled.time))
    }

    /// Takes over purges of single sources that were carried out before, the latest first, until one cannot be read.
    /// They concern variants that servers stored without knowing them.
    ///
    /// - Parameters:
    ///   - names: oldest first.
    ///   - order: the order after which there are no others.
    func recallSources(_ names: [PurgeLog.Name], after order: Int64) async {
        var first = order
        var rest = names[...]
        while let name = rest.last, self.order(at: name.time) > first {
            let batch = rest.suffix(Self.concurrency)
            rest = rest.dropLast(Self.concurrency)
            let unreadable = await withTaskGroup(of: Int64?.self) { group in
                for name in batch { group.addTask { await recallSource(name) ? nil : name.time } }
                return await group.reduce(into: [Int64]()) { if let time = $1 { $0.append(time) } }
            }
            if let time = unreadable.max() { first = max(first, self.order(at: time)) }
            if names.count - rest.count >= Self.maxSources, let next = rest.last {
                first = max(first, self.order(at: next.time))
            }
        }
        shared.purgedOrders.recordSources(after: first)
    }

    private func recallSource(_ name: PurgeLog.Name) async -> Bool {
        var bytes: ByteBuffer?
        for _ in 0..<Self.maxReads where bytes == nil { bytes = try? await log.purge(name, within: limit) }
        guard let message = bytes.flatMap({ PurgeMessage($0) }), let target = message.target,
            case .source(let url) = target
        else { return false }
        shared.purgedOrders.add(target, source: source(url), order: order(at: name.time), isSoft: message.isSoft)
        return true
    }

    private func order(at time: Int64) -> Int64 { time + PurgeFollower.orderLead }

    /// Forgets and deletes what no server needs, and sums up if many purges have come.
    ///
    /// - Parameter position: the time until which this server knows all purges.
    func run(position: Int64) async throws(ObjectStorageError) {
        shared.purgedOrders.removeTargets(upTo: position - lifetime)
        let summedUp = try await log.summaries(within: limit).last?.time
        let unsummed = try await log.names(since: summedUp, within: limit).names
        if unsummed.count > Self.maxUnsummed || position - (summedUp ?? -1) > Self.longestPause {
            try await sumUp(position: position)
        }
        // Of a very long log, the oldest.
        let old = try await log.names(since: nil, within: limit).names.filter { name in
            position - name.time > (name.isLasting ? lifetime : PurgeFollower.retention)
        }
        try await log.delete(old, within: limit)
    }

    /// Writes a summary of the purges.
    func sumUp(position: Int64) async throws(ObjectStorageError) {
        // Later purges may not be known yet.
        let time = position - PurgeFollower.overlap
        let bytes = shared.purgedOrders.summary.bytes
        guard time >= 0, bytes.readableBytes <= shared.store.configuration.maxBodyBytes else { return }
        try await log.append(summary: bytes, until: time, within: limit)
        let old = try await log.summaries(within: limit).dropLast(Self.maxSummaries)
        try await log.delete(summaries: Array(old), within: limit)
    }

    /// How long lasting purges are kept: no older object is used.
    private var lifetime: Int64 {
        max(Int64(shared.store.configuration.maxAge / .milliseconds(1)), PurgeFollower.retention)
            + PurgeFollower.overlap
    }
}
