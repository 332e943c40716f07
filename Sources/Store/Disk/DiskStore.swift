import Dispatch
public import Foundation
public import Logging
import NIOCore
import Synchronization

/// Entries on disk within one budget of bytes, evicted when not used for longest.
///
/// Each entry is a file under its source's folder, and a row of an SQLite index beside it. Entries are written behind
/// the caller's back by one thread: a `store(_:for:)` is readable once it is on disk (see ``flush()``), not before; a
/// ``MemoryStore`` in front covers the gap. Every read verifies the entry's SHA-256: what is damaged is removed,
/// counted and a miss. Nothing is synced to the device, so a power cut may cost the last entries, never their integrity.
///
/// Once opened, the store never fails: what can't be read is a miss and what can't be written is dropped, with a log
/// line when that begins and when it ends. All blocking calls run on the store's own queues.
public final class DiskStore: Storing {
    /// How a disk store is set up.
    public struct Configuration: Sendable {
        /// The cache directory's path. It is created if missing; other files in it are left alone.
        public var directory: String
        /// The budget of all files together, in bytes. At 0 nothing is kept and the directory isn't touched.
        public var budgetBytes = 10 << 30
        /// How many bytes may wait to be written. One larger entry is taken when nothing else waits.
        public var queuedBytes = 64 << 20
        /// How many entries may wait to be written.
        public var queuedEntries = 1024
        /// How many threads read, at least 1.
        public var readers = 4

        /// The default set-up in this directory.
        public init(directory: String) {
            self.directory = directory
        }
    }

    private struct State {
        var statistics = DiskStatistics()
        var queuedBytes = 0
    }

    private let configuration: Configuration
    /// Nil if the store is disabled.
    private let entries: DiskEntries?
    private let writer: DispatchQueue
    private let readers: [DispatchQueue]
    private let state = Mutex(State())

    /// Opens the store in its directory, and heals what a crash or a failing disk left there: files without a row are
    /// taken back or removed, rows without a file forgotten, unfinished files removed, an unusable index made again from
    /// the files; each with a log line. This takes time in proportion to the number of entries, not to their size.
    ///
    /// - Parameters:
    ///   - configuration: where, and how much.
    ///   - logger: told of healing, damage, and when reading or writing fails.
    ///   - now: the clock by which entries age.
    ///   - freeFraction: the free part, 0 to 1, of the volume that holds a path; nil if it can't be told. Under 0.05
    ///     nothing is written. By default the system is asked.
    /// - Throws: ``StoreError`` if another store has the directory open, or if it can't be created or written.
    public init(
        _ configuration: Configuration, logger: Logger, now: @escaping @Sendable () -> Date = Date.init,
        freeFraction: @escaping @Sendable (_ path: String) -> Double? = DiskStore.freeFraction(ofVolume:)
    ) async throws(StoreError) {
        var configuration = configuration
        configuration.readers = max(1, configuration.readers)
        let environment = DiskEnvironment(logger: logger, now: now, freeFraction: freeFraction)
        let writer = DispatchQueue(label: "darkroom.store.writer")
        self.writer = writer
        self.configuration = configuration
        readers = (0..<configuration.readers).map { DispatchQueue(label: "darkroom.store.reader.\($0)") }
        guard configuration.budgetBytes > 0 else {
            entries = nil
            return
        }
        entries = try await writer.perform { [configuration] in
            Result { () throws(StoreError) in try DiskEntries(configuration, environment: environment) }
        }.get()
    }

    /// The part, 0 to 1, of a path's volume that can still be written, or nil if the system doesn't say.
    public static func freeFraction(ofVolume path: String) -> Double? {
        Files.freeFraction(ofVolume: path)
    }

    /// What the store holds and what it has done so far.
    public var statistics: DiskStatistics {
        var statistics = state.withLock { $0.statistics }
        let totals = entries?.totals ?? DiskTotals()
        statistics.entries = totals.entries
        statistics.bytes = totals.bytes
        return statistics
    }

    /// The entry under this key, if it is on disk and undamaged.
    public func entry(for key: EntryKey) async -> StoredEntry? {
        let found = await look(for: key)
        state.withLock {
            if found == nil { $0.statistics.misses += 1 } else { $0.statistics.hits += 1 }
        }
        return found
    }

    /// Queues the entry to be written; drops and counts it if the queue is full.
    public func store(_ entry: StoredEntry, for key: EntryKey) {
        guard let entries else { return }
        let bytes = EntryRecord.fileBytes(body: entry.body.readableBytes, metadata: entry.metadata.readableBytes)
        guard bytes <= entries.maximumFileBytes, enqueue(bytes) else {
            return state.withLock { $0.statistics.droppedWrites += 1 }
        }
        writer.async { [self] in
            let result = entries.write(entry, for: key)
            state.withLock {
                $0.queuedBytes -= bytes
                $0.statistics.queuedWrites -= 1
                $0.statistics.evictions += result.evictions
                if !result.isWritten { $0.statistics.droppedWrites += 1 }
            }
        }
    }

    /// Removes the entry under this key, after the writes queued before.
    public func remove(_ key: EntryKey) async {
        await write { $0.remove(key) }
    }

    /// Removes all entries of a source, after the writes queued before.
    public func removeAll(ofSource source: StoreKey) async {
        await write { $0.removeAll(ofSource: source) }
    }

    /// Returns once all that was stored before is on disk or dropped, and the index knows the last uses.
    public func flush() async {
        await write { $0.writeLastUses() }
    }

    /// Writes what is queued, then lets go of the directory. From here on every look-up is a miss, and what is stored is
    /// dropped. Closing twice is harmless.
    public func close() async {
        guard let entries, await writer.perform({ entries.beginClosing() }) else { return }
        // The index must not be closed under a reader.
        for reader in readers {
            await reader.perform {}
        }
        await writer.perform { entries.finishClosing() }
    }

    private func look(for key: EntryKey) async -> StoredEntry? {
        guard let entries else { return nil }
        let reader = readers[Int(UInt(bitPattern: key.hashValue) % UInt(readers.count))]
        let finding = await reader.perform { entries.look(for: key) }
        switch finding {
        case .hit(let entry):
            noteUse(of: key, in: entries)
            return entry
        case .miss: return nil
        case .doubt:
            let settled = await writer.perform { entries.settle(key) }
            if settled.wasDamaged { state.withLock { $0.statistics.damaged += 1 } }
            return settled.entry
        }
    }

    private func noteUse(of key: EntryKey, in entries: DiskEntries) {
        guard entries.noteUse(of: key) else { return }
        writer.async { entries.writeLastUses() }
    }

    /// Takes a place in the queue, if there is one.
    private func enqueue(_ bytes: Int) -> Bool {
        state.withLock { state in
            let queued = state.statistics.queuedWrites
            let fits = queued == 0 || state.queuedBytes + bytes <= configuration.queuedBytes
            guard fits, queued < configuration.queuedEntries else { return false }
            state.queuedBytes += bytes
            state.statistics.queuedWrites += 1
            return true
        }
    }

    private func write(_ change: @escaping @Sendable (DiskEntries) -> Void) async {
        guard let entries else { return }
        await writer.perform { change(entries) }
    }
}

extension DispatchQueue {
    /// Runs blocking work on this queue while the caller is suspended.
    fileprivate func perform<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            async { continuation.resume(returning: work()) }
        }
    }
}
