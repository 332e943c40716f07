import Foundation
import Logging
import NIOCore
import Synchronization

/// A disk store's entries, files and index together. Every call blocks.
///
/// `look(for:)` may run on many threads. All else runs on one, the writer's: so nothing changes between two steps of
/// it, and only readers meet a file and a record that don't belong together.
final class DiskEntries: Sendable {
    /// What a reader found.
    enum Finding {
        case hit(StoredEntry)
        case miss
        /// File and record don't fit: the entry is damaged, or it was replaced or removed while we looked.
        case doubt
    }

    /// Evictions bring the store down to this part of its budget, so that they are few.
    private static let lowWater = 0.9
    /// Below this free part of the volume nothing is written.
    private static let minimumFree = 0.05
    private static let evictionBatch = 256
    private static let usesBatch = 1024

    private let directory: CacheDirectory
    private let lock: DirectoryLock
    private let index: DiskIndex
    private let budgetBytes: Int
    private let environment: DiskEnvironment
    private let outages: Outages
    private let uses = LastUses(batch: usesBatch)
    private let held: Mutex<DiskTotals>
    private let closed = Atomic(false)

    /// Takes the directory, heals what is damaged and evicts what is over the budget.
    init(_ configuration: DiskStore.Configuration, environment: DiskEnvironment) throws(StoreError) {
        directory = CacheDirectory(configuration.directory)
        budgetBytes = configuration.budgetBytes
        self.environment = environment
        outages = Outages(logger: environment.logger)
        do {
            try Files.makeFolders(directory.path)
            lock = try DirectoryLock(directory)
            try directory.makeFolders()
            let healing = DiskHealing(
                directory: directory, readers: configuration.readers, logger: environment.logger)
            index = try healing.healedIndex()
            held = Mutex(try index.totals())
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unusable(directory: configuration.directory, reason: String(describing: error))
        }
        _ = evictIfNeeded()
    }

    /// What is held now.
    var totals: DiskTotals { held.withLock { $0 } }

    /// The largest file kept: one that fits below the mark to which evictions go.
    var maximumFileBytes: Int { Int(Self.lowWater * Double(budgetBytes)) }

    /// Looks for an entry; for readers.
    func look(for key: EntryKey) -> Finding {
        if isClosed { return .miss }
        do {
            let record = try index.record(for: key)
            outages.end(.reading)
            guard let record else { return .miss }
            guard
                let file = try? Files.read(directory.file(of: key), byteCount: record.fileBytes),
                let entry = record.entry(verifying: file)
            else { return .doubt }
            return .hit(entry)
        } catch {
            outages.begin(.reading, ["error": "\(error)"])
            return .miss
        }
    }

    /// Looks once more for an entry in doubt, and removes it if it is really damaged.
    func settle(_ key: EntryKey) -> (entry: StoredEntry?, wasDamaged: Bool) {
        switch look(for: key) {
        case .hit(let entry): return (entry, false)
        case .miss: return (nil, false)
        case .doubt:
            environment.logger.warning("disk cache: removing a damaged entry", metadata: ["entry": "\(key.entry)"])
            remove(key)
            return (nil, true)
        }
    }

    /// Notes that an entry was used; for readers.
    /// - Returns: whether `writeLastUses()` is due.
    func noteUse(of key: EntryKey) -> Bool {
        uses.note(key, at: environment.microseconds)
    }

    /// Brings the index up to date with the uses noted.
    func writeLastUses() {
        let noted = uses.take()
        if noted.isEmpty { return }
        attempt { () throws(StorageFault) in try index.setLastUses(noted) }
    }

    /// Writes an entry: a temporary file, its name, its record; then makes room.
    /// - Returns: whether it was written, and how many others were evicted for it.
    func write(_ entry: StoredEntry, for key: EntryKey) -> (isWritten: Bool, evictions: Int) {
        if isClosed { return (false, 0) }
        if let free = environment.freeFraction(directory.path), free < Self.minimumFree {
            outages.begin(.space, ["free": "\(free)"])
            return (false, 0)
        }
        outages.end(.space)
        let record = EntryRecord(of: entry, key: key, created: environment.microseconds)
        let isWritten = attempt { () throws(StorageFault) in
            try writeFile(of: entry, record)
            add(try index.put(record))
        }
        guard isWritten else {
            try? Files.remove(directory.temporaryFile(of: key))
            // The old record, if any, may not fit the file that is there now.
            remove(key)
            return (false, 0)
        }
        outages.end(.writing)
        return (true, evictIfNeeded())
    }

