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
        var hot = HotEntries()
    }

    /// The knowledge of an entry without a lookup in the index.
    struct Sight {
        /// The directory in which to look for the entry; nil if none is open or if the entry is being removed.
        var directory: OpenDirectory?
        /// The entry, if it was verified before, and its file, if that is open.
        var hot: (entry: HotEntry, file: OpenFile?)?
        var generation: UInt64
    }

    private let fields = Mutex(Fields())
    private let lastUsesBatch: Int

    /// - Parameter lastUsesBatch: the number of used entries after which their times should be written to the index.
    init(lastUsesBatch: Int = 4096) {
        self.lastUsesBatch = lastUsesBatch
    }

    /// The open directory, for the writer to publish; nil while it can't be used and once the store is closed.
    var directory: OpenDirectory? {
        get { fields.withLock(\.directory) }
        set {
            change {
                $0.directory = newValue
                return $0.hot.removeAll()
            }
        }
    }

    /// Changes the state. What `change` returns is freed after the lock.
    private func change<Freed: Sendable>(_ change: (inout Fields) -> Freed) {
        let freed = fields.withLock { change(&$0) }
        withExtendedLifetime(freed) {}
    }

    // MARK: Hot entries

    /// What is known of entries without looking into the index, at one moment.
    func sights(of keys: [EntryKey]) -> [Sight] {
        fields.withLock { fields in
            keys.map { key in
                let directory = fields.pendingRemovals.contains(key) ? nil : fields.directory
                return Sight(
                    directory: directory, hot: directory == nil ? nil : fields.hot.entry(for: key),
                    generation: fields.hot.generation)
            }
        }
    }

    /// Records entries that a reader found in the index in this generation, and verified, and keeps their files open.
    func insertHot(_ found: [VerifiedEntry], foundIn generation: UInt64) {
        change { fields in
            found.map { entry, file in
                let evicted = fields.hot.insert(entry, foundIn: generation)
                return (evicted, file.map { fields.hot.insert($0, for: entry.record.key) } ?? [])
            }
        }
    }

    func keepOpen(_ file: OpenFile, for key: EntryKey) { change { $0.hot.insert(file, for: key) } }

    /// Records that the rows of these entries were written or deleted, either of which ends their last uses.
    func rowsChanged(_ keys: [EntryKey]) {
        change { fields in
            for key in keys { fields.lastUses.removeValue(forKey: key) }
            return fields.hot.remove(keys)
        }
    }

    /// Records that all rows of these sources were deleted.
    func rowsChanged(ofSources sources: Set<StoreKey>) {
        change { fields in
            fields.lastUses = fields.lastUses.filter { !sources.contains($0.key.source) }
            return fields.hot.removeAll(ofSources: sources)
        }
    }

    /// Records that any row may have changed.
    func rowsChanged() { change { $0.hot.removeAll() } }

    // MARK: Counts

    /// The counts so far; the counts of the queue are 0.
    var statistics: DiskStatistics { fields.withLock(\.statistics) }

    /// The entries on disk and the bytes that they take. Only the writer changes them.
    var totals: StoreTotals {
        get { fields.withLock { StoreTotals(entries: $0.statistics.entries, bytes: $0.statistics.bytes) } }
        set { count { ($0.entries, $0.bytes) = (newValue.entries, newValue.bytes) } }
    }

    func count(_ change: (inout DiskStatistics) -> Void) {
        fields.withLock { change(&$0.statistics) }
    }

    /// The bytes of the index and its log, as last measured by the writer.
    var indexBytes: Int {
        get { fields.withLock(\.statistics.indexBytes) }
        set { count { $0.indexBytes = newValue } }
    }

    // MARK: Last uses

    /// Counts a lookup, and records which entries it used.
    ///
    /// - Parameters:
    ///   - used: of the entries that it found.
    ///   - time: in microseconds since 1970; nil if the directory is closed by now.
    /// - Returns: whether it is time to write the last uses to the index.
    func recordLookup(hits: Int, used: [EntryKey], isOneMissing: Bool, at time: Int64?) -> Bool {
        fields.withLock { fields in
            fields.statistics.hits += hits
            if isOneMissing { fields.statistics.misses += 1 }
            guard let time else { return false }
            var isDue = false
            for key in used where fields.lastUses.updateValue(time, forKey: key) == nil {
                isDue = isDue || fields.lastUses.count.isMultiple(of: lastUsesBatch)
            }
            return isDue
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

    /// Takes back last uses that could not be written to the index, unless there are later ones.
    func returnLastUses(_ uses: [EntryKey: Int64]) {
        fields.withLock { $0.lastUses.merge(uses) { later, _ in later } }
    }

    // MARK: Pending removals

    /// Hides the entries of a removal from readers, until ``endRemoval(_:)``.
    func beginRemoval(_ removal: PendingRemovals.Removal) {
        fields.withLock { $0.pendingRemovals.insert(removal) }
    }

    func endRemoval(_ removal: PendingRemovals.Removal) {
        fields.withLock { $0.pendingRemovals.remove(removal) }
    }

    /// The removals that have not succeeded yet.
    var pendingRemovals: [PendingRemovals.Removal] { fields.withLock { $0.pendingRemovals.removals } }

    func isRemoving(_ key: EntryKey) -> Bool { fields.withLock { $0.pendingRemovals.contains(key) } }
}
