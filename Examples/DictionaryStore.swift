import Darkroom
import NIOCore
import Synchronization

/// A disk tier of your own: here a dictionary, which never evicts and ends with the process; in your service a database
/// or a bucket.
///
///     let pipeline = ImagePipeline(disk: DictionaryStore())
final class DictionaryStore: Storing {
    private let entries = Mutex<[EntryKey: StoredEntry]>([:])

    func entry(for key: EntryKey) async -> StoredEntry? {
        entries.withLock { $0[key] }
    }

    func store(_ entry: StoredEntry, for key: EntryKey) -> Bool {
        entries.withLock { $0[key] = entry }
        return true
    }

    func storeAndWait(_ entry: StoredEntry, for key: EntryKey) async -> Bool {
        store(entry, for: key)
    }

    func remove(_ key: EntryKey) async {
        removeAll { $0 == key }
    }

    func removeAll(ofSources sources: [StoreKey]) async -> StoreTotals {
        removeAll { sources.contains($0.source) }
    }

    func removeEverything() async -> StoreTotals {
        removeAll { _ in true }
    }

    func removeExpired() async -> StoreTotals {
        StoreTotals()
    }

    func sources(matching filter: LabelFilter) async -> [StoreKey] {
        let found = entries.withLock { $0.filter { filter.matches($0.value.labels) } }
        return Array(Set(found.keys.map(\.source)))
    }

    func totals(ofSources sources: [StoreKey]) async -> [StoreKey: StoreTotals] {
        let found = entries.withLock { $0.filter { sources.contains($0.key.source) } }
        return Dictionary(grouping: found, by: \.key.source).mapValues { total(of: $0.map(\.value)) }
    }

    @discardableResult
    private func removeAll(where isIncluded: (EntryKey) -> Bool) -> StoreTotals {
        entries.withLock { entries in
            let removed = entries.filter { isIncluded($0.key) }
            for key in removed.keys { entries[key] = nil }
            return total(of: Array(removed.values))
        }
    }

    private func total(of entries: [StoredEntry]) -> StoreTotals {
        StoreTotals(entries: entries.count, bytes: entries.reduce(0) { $0 + $1.body.readableBytes })
    }
}
