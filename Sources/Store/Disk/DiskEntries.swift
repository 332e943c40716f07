import Foundation
import Logging
import NIOCore
import Synchronization

/// A disk store's entries, files and index together. Every call blocks.
///
/// `look(for:)` and `noteUse(of:)` may run on many threads. All else runs on one, the writer's: so nothing changes
/// between two steps of it, and only readers meet a file and a record that don't belong together.
final class DiskEntries: Sendable {
    /// What a reader found.
    enum Finding {
        case hit(StoredEntry)
        case miss
        /// File and record don't fit: the entry is damaged, or it was replaced or removed while we looked.
        case doubt
        /// The index is damaged or gone: the writer has to make it again.
        case lostIndex
    }

    /// What is held, and what went.
    struct Counts {
        var totals = StoreTotals()
        var evictions = 0
        var expirations = 0
    }

    /// The directory, nil while it can't be used.
    private struct Standing {
        var place: OpenDirectory?
        var isIndexDamaged = false
        /// The time of the last directory, when it was given up.
        var lastTime: Int64 = 0
    }

    private static let usesBatch = 1024

    let directory: CacheDirectory
    let configuration: DiskStore.Configuration
    let environment: DiskEnvironment
    let outages: Outages
    let uses = LastUses(batch: usesBatch)
    let counts = Mutex(Counts())
    let owed = Mutex(OwedRemovals())
    let upkeep = Mutex(Upkeep())
    private let lock: Mutex<DirectoryLock?>
    private let standing = Mutex(Standing())
    private let closed = Atomic(false)

    /// Takes the directory and opens its index. What else has to be done is left to `runUpkeep()`.
    init(_ configuration: DiskStore.Configuration, environment: DiskEnvironment) throws(DiskStoreError) {
        directory = CacheDirectory(configuration.directory)
        self.configuration = configuration
        self.environment = environment
        outages = Outages(logger: environment.logger)
        lock = Mutex(nil)
        do {
            try open()
        } catch let error as DiskStoreError {
            throw error
        } catch let fault as StorageFault {
            throw DiskStoreError(fault, directory: configuration.directory)
        } catch {
            throw .unusable(directory: configuration.directory, reason: String(describing: error))
        }
    }

    deinit {
        // Not the lock first: who gets it next must not meet our index.
        standing.withLock(\.place)?.index.abandon()
        lock.withLock { $0?.release() }
    }

    /// What is held now.
    var totals: StoreTotals { counts.withLock(\.totals) }

    /// Whether the index has to be made again.
    var isIndexDamaged: Bool { standing.withLock(\.isIndexDamaged) }

    var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

    /// Looks for an entry; for readers.
    func look(for key: EntryKey) -> Finding {
        if isClosed || owed.withLock({ $0.covers(key) }) { return .miss }
        guard let place = standing.withLock(\.place) else { return .miss }
        do {
            let stored = try place.index.record(for: key)
            outages.end(.reading)
            guard let (record, lastUse) = stored else { return .miss }
            if isExpired(record, lastUse: lastUse, at: place.index.clock.microseconds) { return .miss }
            guard
                let file = try? Files.read(directory.file(of: key), byteCount: record.fileBytes),
                let entry = record.entry(verifying: file)
            else { return .doubt }
            return .hit(entry)
        } catch {
            // Given up by the writer while we looked.
            guard standing.withLock({ $0.place === place }) else { return .miss }
            if !error.isDamage && !place.isInPlace { return .lostIndex }
            note(error, .reading, in: place)
            return error.isDamage ? .lostIndex : .miss
        }
    }

    /// Looks once more for an entry in doubt, and removes it if it is really damaged.
    func settle(_ key: EntryKey) -> (entry: StoredEntry?, wasDamaged: Bool) {
        guard usablePlace() != nil else { return (nil, false) }
        switch look(for: key) {
        case .hit(let entry): return (entry, false)
        case .miss, .lostIndex: return (nil, false)
        case .doubt:
            guard remove(.entry(key)) != nil else { return (nil, false) }
            environment.logger.warning("disk cache: removing a damaged entry", metadata: ["entry": "\(key.entry)"])
            return (nil, true)
        }
    }

    /// Notes that an entry was used; for readers.
    /// - Returns: whether `writeLastUses()` is due.
    func noteUse(of key: EntryKey) -> Bool {
        guard let time = standing.withLock(\.place)?.index.clock.microseconds else { return false }
        return uses.note(key, at: time)
    }

    /// Brings the index up to date with the uses noted.
    func writeLastUses() {
        let noted = uses.take()
        if noted.isEmpty { return }
        _ = attempt { place throws(StorageFault) in try place.index.setLastUses(noted) }
    }