    /// Removes an entry: the file first, since a record without a file is a miss and a file without a record may be
    /// taken back at the next start.
    func remove(_ key: EntryKey) {
        attempt { () throws(StorageFault) in
            try Files.remove(directory.file(of: key))
            directory.removeEmptyFolders(ofSource: key.source)
            add(try index.delete(CollectionOfOne(key)))
        }
    }

    /// Removes all entries of a source.
    func removeAll(ofSource source: StoreKey) {
        attempt { () throws(StorageFault) in
            try Files.remove(directory.folder(ofSource: source))
            directory.removeEmptyFolders(ofSource: source)
            add(try index.deleteAll(ofSource: source))
        }
    }

    /// Ends all use of the index: whatever is asked from here on finds nothing and does nothing.
    /// - Returns: whether it was open.
    func beginClosing() -> Bool {
        writeLastUses()
        return !closed.exchange(true, ordering: .sequentiallyConsistent)
    }

    /// Lets go of the directory, once no reader is left that came before `beginClosing()`.
    func finishClosing() {
        index.close()
        lock.release()
    }

    private var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

    private func writeFile(of entry: StoredEntry, _ record: EntryRecord) throws(StorageFault) {
        let temporary = directory.temporaryFile(of: record.key)
        do {
            try Files.write([record.header, entry.body], to: temporary)
        } catch {
            // Someone cleared the directory below us, or a write that failed left its file.
            try directory.makeFolders()
            try Files.remove(temporary)
            try Files.write([record.header, entry.body], to: temporary)
        }
        do {
            try Files.rename(temporary, to: directory.file(of: record.key))
        } catch {
            // The source's first entry, or something that isn't a file in its place.
            try Files.remove(directory.file(of: record.key))
            try directory.makeFolder(ofSource: record.key.source)
            try Files.rename(temporary, to: directory.file(of: record.key))
        }
    }

    /// Evicts what was not used for longest, down to the low-water mark, if the store is over its budget.
    /// - Returns: how many entries went.
    private func evictIfNeeded() -> Int {
        guard totals.bytes > budgetBytes else { return 0 }
        writeLastUses()
        var evictions = 0
        attempt { () throws(StorageFault) in
            while totals.bytes > maximumFileBytes {
                let evicted = try evictBatch()
                if evicted == 0 { return }
                evictions += evicted
            }
        }
        return evictions
    }

    private func evictBatch() throws(StorageFault) -> Int {
        var excess = totals.bytes - maximumFileBytes
        let victims = try index.leastRecentlyUsed(limit: Self.evictionBatch).prefix { victim in
            defer { excess -= victim.bytes }
            return excess > 0
        }
        for (key, _) in victims {
            try Files.remove(directory.file(of: key))
            directory.removeEmptyFolders(ofSource: key.source)
        }
        add(try index.delete(victims.map(\.key)))
        return victims.count
    }

    private func add(_ change: DiskTotals) {
        held.withLock { $0 += change }
    }

    /// Runs an operation whose failure costs the cache an entry, but nobody an answer.
    @discardableResult
    private func attempt(_ operation: () throws(StorageFault) -> Void) -> Bool {
        if isClosed { return false }
        do {
            try operation()
            return true
        } catch {
            outages.begin(.writing, ["error": "\(error)"])
            return false
        }
    }
}

/// What a disk store asks of its surroundings.
struct DiskEnvironment: Sendable {
    var logger: Logger
    var now: @Sendable () -> Date
    /// The free part, 0 to 1, of the volume that holds a path, or nil if it can't be told.
    var freeFraction: @Sendable (_ path: String) -> Double?

    /// The time in microseconds since 1970.
    var microseconds: Int64 { Int64(now().timeIntervalSince1970 * 1_000_000) }
}
