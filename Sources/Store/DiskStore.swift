public import Foundation
public import Logging
import NIOCore
import Synchronization

/// A store on disk within a byte budget, with LRU eviction.
///
/// Each entry is a file and a row in an SQLite index; an entry without a body is a row alone. One thread of low
/// priority writes in the background, the entries of about 200 milliseconds together in one transaction: an entry can
/// be read once it is on disk (see ``flush()``), not before. A ``MemoryStore`` in front covers the gap.
///
/// A read verifies the entry's SHA-256. It skips the check if the entry was verified since the store was opened and the
/// file's inode, size and times of change are unchanged. A corrupt entry is removed, is counted, and is a miss. Files
/// are not synced to the device: a power failure may cost the latest entries, but never corrupts an entry unnoticed.
///
/// Once open, the store never fails. An entry that can't be read is a miss. An entry that can't be written is dropped.
/// The beginning and the end of an outage are logged. While writing fails, one entry at a time is tried and the others
/// are refused. A directory that was deleted and an index that proves corrupt are replaced while the store is open.
/// Removed entries are never found again while the store is open, even if the volume refuses to delete their files. If
/// the process restarts before the files are deleted, the entries come back. All blocking calls run on threads of the
/// store.
///
/// Entries age by the time that passes while the store is open. The computer's clock does not matter, because it may be
/// set at any time.
public final class DiskStore: Storing, DeferringStore {
    private let environment: DiskEnvironment
    private let queue: WriteQueue
    /// Nil if the store is disabled.
    private let writer: WriterThread?
    /// Nil if the store is disabled.
    private let lookups: DiskLookups?
    private let isProbing = Atomic(false)

    /// Opens the store in its directory, in a short time that does not depend on the number of entries.
    ///
    /// The store then repairs in the background the effects of a crash or a failing disk, and logs each repair: files
    /// without a row are adopted or removed, rows without a file and unfinished files are removed, and an unusable
    /// index is rebuilt from the files. Files and rows are compared if the store was not closed properly, and once a
    /// week.
    ///
    /// - Parameters:
    ///   - configuration: the directory and the limits.
    ///   - logger: for repairs, corruption, and the beginning and end of outages.
    ///   - now: the computer's clock, read at the opening, and when a file was verified.
    ///   - uptime: the time since an arbitrary moment, by which entries age; it cannot be set.
    ///   - freeFraction: the free share, 0 to 1, of the volume that holds a path; nil if it is unknown. Below 0.05,
    ///     entries are evicted, and nothing is written unless that helps. By default the system is asked.
    /// - Throws: ``DiskStoreError`` if another store has the directory open, if it can't be created or written, or if
    ///   other users could write to it. A full volume is no reason: the store evicts entries, or stays empty until the
    ///   volume has space.
    public init(
        _ configuration: Configuration, logger: Logger = Logger(label: "darkroom.store"),
        now: @escaping @Sendable () -> Date = Date.init,
        uptime: @escaping @Sendable () -> Duration = DiskStore.uptime,
        freeFraction: @escaping @Sendable (_ path: String) -> Double? = DiskStore.freeFraction(ofVolume:)
    ) async throws(DiskStoreError) {
        var configuration = configuration
        configuration.readers = max(1, configuration.readers)
        environment = DiskEnvironment(
            configuration: configuration, logger: logger, now: now, uptime: uptime, freeFraction: freeFraction,
            outages: OutageLog(logger: logger))
        queue = WriteQueue(maxBytes: configuration.queuedBytes, maxEntries: configuration.queuedEntries)
        guard configuration.budgetBytes > 0 else {
            (writer, lookups) = (nil, nil)
            return
        }
        let reader = EntryReader(
            layout: DiskLayout(configuration.directory), environment: environment,
            threads: ReaderThreads(count: configuration.readers))
        let writer = try await WriterThread(queue) { () throws(DiskStoreError) in try DiskWriter(reader) }
        self.writer = writer
        lookups = DiskLookups(reader, writer: writer)
    }

    /// The share, 0 to 1, of a path's volume that can still be written: of its bytes or of its inodes, whichever is
    /// smaller. Nil if the system doesn't report it.
    public static func freeFraction(ofVolume path: String) -> Double? {
        var status = statvfs()
        guard statvfs(path, &status) == 0, status.f_blocks > 0 else { return nil }
        let bytes = Double(status.f_bavail) / Double(status.f_blocks)
        // Some file systems, such as Btrfs, have no fixed number of inodes.
        return status.f_files == 0 ? bytes : min(bytes, Double(status.f_favail) / Double(status.f_files))
    }

    /// The time since the first call in this process, including the time in which the computer was asleep.
    public static func uptime() -> Duration {
        ContinuousClock.now - firstInstant
    }

    private static let firstInstant = ContinuousClock.now

    /// The contents of the store and its counts since it was opened.
    public var statistics: DiskStatistics {
        var statistics = environment.state.statistics
        let waiting = queue.waiting
        statistics.queuedWrites = waiting.entries
        statistics.queuedBytes = waiting.bytes
        return statistics
    }

