import DarkroomEviction
import DarkroomHTTPCaching
import DarkroomRequests
import DarkroomStore
import NIOCore
import Synchronization

/// The records of sources, parsed in memory and encoded on disk.
final class SourceRecords: Sendable {
    private let table: Mutex<SieveTable<StoreKey, SourceRecord>>
    private let disk: (any Storing)?
    private let policy: FreshnessPolicy
    /// The records read from disk last if `table` is smaller, so that the same bytes need not be decoded again. The
    /// bytes on disk take precedence.
    private let decoded: Mutex<SieveTable<StoreKey, Decoded>>
    private static let decodedBytes = 1 << 20
    let unconfirmedRecords: UnconfirmedRecords

    private struct Decoded: Sendable {
        let bytes: ByteBuffer
        let isRestored: Bool
        let record: SourceRecord
    }

    /// - Parameters:
    ///   - budgetBytes: the budget of the parsed records; with 0 they are read from disk each time.
    ///   - suspectsDisk: whether other servers may have purged entries on disk while this server was stopped.
    init(budgetBytes: Int, disk: (any Storing)?, suspectsDisk: Bool = false, policy: FreshnessPolicy) {
        table = Mutex(SieveTable(budgetBytes: budgetBytes))
        self.disk = disk
        self.policy = policy
        unconfirmedRecords = UnconfirmedRecords(includesDisk: suspectsDisk)
        let isNeeded = disk != nil && budgetBytes < Self.decodedBytes
        decoded = Mutex(SieveTable(budgetBytes: isNeeded ? Self.decodedBytes : 0))
    }

    /// Reads memory only, without suspending.
    func inMemory(_ source: StoreKey) -> SourceRecord? {
        table.withLock { $0.value(for: source) }.map { judged($0, isOnDisk: false) }
    }

    /// Reads memory only, without counting as a use.
    func peek(_ source: StoreKey) -> SourceRecord? {
        table.withLock { $0.peek(source) }.map { judged($0, isOnDisk: false) }
    }

    /// Decodes the record in an entry from disk.
    ///
    /// A record that the store has restored may be older than the source's last record, so it is revalidated before
    /// use.
    func decode(_ entry: StoredEntry, of source: StoreKey) -> SourceRecord? {
        let isRestored = entry.isRestored
        if let known = decoded.withLock({ $0.value(for: source) }), known.bytes == entry.metadata,
            known.isRestored == isRestored
        {
            return judged(known.record, isOnDisk: true)
        }
        guard var record = SourceRecord(entry.metadata, policy: policy) else { return nil }
        if isRestored { record = record.unconfirmed(policy: policy) }
        let known = Decoded(bytes: entry.metadata, isRestored: isRestored, record: record)
        let cost = record.costBytes + entry.metadata.readableBytes
        let freed = decoded.withLock { $0.insert(known, cost: cost, for: source) }
        _ = consume freed
        return judged(record, isOnDisk: true)
    }

    /// The record, which has to be revalidated before use if its source may have been purged unnoticed.
    func judged(_ record: SourceRecord, isOnDisk: Bool) -> SourceRecord {
        unconfirmedRecords.concerns(record, isOnDisk: isOnDisk) ? record.unconfirmed(policy: policy) : record
    }

    /// Reads disk only.
    func onDisk(_ source: StoreKey) async -> SourceRecord? {
        guard let entry = await disk?.entry(for: RequestKeys.record(of: source)) else { return nil }
        return decode(entry, of: source)
    }

    /// Reads memory, then disk.
    func anywhere(_ source: StoreKey) async -> SourceRecord? {
        if let record = inMemory(source) { return record }
        return await onDisk(source)
    }

    /// Copies a record from disk to memory, unless memory has a newer record by now.
    func promote(_ record: SourceRecord, for source: StoreKey) {
        let freed = table.withLock { table in
            table.peek(source) == nil ? table.insert(record, cost: record.costBytes, for: source) : []
        }
        _ = consume freed
    }

    func store(_ record: SourceRecord, for source: StoreKey, in tiers: TierSet) {
        if tiers.contains(.memory) {
            let freed = table.withLock { $0.insert(record, cost: record.costBytes, for: source) }
            _ = consume freed
        }
        if tiers.contains(.disk) {
            disk?.store(record.entry, for: RequestKeys.record(of: source))
        }
    }

    /// Removes records from memory. On disk a record is removed with the source's other entries.
    func remove(_ sources: [StoreKey]) {
        table.withLock { table in
            for source in sources { _ = table.remove(for: source) }
        }
    }

    /// The sources in memory whose record satisfies the predicate.
    func sources(where isIncluded: (SourceRecord) -> Bool) -> [StoreKey] {
        table.withLock { $0.keys { isIncluded($1) } }
    }

    /// Evicts records until this fraction of the bytes held is left.
    func shrink(toFraction fraction: Double) {
        let freed = table.withLock { $0.shrink(toBytes: Int(Double($0.bytes) * fraction)) }
        _ = consume freed
    }
}
