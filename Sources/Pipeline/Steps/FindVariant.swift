import Foundation
import NIOCore
import Store

/// The first two places to look: the finished picture in memory, then on disk.
struct FindVariant: Sendable {
    let memory: MemoryStore
    let disk: (any Storing)?
    let lifetime: OriginalLifetime

    struct Found {
        var body: ByteBuffer
        var record: VariantRecord
        var layer: CacheReport.Layer
    }

    /// Memory alone, without suspending: the path of a hot picture.
    func inMemory(_ key: EntryKey) -> Found? {
        memory.entry(for: key).flatMap { usable($0, .memory) }
    }

    /// What is on disk is brought back to memory.
    func onDisk(_ key: EntryKey) async -> Found? {
        guard let entry = await disk?.entry(for: key), let found = usable(entry, .disk) else { return nil }
        memory.store(entry, for: key)
        return found
    }

    /// A variant is never fresher than its original.
    private func usable(_ entry: StoredEntry, _ layer: CacheReport.Layer) -> Found? {
        guard let record = VariantRecord(entry.metadata), lifetime.isFresh(record.original) else { return nil }
        return Found(body: entry.body, record: record, layer: layer)
    }
}

/// How long originals count: one fixed time for all.
struct OriginalLifetime: Sendable {
    let maxAge: Duration
    let now: @Sendable () -> Date

    func isFresh(_ record: OriginalRecord) -> Bool {
        let age = now().timeIntervalSince(record.fetchedAt)
        return age < maxAge / .seconds(1)
    }
}