    /// Whether reading and writing work, as far as is known; true if the store is disabled. Returns at once.
    ///
    /// While they fail, each call starts a probe in the background unless one is running, so that repeated calls notice
    /// the end of the outage even if nothing else uses the store.
    public func isHealthy() -> Bool {
        guard let writer, environment.outages.isFailing else { return true }
        if !isProbing.exchange(true, ordering: .relaxed) {
            writer.enqueue { [self] in
                $0.probe()
                isProbing.store(false, ordering: .relaxed)
            }
        }
        return false
    }

    /// Returns once all entries that were stored before are on disk or dropped, the store is within its budget, and the
    /// index has the last uses.
    public func flush() async {
        await writer?.perform {
            $0.evictor.finish()
            $0.evictor.writeLastUses()
        }
    }

    /// Returns once index and files agree, as far as they can: at once unless they are being compared.
    package func waitUntilHealed() async {
        guard let writer else { return }
        await withCheckedContinuation { continuation in
            writer.enqueue { $0.repair.whenRepaired { continuation.resume() } }
        }
    }

    /// Writes the queued entries and releases the directory. Afterward every lookup is a miss, and every write is
    /// dropped. Closing twice is harmless.
    public func close() async {
        guard let writer, await writer.perform({ $0.beginClosing() }) else { return }
        // The index must not be closed under a reader.
        await lookups?.end()
        await writer.perform { $0.directory.finishClosing() }
    }
}

// MARK: Reading

extension DiskStore {
    /// The entry for this key, if it is on disk, intact and below its maximum age.
    public func entry(for key: EntryKey) async -> StoredEntry? {
        await withCheckedContinuation { continuation in
            look(for: [key]) { continuation.resume(returning: $0.first) }
        }
    }

    /// Takes about as long as a lookup of one entry. Entries that were read before are delivered at once, on the
    /// caller's thread, if the system has their files in memory. An entry that the device does not deliver within five
    /// seconds counts as missing.
    public func look(for keys: [EntryKey], deliver: @escaping @Sendable (_ found: [StoredEntry]) -> Void) {
        look(for: keys, defers: false, deliver: deliver)
    }

    package func lookDeferring(for keys: [EntryKey], deliver: @escaping @Sendable (_ found: [StoredEntry]) -> Void) {
        look(for: keys, defers: true, deliver: deliver)
    }

    private func look(
        for keys: [EntryKey], defers: Bool, deliver: @escaping @Sendable (_ found: [StoredEntry]) -> Void
    ) {
        if let lookups { return lookups.look(for: keys, defers: defers, deliver: deliver) }
        environment.state.count { $0.misses += 1 }
        deliver([])
    }

    /// Returns all of these entries of one source if the system has their rows in the index and their files in memory.
    /// Files of more than 64 KiB must have been read before. Otherwise the call does not count as a lookup.
    public func entriesAtOnce(for keys: [EntryKey]) -> [StoredEntry]? {
        lookups?.entriesAtOnce(for: keys)
    }

    public func isAbsent(_ key: EntryKey) -> Bool { lookups?.isAbsent(key) ?? true }

    /// The entry for this key, if it is on disk, intact and below its maximum age. Counts neither as a lookup nor as a
    /// use, and leaves a corrupt entry in place.
    public func peek(_ key: EntryKey) async -> StoredEntry? {
        await lookups?.peek(key)
    }

    /// The sources that have an entry with a matching label. After a crash or the loss of the index, waits until all
    /// files are in the index again.
    public func sources(matching filter: LabelFilter) async -> [StoreKey] {
        for _ in 0..<2 {
            await waitUntilHealed()
            if let found = await writer?.perform({ $0.sources(matching: filter) }) { return found }
        }
        return []
    }

    /// The totals of each of these sources; sources without entries are left out.
    public func totals(ofSources sources: [StoreKey]) async -> [StoreKey: StoreTotals] {
        await writer?.perform { $0.totals(ofSources: sources) } ?? [:]
    }

    /// The first `limit` entries of a source in the order of their keys, according to the index.
    public func summaries(ofSource source: StoreKey, limit: Int) async -> [EntrySummary] {
        await writer?.perform { $0.summaries(ofSource: source, limit: limit) } ?? []
    }
}

// MARK: Writing and removing

extension DiskStore {
    /// Queues the entry to be written. Refuses and counts it if the queue is full, if it is too large or has too many
    /// labels, or while writing fails.
    @discardableResult
    public func store(_ entry: StoredEntry, for key: EntryKey) -> Bool {
        enqueue(entry, for: key, isAwaited: false) { _ in }
    }

    /// Queues the entry to be written, and waits until it is on disk or dropped.
    public func storeAndWait(_ entry: StoredEntry, for key: EntryKey) async -> Bool {
        await withCheckedContinuation { continuation in
            let isQueued = enqueue(entry, for: key, isAwaited: true) { continuation.resume(returning: $0) }
            if !isQueued { continuation.resume(returning: false) }
        }
    }

