import DarkroomObjectStorage
import DarkroomStore
import NIOCore

/// Keeps the purge log readable in a short time. Deletes purges that no server needs, and sums lasting purges up, which
/// objects need as long as they may be used.
///
/// Purges that are summed up stay in the log: servers of earlier releases read them there. Any server may write a
/// summary at any time, since each is complete by itself.
struct PurgeLogUpkeep: Sendable {
    /// With more purges after the latest summary, a new one is written.
    static let maxUnsummed = 200
    /// The most summaries that are kept. A server may be about to read an older one.
    private static let maxSummaries = 3

    let shared: SharedTier
    let log: PurgeLog
    /// The time for each request.
    let limit: Duration

    /// Takes over the lasting purges of the latest summary that can be read.
    ///
    /// - Returns: the time until which they are known, in milliseconds since 1970; nil without a summary.
    func recall() async throws(ObjectStorageError) -> Int64? {
        for name in try await log.summaries(within: limit).reversed() {
            let latest = log.latestTime + PurgeFollower.clockTolerance
            guard let bytes = try await log.summary(name, within: limit),
                let summary = PurgeSummary(bytes, latest: latest)
            else { continue }
            shared.purgedOrders.include(summary)
            return name.time
        }
        return nil
    }

    /// Deletes what no server needs, and sums up if many purges have come.
    ///
    /// - Parameter position: the time until which this server knows all purges.
    func run(position: Int64) async throws(ObjectStorageError) {
        let summedUp = try await log.summaries(within: limit).last?.time
        let unsummed = try await log.names(since: summedUp, within: limit).names
        if unsummed.count > Self.maxUnsummed { try await sumUp(position: position) }
        // Of a very long log, the oldest.
        let old = try await log.names(since: nil, within: limit).names.filter { name in
            position - name.time > (name.isLasting ? lifetime : PurgeFollower.retention)
        }
        try await log.delete(old, within: limit)
    }

    /// Writes a summary of the lasting purges.
    func sumUp(position: Int64) async throws(ObjectStorageError) {
        // Later purges may not be known yet.
        let time = position - PurgeFollower.overlap
        shared.purgedOrders.removeLasting(upTo: position - lifetime)
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
