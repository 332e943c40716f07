import DarkroomStore
import NIOCore
import Synchronization

/// A second tier in a dictionary. Single reads, writes and removals can be held back.
final class MemoryDisk: Storing {
    private let entries = Watched<[EntryKey: StoredEntry]>([:])
    private let readGates = Mutex<[Gate?]>([])
    private let writeGate = Mutex<Gate?>(nil)
    private let removalGate = Mutex<Gate?>(nil)
    private let isFull = Mutex(false)
    let reads = Counter()
    let waits = Counter()
    let written = Counter()
    let removals = Counter()

    var count: Int { entries.value.count }

    /// Returns once the number of entries fulfills the condition.
    func waitForCount(_ condition: @escaping @Sendable (Int) -> Bool) async {
        await entries.wait { condition($0.count) }
    }

    func entry(for key: EntryKey) async -> StoredEntry? {
        let entry = entries.value[key]
        reads.add()
        let gate = readGates.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        await gate?.pass()
        return entry
    }

    func isAbsent(_ key: EntryKey) -> Bool { entries.value[key] == nil }

    /// Lets some reads pass and holds back the next one after it has read.
    func holdReading(at gate: Gate, after count: Int = 0) {
        readGates.withLock { $0 = Array(repeating: nil, count: count) + [gate] }
    }

    /// Makes the entries without a body look like copies that were restored after the loss of an index.
    func restoreFromCopies() {
        entries.change { entries in
            for (key, entry) in entries where entry.body.readableBytes == 0 { entries[key]?.isRestored = true }
        }
    }

    /// The copies that entries carry of others.
    var companions: [StoredEntry.Companion] { entries.value.values.compactMap(\.companion) }

    /// Holds back the next write that a request waits for.
    func holdWriting(at gate: Gate) { writeGate.withLock { $0 = gate } }

    /// Holds back the next removal.
    func holdRemoving(at gate: Gate) { removalGate.withLock { $0 = gate } }

    /// Accepts only awaited writes from now on, as if the queue were full.
    func fillQueue() { isFull.withLock { $0 = true } }

    func store(_ entry: StoredEntry, for key: EntryKey) -> Bool {
        guard !isFull.withLock(\.self) else { return false }
        entries.change { $0[key] = entry }
        return true
    }

    func storeAndWait(_ entry: StoredEntry, for key: EntryKey) async -> Bool {
        waits.add()
        await writeGate.take()?.pass()
        entries.change { $0[key] = entry }
        written.add()
        return true
    }

    func remove(_ key: EntryKey) async { entries.change { $0[key] = nil } }

    func removeAll(ofSources sources: [StoreKey]) async -> StoreTotals {
        removals.add()
        await removalGate.take()?.pass()
        return remove { sources.contains($0.source) }
    }

    func removeEverything() async -> StoreTotals {
        await removalGate.take()?.pass()
        return remove { _ in true }
    }

    func removeExpired() async -> StoreTotals { StoreTotals() }

    func sources(matching query: LabelFilter) async -> [StoreKey] {
        entries.change { entries in
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
        entries.change { entries in
            var totals: [StoreKey: StoreTotals] = [:]
            for (key, entry) in entries where sources.contains(key.source) {
                totals[key.source, default: StoreTotals()].entries += 1
                totals[key.source, default: StoreTotals()].bytes += entry.body.readableBytes
            }
            return totals
        }
    }

    func summaries(ofSource source: StoreKey, limit count: Int) async -> [EntrySummary] {
        entries.change { entries in
            entries.filter { $0.key.source == source }.map { key, entry in
                EntrySummary(key: key, bytes: entry.body.readableBytes, age: .seconds(7))
            }.sorted { $0.key.entry.hex < $1.key.entry.hex }.prefix(count).map(\.self)
        }
    }

    private func remove(where isMeant: (EntryKey) -> Bool) -> StoreTotals {
        entries.change { entries in
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

extension Mutex where Value == Gate? {
    /// Takes the value.
    fileprivate func take() -> Gate? {
        withLock { gate in
            defer { gate = nil }
            return gate
        }
    }
}
