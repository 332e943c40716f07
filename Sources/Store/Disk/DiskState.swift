import Synchronization

/// The state that the threads of a disk store share: readers, the writer and callers. One lock protects all of it.
///
/// Everything else that changes belongs to the writer's thread alone (see ``DiskWriter``), has its own small lock
/// (``WriteQueue``, ``OutageLog``) or is on disk. No I/O happens under the lock.
final class DiskState: Sendable {
    private struct Fields {
        /// The open directory; nil while it can't be used and once the store is closed.
        var directory: OpenDirectory?
        /// Removals that are not on disk yet; their entries count as removed.
        var pendingRemovals = PendingRemovals()
        /// When entries were last used, where the index doesn't have it yet: a hit writes nothing.
        var lastUses: [EntryKey: Int64] = [:]
        var statistics = DiskStatistics()
    }

    private let fields = Mutex(Fields())
    private let lastUsesBatch: Int

    /// - Parameter lastUsesBatch: the number of used entries after which their times should be written to the index.
    init(lastUsesBatch: Int = 1024) {
        self.lastUsesBatch = lastUsesBatch
    }

    /// The open directory, for the writer to publish; nil while it can't be used and once the store is closed.
    var directory: OpenDirectory? {
        get { fields.withLock(\.directory) }
        set { fields.withLock { $0.directory = newValue } }
    }

    /// The directory in which to look for an entry; nil if there is none or if the entry is being removed.
    func directory(for key: EntryKey) -> OpenDirectory? {
        fields.withLock { $0.pendingRemovals.contains(key) ? nil : $0.directory }
    }

    // MARK: Counts

    /// The counts so far; those of the queue are 0.
    var statistics: DiskStatistics { fields.withLock(\.statistics) }

    /// The entries on disk and the size of their files.
    var totals: StoreTotals {
        get { fields.withLock { StoreTotals(entries: $0.statistics.entries, bytes: $0.statistics.bytes) } }
        set {
            count {
                $0.entries = newValue.entries
                $0.bytes = newValue.bytes
            }
        }
    }

    /// Adds a change, which may be negative, to the totals.
    func add(_ change: StoreTotals) {
        count {
            $0.entries += change.entries
            $0.bytes += change.bytes
        }
    }

    func count(_ change: (inout DiskStatistics) -> Void) {
        fields.withLock { change(&$0.statistics) }
    }

    // MARK: Last uses

    /// Records that an entry was used.
    /// - Parameter time: in microseconds since 1970.
    /// - Returns: whether it is time to write the last uses to the index.
    func recordUse(of key: EntryKey, at time: Int64) -> Bool {
        fields.withLock { fields in
            let isNew = fields.lastUses.updateValue(time, forKey: key) == nil
            return isNew && fields.lastUses.count.isMultiple(of: lastUsesBatch)
        }
    }

    /// When the entry was last used, in microseconds since 1970; nil if the index has the latest time.
    func lastUse(of key: EntryKey) -> Int64? { fields.withLock { $0.lastUses[key] } }

    /// Removes and returns the last uses that the index doesn't have.
    func takeLastUses() -> [EntryKey: Int64] {
        fields.withLock { fields in
            defer { fields.lastUses = [:] }
            return fields.lastUses
        }
    }

    // MARK: Pending removals

    /// Hides what a removal names from readers, until ``endRemoval(_:)``.
    func beginRemoval(_ removal: PendingRemovals.Removal) {
        fields.withLock { $0.pendingRemovals.insert(removal) }
    }

    /// Ends a removal that has succeeded.
    func endRemoval(_ removal: PendingRemovals.Removal) {
        fields.withLock { $0.pendingRemovals.remove(removal) }
    }

    /// The removals that have not succeeded yet.
    var pendingRemovals: [PendingRemovals.Removal] { fields.withLock { $0.pendingRemovals.removals } }

    /// Whether the entry is being removed.
    func isRemoving(_ key: EntryKey) -> Bool { fields.withLock { $0.pendingRemovals.contains(key) } }
}

/// Removals that are under way or that the volume refused. Their entries stay hidden until the removal succeeds.
struct PendingRemovals {
    /// A unit of removal.
    enum Removal {
        case entry(EntryKey)
        case sources([StoreKey])
        case everything
    }

    /// With more single removals than this, everything is removed instead.
    private static let limit = 65_536

    private var entries: Set<EntryKey> = []
    private var sources: Set<StoreKey> = []
    private var everything = false

    /// Whether one of the removals includes this entry.
    func contains(_ key: EntryKey) -> Bool {
        everything || sources.contains(key.source) || entries.contains(key)
    }

    mutating func insert(_ removal: Removal) {
        switch removal {
        case .entry(let key): entries.insert(key)
        case .sources(let keys): sources.formUnion(keys)
        case .everything: everything = true
        }
        if entries.count + sources.count > Self.limit {
            self = PendingRemovals()
            everything = true
        }
    }

    mutating func remove(_ removal: Removal) {
        switch removal {
        case .entry(let key): entries.remove(key)
        case .sources(let keys): sources.subtract(keys)
        case .everything: self = PendingRemovals()
        }
    }

    /// The removals, merged into as few as possible.
    var removals: [Removal] {
        if everything { return [.everything] }
        return (sources.isEmpty ? [] : [.sources(Array(sources))]) + entries.map(Removal.entry)
    }
}
