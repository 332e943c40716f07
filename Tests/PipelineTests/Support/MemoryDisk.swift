import Store
import Synchronization

/// A second tier that keeps everything in a dictionary, at once.
final class MemoryDisk: Storing {
    private let entries = Mutex<[EntryKey: StoredEntry]>([:])

    var count: Int { entries.withLock(\.count) }

    func entry(for key: EntryKey) async -> StoredEntry? { entries.withLock { $0[key] } }
    func store(_ entry: StoredEntry, for key: EntryKey) { entries.withLock { $0[key] = entry } }
    func remove(_ key: EntryKey) async { entries.withLock { $0[key] = nil } }
    func removeAll(ofSource source: StoreKey) async {
        entries.withLock { entries in entries = entries.filter { $0.key.source != source } }
    }
}