    /// Ends all use of the index: whatever is asked from here on finds nothing and does nothing.
    /// - Returns: whether it was open.
    func beginClosing() -> Bool {
        writeLastUses()
        _ = payOwedRemovals()
        let wasOpen = !closed.exchange(true, ordering: .sequentiallyConsistent)
        letWaitersGo()
        return wasOpen
    }

    /// Lets go of the directory, once no reader is left that came before `beginClosing()`.
    func finishClosing() {
        let (place, isIndexDamaged) = standing.withLock { ($0.place, $0.isIndexDamaged) }
        // A damaged one must not say that all is in order.
        if isIndexDamaged { place?.index.abandon() } else { place?.index.close() }
        lock.withLock { $0?.release() }
    }

    /// When the entry reaches its age, the last use counts that the index may not know yet.
    private func isExpired(_ record: EntryRecord, lastUse: Int64, at now: Int64) -> Bool {
        guard let maxAge = configuration.maxAge?.microseconds else { return false }
        let time =
            switch configuration.expiry {
            case .access: max(lastUse, uses.time(of: record.key) ?? lastUse)
            case .modification: record.modified
            case .creation: record.created
            }
        let (age, isOverflow) = now.subtractingReportingOverflow(time)
        return isOverflow ? time < 0 : age > maxAge
    }
}

// The directory, which may go and come again.
extension DiskEntries {
    /// Runs an operation whose failure costs the cache an entry, but nobody an answer. When it meets a damaged index,
    /// it is tried again with a new one, unless `isTriedAgain` is false.
    /// - Returns: nil if it failed.
    func attempt<Value>(
        isTriedAgain: Bool = true, _ operation: (OpenDirectory) throws(StorageFault) -> Value
    ) -> Value? {
        guard !isClosed, let place = usablePlace() else { return nil }
        do {
            return try operation(place)
        } catch {
            note(error, .writing, in: place)
            return isTriedAgain && error.isDamage ? attempt(isTriedAgain: false, operation) : nil
        }
    }

    /// The directory, opened anew if it was deleted or replaced or if its index is damaged. Nil if that fails.
    func usablePlace() -> OpenDirectory? {
        if isClosed { return nil }
        let (place, isIndexDamaged) = standing.withLock { ($0.place, $0.isIndexDamaged) }
        let isInPlace = lock.withLock { $0?.isInPlace ?? false } && place?.isInPlace ?? false
        if !isIndexDamaged && isInPlace { return place }
        if let place { giveUp(place) }
        if !isIndexDamaged { outages.begin(.directory, ["directory": "\(directory.path)"]) }
        do {
            if isIndexDamaged { try directory.setIndexAside() }
            try open()
        } catch {
            outages.begin(.directory, ["error": "\(error)"])
            return nil
        }
        outages.end(.directory)
        return standing.withLock(\.place)
    }

    private func giveUp(_ place: OpenDirectory) {
        standing.withLock { standing in
            standing.place = nil
            standing.lastTime = place.index.clock.microseconds
        }
        place.index.abandon()
    }

    /// Remembers what went wrong, and says so when it's new.
    func note(_ fault: StorageFault, _ kind: Outages.Kind, in place: OpenDirectory) {
        guard fault.isDamage else { return outages.begin(kind, ["error": "\(fault)"]) }
        let isCurrent = standing.withLock { standing in
            guard standing.place === place else { return false }
            standing.isIndexDamaged = true
            return true
        }
        if isCurrent { outages.begin(.index, ["reason": "\(fault)"]) }
    }

    /// Takes the lock, unless we hold it, and opens what is there.
    private func open() throws {
        try Files.makeFolders(directory.path)
        try lock.withLock { lock in
            if lock?.isInPlace == true { return }
            lock = nil
            lock = try DirectoryLock(directory)
        }
        let place = try OpenDirectory(
            directory, readers: configuration.readers, notBefore: standing.withLock(\.lastTime),
            environment: environment, outages: outages)
        let totals = place.index.condition.totals
        counts.withLock { $0.totals = totals }
        upkeep.withLock { upkeep in
            upkeep.reconciliation = place.isReconciliationDue ? Reconciliation(directory) : nil
            upkeep.isPaused = false
            upkeep.isEvicting = totals.bytes > configuration.budgetBytes
            upkeep.removedFolders = directory.removed
        }
        standing.withLock { $0 = Standing(place: place) }
    }
}

/// What a disk store asks of its surroundings.
struct DiskEnvironment: Sendable {
    var logger: Logger
    /// Asked when the directory is opened.
    var now: @Sendable () -> Date
    /// The time since an arbitrary moment; never set.
    var uptime: @Sendable () -> Duration
    /// The free part, 0 to 1, of the volume that holds a path, or nil if it can't be told.
    var freeFraction: @Sendable (_ path: String) -> Double?
}
