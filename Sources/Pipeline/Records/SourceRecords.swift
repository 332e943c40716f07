import DarkroomHTTPCaching
import DarkroomStore
import Synchronization

/// The records of sources: parsed in memory, as bytes on disk.
final class SourceRecords: Sendable {
    private let table: Mutex<SieveTable<StoreKey, SourceRecord>>
    private let disk: (any Storing)?
    private let policy: FreshnessPolicy

    /// - Parameter budgetBytes: of the parsed records; 0 = they are read from disk each time.
    init(budgetBytes: Int, disk: (any Storing)?, policy: FreshnessPolicy) {
        table = Mutex(SieveTable(budgetBytes: budgetBytes))
        self.disk = disk
        self.policy = policy
    }

    /// Memory alone, without suspending.
    func inMemory(_ source: StoreKey) -> SourceRecord? {
        table.withLock { $0.value(for: source) }
    }

    /// Memory alone, without a sign that anyone asked for it.
    func peek(_ source: StoreKey) -> SourceRecord? {
        table.withLock { $0.peek(source) }
    }

    /// The record that an entry from disk holds.
    func parsed(_ entry: StoredEntry) -> SourceRecord? { SourceRecord(entry.metadata, policy: policy) }

    /// Disk alone.
    func onDisk(_ source: StoreKey) async -> SourceRecord? {
        guard let entry = await disk?.entry(for: RequestKeys.record(of: source)) else { return nil }
        return parsed(entry)
    }

    /// Memory, then disk.
    func anywhere(_ source: StoreKey) async -> SourceRecord? {
        if let record = inMemory(source) { return record }
        return await onDisk(source)
    }

    /// Puts a record from disk into memory, but not in place of what somebody may have put there meanwhile.
    func bringBack(_ record: SourceRecord, for source: StoreKey) {
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

    /// Forgets what is in memory; what is on disk goes with the source's other entries there.
    func forget(_ sources: [StoreKey]) {
        table.withLock { table in
            for source in sources { _ = table.remove(for: source) }
        }
    }

    /// Sources in memory whose record is one of those.
    func sources(where isWanted: (SourceRecord) -> Bool) -> [StoreKey] {
        table.withLock { $0.keys { isWanted($1) } }
    }

    /// - Parameter fraction: of what is held.
    func shrink(toFraction fraction: Double) {
        let freed = table.withLock { $0.shrink(toBytes: Int(Double($0.bytes) * fraction)) }
        _ = consume freed
    }
}
