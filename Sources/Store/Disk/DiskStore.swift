import Dispatch
public import Foundation
public import Logging
import NIOCore
import Synchronization

/// Entries on disk within one budget of bytes, evicted when not used for longest.
///
/// Each entry is a file under its source's folder, and a row of an SQLite index beside it. Entries are written behind
/// the caller's back by one thread of low priority, those that wait together in one transaction: a `store(_:for:)` is
/// readable once it is on disk (see ``flush()``), not before; a ``MemoryStore`` in front covers the gap. Every read
/// verifies the entry's SHA-256: what is damaged is removed, counted and a miss. Files are not synced to the device, so
/// a power cut may cost the last entries, never their integrity.
///
/// Once opened, the store never fails: what can't be read is a miss and what can't be written is dropped, with a log
/// line when that begins and when it ends. While writing fails, one entry at a time is tried and the others are
/// refused. A directory that is deleted or an index that proves damaged is made again while the store is open. What was
/// removed is never found again, though the volume may refuse to remove it; only a restart before it gives way forgets
/// that. All blocking calls run on the store's own threads.
///
/// Entries age by the time that passes while the store is open, not by the computer's clock, which may be set at any
/// time.
public final class DiskStore: Storing {
    private struct Tier {
        let entries: DiskEntries
        let writer: WriterThread
    }

    private let configuration: Configuration
    /// Nil if the store is disabled.
    private let tier: Tier?
    private let readers: [DispatchQueue]
    private let state = Mutex(DiskStatistics())
    private let isTrying = Atomic(false)

    /// Opens the store in its directory, in the same short time however many entries it holds.
    ///
    /// What a crash or a failing disk left is healed behind the caller's back, a little at a time: files without a row
    /// are taken back or removed, rows without a file forgotten, unfinished files removed, an unusable index made again
    /// from the files; each with a log line. Files and rows are compared if the store was not closed properly the last
    /// time, and once a week.
    ///
    /// - Parameters:
    ///   - configuration: where, and how much.
    ///   - logger: told of healing, damage, and when reading or writing fails.
    ///   - now: the computer's clock, asked at the opening.
    ///   - uptime: the time since an arbitrary moment, by which entries age; it is never set.
    ///   - freeFraction: the free part, 0 to 1, of the volume that holds a path; nil if it can't be told. Under 0.05
    ///     nothing is written. By default the system is asked.
    /// - Throws: ``DiskStoreError`` if another store has the directory open, or if it can't be created or written.
    public init(
        _ configuration: Configuration, logger: Logger = Logger(label: "darkroom.store"),
        now: @escaping @Sendable () -> Date = Date.init,
        uptime: @escaping @Sendable () -> Duration = DiskStore.uptime,
        freeFraction: @escaping @Sendable (_ path: String) -> Double? = DiskStore.freeFraction(ofVolume:)
    ) async throws(DiskStoreError) {
        var configuration = configuration
        configuration.readers = max(1, configuration.readers)
        let environment = DiskEnvironment(logger: logger, now: now, uptime: uptime, freeFraction: freeFraction)
        self.configuration = configuration
        let readers = (0..<configuration.readers).map { DispatchQueue(label: "darkroom.store.reader.\($0)") }
        self.readers = readers
        guard configuration.budgetBytes > 0 else {
            tier = nil
            return
        }
        let entries = try await readers[0].perform { [configuration] in
            Result { () throws(DiskStoreError) in try DiskEntries(configuration, environment: environment) }
        }.get()
        tier = Tier(entries: entries, writer: WriterThread(entries))
    }

    /// The part, 0 to 1, of a path's volume that can still be written, or nil if the system doesn't say.
    public static func freeFraction(ofVolume path: String) -> Double? {
        Files.freeFraction(ofVolume: path)
    }

    /// The time since this process first asked, sleep of the computer included.
    public static func uptime() -> Duration {
        ContinuousClock.now - firstInstant
    }

    private static let firstInstant = ContinuousClock.now