    /// Removes the entry for this key, after the writes queued before.
    public func remove(_ key: EntryKey) async {
        await writer?.perform { $0.remover.remove(.entry(key)) }
    }

    /// Removes all entries of these sources, after the writes queued before. All entries of a source are removed in one
    /// transaction.
    @discardableResult
    public func removeAll(ofSources sources: [StoreKey]) async -> StoreTotals {
        if sources.isEmpty { return StoreTotals() }
        return await writer?.perform { $0.remover.remove(.sources(sources)) } ?? StoreTotals()
    }

    /// Removes all entries, after the writes queued before. Their space is freed in the background.
    @discardableResult
    public func removeEverything() async -> StoreTotals {
        await writer?.perform { $0.remover.remove(.everything) } ?? StoreTotals()
    }

    /// Removes all entries that have reached ``Configuration/maxAge``, in several steps. Expired entries are misses,
    /// but take space until this is called or they are evicted.
    @discardableResult
    public func removeExpired() async -> StoreTotals {
        var removed = StoreTotals()
        while let some = await writer?.perform({ $0.evictor.removeSomeExpired() }), some != StoreTotals() {
            removed += some
        }
        return removed
    }

    /// Queues a write; if it is refused, `finish` isn't called.
    private func enqueue(
        _ entry: StoredEntry, for key: EntryKey, isAwaited: Bool,
        finish: @escaping @Sendable (_ isWritten: Bool) -> Void
    ) -> Bool {
        guard writer != nil else { return false }
        let state = environment.state
        let write = EntryWrite(entry, for: key) { isWritten in
            if !isWritten { state.count { $0.droppedWrites += 1 } }
            finish(isWritten)
        }
        guard let write, write.fileBytes <= Evictor.maximumFileBytes(environment.configuration),
            queue.append(write, isTrial: environment.outages.preventsWriting, isAwaited: isAwaited)
        else {
            state.count { $0.droppedWrites += 1 }
            return false
        }
        return true
    }
}

extension DiskStore {
    public struct Configuration: Sendable {
        /// The path of the cache directory. It is created if missing; other files in it are left alone.
        public var directory: String
        /// The byte budget, 10 GiB by default, for the blocks of all files, the index and its log. With 0 the store is
        /// disabled: it stays empty and doesn't touch the directory.
        public var budgetBytes = 10 << 30
        /// The limit of bytes that wait to be written, 64 MiB by default. A larger entry is taken when nothing else
        /// waits.
        public var queuedBytes = 64 << 20
        /// The limit of entries that wait to be written, 1024 by default.
        public var queuedEntries = 1024
        /// The number of threads that read, 4 by default and at least 1.
        public var readers = 4
        /// The time since its last use or write after which an entry expires; nil, the default, = never.
        public var maxAge: Duration?
        /// Whether records of sources stay on disk when images of their age are evicted, while the index takes at most
        /// an eighth of the budget. That saves requests to a tier that servers share. Default: false.
        public var keepsRecordsLonger = false

        /// The default configuration for this directory.
        public init(directory: String) {
            self.directory = directory
        }
    }
}

/// The reason why a disk store can't be opened. Corruption never prevents opening: it is repaired.
public enum DiskStoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Another store, in this process or another, has this directory open.
    case inUse(directory: String)
    /// The directory is on a read-only volume, or this user may not write to it.
    case readOnly(directory: String)
    /// Other users could replace the entries: the reason completes a sentence that begins with the directory.
    case notPrivate(directory: String, reason: String)
    /// The directory, or the index in it, can't be created or written for another reason.
    case unusable(directory: String, reason: String)

    /// Maps the storage error that made an opening fail.
    init(_ error: StorageError, directory: String) {
        switch error.code {
        case EROFS, EACCES, EPERM: self = .readOnly(directory: directory)
        // Of the lock.
        case EWOULDBLOCK: self = .inUse(directory: directory)
        default: self = .unusable(directory: directory, reason: error.description)
        }
    }

    /// One sentence for the operator, without a final period.
    public var description: String {
        switch self {
        case .inUse(let directory): "the cache directory \(directory) is in use by another process"
        case .readOnly(let directory): "the cache directory \(directory) is not writable"
        case .notPrivate(let directory, let reason): "the cache directory \(directory) \(reason)"
        case .unusable(let directory, let reason): "the cache directory \(directory) is unusable: \(reason)"
        }
    }
}

/// A file or index operation that failed.
struct StorageError: Error, CustomStringConvertible {
    /// The operation, for a log line.
    var operation: String
    /// The text of the system or of SQLite.
    var reason: String
    /// The system's error number, if a system call failed.
    var code: Int32?
    /// Whether the index is corrupt or in another format, so that it has to be replaced.
    var isCorruption = false

    /// Whether the volume, or the user's quota on it, has no space or no inode left.
    var isLackOfSpace: Bool { code == ENOSPC || code == EDQUOT }

    var description: String { "\(operation): \(reason)" }
}
