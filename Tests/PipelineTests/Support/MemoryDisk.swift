import NIOCore
import Store
import Synchronization

/// A second tier that keeps everything in a dictionary, at once; one reading can be held back by a gate.
final class MemoryDisk: Storing {
    private let entries = Mutex<[EntryKey: StoredEntry]>([:])
    let readGate = Mutex<Gate?>(nil)
    let waits = Counter()

    var count: Int { entries.withLock(\.count) }

    func entry(for key: EntryKey) async -> StoredEntry? {
        let entry = entries.withLock { $0[key] }
        let gate = readGate.withLock { gate in
            defer { gate = nil }
            return gate
        }
        if let gate { await gate.pass() }
        return entry
    }

    func store(_ entry: StoredEntry, for key: EntryKey) -> Bool {
        entries.withLock { $0[key] = entry }
        return true
    }

    func storeAndWait(_ entry: StoredEntry, for key: EntryKey) async -> Bool {
        waits.add()
        return store(entry, for: key)
    }

    func remove(_ key: EntryKey) async { entries.withLock { $0[key] = nil } }

    func removeAll(ofSources sources: [StoreKey]) async -> StoreTotals {
        remove { sources.contains($0.source) }
    }

    func removeEverything() async -> StoreTotals { remove { _ in true } }

    func removeExpired() async -> StoreTotals { StoreTotals() }

    func sources(labelled query: LabelQuery) async -> [StoreKey] {
        entries.withLock { entries in
            let found = entries.filter { _, entry in
                switch query {
                case .equal(let label): entry.labels.contains(label)
                case .prefix(let prefix): entry.labels.contains { $0.hasPrefix(prefix) }
                case .all: true
                }
            }
            return Array(Set(found.keys.map(\.source)))
        }
    }

    func totals(ofSources sources: [StoreKey]) async -> [StoreKey: StoreTotals] {
        entries.withLock { entries in
            var totals: [StoreKey: StoreTotals] = [:]
            for (key, entry) in entries where sources.contains(key.source) {
                totals[key.source, default: StoreTotals()].entries += 1
                totals[key.source, default: StoreTotals()].bytes += entry.body.readableBytes
            }
            return totals
        }
    }

    private func remove(where isMeant: (EntryKey) -> Bool) -> StoreTotals {
        entries.withLock { entries in
            var totals = StoreTotals()
            for (key, entry) in entries where isMeant(key) {
                totals.entries += 1
                totals.bytes += entry.body.readableBytes
                entries[key] = nil
            }
            return totals
        }
    }
}