    /// What the store holds and what it has done so far.
    public var statistics: DiskStatistics {
        var statistics = state.withLock(\.self)
        guard let counts = tier?.entries.counts.withLock(\.self) else { return statistics }
        statistics.entries = counts.totals.entries
        statistics.bytes = counts.totals.bytes
        statistics.evictions = counts.evictions
        statistics.expirations = counts.expirations
        return statistics
    }

    /// The entry under this key, if it is on disk, undamaged and below its age.
    public func entry(for key: EntryKey) async -> StoredEntry? {
        let found = await look(for: key)
        state.withLock {
            if found == nil { $0.misses += 1 } else { $0.hits += 1 }
        }
        return found
    }

    /// Queues the entry to be written; refuses and counts it if the queue is full, if it is too large or has too many
    /// labels, or if writing fails at present.
    @discardableResult
    public func store(_ entry: StoredEntry, for key: EntryKey) -> Bool {
        enqueue(entry, for: key) { _ in }
    }

    /// Queues the entry to be written, and waits until it is on disk or dropped.
    public func storeAndWait(_ entry: StoredEntry, for key: EntryKey) async -> Bool {
        await withCheckedContinuation { continuation in
            let isQueued = enqueue(entry, for: key) { continuation.resume(returning: $0) }
            if !isQueued { continuation.resume(returning: false) }
        }
    }

    /// Removes the entry under this key, after the writes queued before.
    public func remove(_ key: EntryKey) async {
        _ = await change { $0.remove(.entry(key)) }
    }

    /// Removes all entries of these sources, after the writes queued before. All of a source go in one transaction.
    @discardableResult
    public func removeAll(ofSources sources: [StoreKey]) async -> StoreTotals {
        if sources.isEmpty { return StoreTotals() }
        return await change { $0.remove(.sources(sources)) }.flatMap(\.self) ?? StoreTotals()
    }

    /// Removes every entry, after the writes queued before. The space that they take is freed little by little.
    @discardableResult
    public func removeEverything() async -> StoreTotals {
        await change { $0.remove(.everything) }.flatMap(\.self) ?? StoreTotals()
    }

    /// Removes what is past ``Configuration/maxAge``, little by little; does nothing without one. Such entries are not
    /// found any more, but take space until this is called or they are evicted.
    @discardableResult
    public func removeExpired() async -> StoreTotals {
        var removed = StoreTotals()
        while let some = await change({ $0.removeSomeExpired() }), some != StoreTotals() { removed += some }
        return removed
    }

    /// The sources that have an entry with such a label. After a crash, or when the index was lost, this waits until
    /// all files are in the index again.
    public func sources(matching query: LabelFilter) async -> [StoreKey] {
        for _ in 0..<2 {
            await healed()
            if let found = await change({ $0.sources(matching: query) }) ?? [] { return found }
        }
        return []
    }

    /// What there is of each of these sources; those without entries are left out.
    public func totals(ofSources sources: [StoreKey]) async -> [StoreKey: StoreTotals] {
        await change { $0.totals(ofSources: sources) } ?? [:]
    }

    /// What there is of a source by the index: the first `count` entries in the order of their keys.
    public func summaries(ofSource source: StoreKey, limit count: Int) async -> [EntrySummary] {
        await change { $0.summaries(ofSource: source, limit: count) } ?? []
    }

    /// Returns once all that was stored before is on disk or dropped, room is made for it, and the index knows the last
    /// uses.
    public func flush() async {
        await change {
            $0.finishEvicting()
            $0.writeLastUses()
        }
    }

    /// Whether reading and writing work, as far as is known; true where the store is disabled. Answers at once.
    ///
    /// While they don't, asking has them tried once more behind the caller's back, so that whoever goes on asking learns when
    /// they work again, though nothing else uses the store meanwhile.
    public func isWorking() -> Bool {
        guard let tier, tier.entries.outages.isFailing else { return true }
        if !isTrying.exchange(true, ordering: .relaxed) {
            tier.writer.enqueue(
                .change { [self] in
                    tier.entries.tryAgain()
                    isTrying.store(false, ordering: .relaxed)
                })
        }
        return false
    }

