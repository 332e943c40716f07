import Darkroom
import NIOCore
import Synchronization

/// A second tier in a dictionary: it evicts nothing and ends with the process.
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
        remove { $0 == key }
    }

    func removeAll(ofSources sources: [StoreKey]) async -> StoreTotals {
        remove { sources.contains($0.source) }
    }

    func removeEverything() async -> StoreTotals {
        remove { _ in true }
    }

    func removeExpired() async -> StoreTotals {
        StoreTotals()
    }

    func sources(matching query: LabelFilter) async -> [StoreKey] {
        let found = entries.withLock { $0.filter { $0.value.labels.contains(where: query.matches) || query == .all } }
        return Array(Set(found.keys.map(\.source)))
    }

    func totals(ofSources sources: [StoreKey]) async -> [StoreKey: StoreTotals] {
        let found = entries.withLock { $0.filter { sources.contains($0.key.source) } }
        return Dictionary(grouping: found, by: \.key.source).mapValues { total(of: $0.map(\.value)) }
    }

    @discardableResult
    private func remove(where matches: (EntryKey) -> Bool) -> StoreTotals {
        entries.withLock { entries in
            let removed = entries.filter { matches($0.key) }
            for key in removed.keys { entries[key] = nil }
            return total(of: Array(removed.values))
        }
    }

    private func total(of entries: [StoredEntry]) -> StoreTotals {
        StoreTotals(entries: entries.count, bytes: entries.reduce(0) { $0 + $1.body.readableBytes })
    }
}

extension LabelFilter {
    fileprivate func matches(_ label: String) -> Bool {
        switch self {
        case .equal(let text): label == text
        case .prefix(let text): label.utf8.starts(with: text.utf8)
        case .all: true
        }
    }
}