    /// Returns once index and files agree, as far as they can: at once unless they are being compared.
    package func healed() async {
        guard let tier else { return }
        await withCheckedContinuation { continuation in
            tier.writer.enqueue(.change { tier.entries.afterReconciliation { continuation.resume() } })
        }
    }

    /// Writes what is queued, then lets go of the directory. From here on every look-up is a miss, and what is stored
    /// is dropped. Closing twice is harmless.
    public func close() async {
        guard let tier, await tier.writer.perform({ tier.entries.beginClosing() }) else { return }
        // The index must not be closed under a reader.
        for reader in readers {
            await reader.perform {}
        }
        await tier.writer.perform { tier.entries.finishClosing() }
    }

    /// Runs blocking work on the writer's thread, after all that was queued before. Nil if the store is disabled.
    private func change<Value: Sendable>(_ work: @escaping @Sendable (DiskEntries) -> Value) async -> Value? {
        guard let tier else { return nil }
        return await tier.writer.perform { work(tier.entries) }
    }
}

// Reading.
extension DiskStore {
    /// The entry under this key, if it is on disk, undamaged and below its age. It is neither counted nor does it count as a
    /// use, and what is damaged stays until somebody asks for it.
    public func peek(_ key: EntryKey) async -> StoredEntry? {
        guard let tier, case .hit(let entry) = await reader(of: key).perform({ tier.entries.look(for: key) }) else {
            return nil
        }
        return entry
    }

    private func reader(of key: EntryKey) -> DispatchQueue {
        readers[Int(UInt(bitPattern: key.hashValue) % UInt(readers.count))]
    }

    private func look(for key: EntryKey) async -> StoredEntry? {
        guard let tier else { return nil }
        switch await reader(of: key).perform({ tier.entries.look(for: key) }) {
        case .hit(let entry):
            if tier.entries.noteUse(of: key) {
                tier.writer.enqueue(.change { tier.entries.writeLastUses() })
            }
            return entry
        case .miss: return nil
        case .lostIndex:
            // Wakes the writer, which makes it again after each step.
            tier.writer.enqueue(.change {})
            return nil
        case .doubt:
            let settled = await tier.writer.perform { tier.entries.settle(key) }
            if settled.wasDamaged { state.withLock { $0.damaged += 1 } }
            return settled.entry
        }
    }
}

// Queueing.
extension DiskStore {
    /// Queues a write, if there is a place for it; else `finish` isn't called.
    private func enqueue(
        _ entry: StoredEntry, for key: EntryKey, finish: @escaping @Sendable (_ isWritten: Bool) -> Void
    ) -> Bool {
        guard let tier else { return false }
        guard let labels = EntryLabels(entry.labels) else { return drop() }
        let bytes = EntryHead.fileBytes(of: entry, labels)
        guard bytes <= tier.entries.maximumFileBytes, takePlace(bytes, isTrial: tier.entries.outages.preventWriting)
        else {
            return drop()
        }
        let write = EntryWrite(key: key, entry: entry, labels: labels, fileBytes: bytes) { [self] isWritten in
            state.withLock {
                $0.queuedBytes -= bytes
                $0.queuedWrites -= 1
                if !isWritten { $0.droppedWrites += 1 }
            }
            finish(isWritten)
        }
        tier.writer.enqueue(.write(write))
        return true
    }

    private func drop() -> Bool {
        state.withLock { $0.droppedWrites += 1 }
        return false
    }

    /// Takes a place in the queue, if there is one; a trial only takes the first.
    private func takePlace(_ bytes: Int, isTrial: Bool) -> Bool {
        state.withLock { state in
            let isFirst = state.queuedWrites == 0
            let fits = isFirst || !isTrial && state.queuedBytes + bytes <= configuration.queuedBytes
            guard fits, state.queuedWrites < configuration.queuedEntries else { return false }
            state.queuedBytes += bytes
            state.queuedWrites += 1
            return true
        }
    }
}
