import Logging

/// Evicts the least recently used entries when the store exceeds its budget or the volume is short of space, and
/// removes expired ones.
///
/// Belongs to the writer's thread.
final class Evictor {
    /// The share of the budget down to which entries are evicted, so that evictions are few and large.
    private static let lowWaterMark = 0.9
    /// The share of the budget that the index may take for records to be kept longer than files.
    private static let indexShare = 0.125
    /// The number of entries that are evicted in one slice.
    private static let batch = 256
    /// The number of slices in turn whose rows may get the time of a later use before some of these are evicted.
    private static let maximumRenewals = 16
    /// The free share of the volume below which nothing is written, and the share up to which entries are evicted then.
    private static let (minimumFree, sufficientFree) = (0.05, 0.06)
    /// The time without an eviction for the volume's sake after which that counts as over.
    private static let shortageEnd = Duration.seconds(60 * 60)
    /// What the index may need besides a file, in bytes. A smaller log is not worth merging.
    private static let indexReserve = 256 << 10

    private let directory: CacheDirectory
    private let remover: EntryRemover
    private var environment: DiskEnvironment { directory.environment }
    private var configuration: DiskStore.Configuration { environment.configuration }
    private var state: DiskState { directory.state }
    /// The bytes of the index in use, of its pages without rows, and of its log.
    private var (indexBytes, emptyBytes, logBytes) = (0, 0, 0)
    /// Whether the store has exceeded its budget and is still above the low-water mark.
    private var isOverLowWater = false
    /// Whether the volume was short of space and does not have enough yet.
    private var isFreeingVolume = false
    /// The free share of the volume up to which evictions don't help.
    private var vainFreeShare: Double?
    /// When entries were last evicted for the volume's sake.
    private var lastShortage: Duration?

    init(_ directory: CacheDirectory, _ remover: EntryRemover) {
        self.directory = directory
        self.remover = remover
    }

    /// The largest file that is stored: it must fit into the budget down to which entries are evicted.
    static func maximumFileBytes(_ configuration: DiskStore.Configuration) -> Int {
        lowWaterBytes(configuration) - logBytes(configuration)
    }

    private static func lowWaterBytes(_ configuration: DiskStore.Configuration) -> Int {
        Int(lowWaterMark * Double(configuration.budgetBytes))
    }

    /// The size up to which the index's log grows. It counts as full, since evictions make it grow.
    private static func logBytes(_ configuration: DiskStore.Configuration) -> Int {
        DiskIndex.logBytes(pages: DiskIndex.logPages(budgetBytes: configuration.budgetBytes))
    }

    private var usedBytes: Int { state.totals.bytes + indexBytes + max(logBytes, Self.logBytes(configuration)) }
    private var excessBytes: Int { usedBytes - Self.lowWaterBytes(configuration) }
    /// Pages without rows count, but no eviction frees them: up to a tenth of the budget, they leave room for entries.
    private var isOverBudget: Bool { usedBytes + emptyBytes > configuration.budgetBytes }

    /// Whether there are entries to evict now.
    var isEvicting: Bool { isOverLowWater || isFreeingVolume }

    /// Starts evicting if the store is over its budget, without waiting for a write.
    func check() {
        measureIndex()
        if isOverBudget { isOverLowWater = true }
    }

    /// Adopts the totals of a new opening.
    func begin() {
        measureIndex()
        isOverLowWater = isOverBudget
    }

    /// Brings the store down to its budget; maintenance goes on to the low-water mark.
    func makeRoom() {
        check()
        while isOverBudget, evictBatch(upTo: excessBytes).entries > 0 {}
    }

    /// Evicts some entries.
    func runSlice() {
        if isOverLowWater {
            isOverLowWater = excessBytes > 0 && evictBatch(upTo: excessBytes).entries > 0
        } else if isFreeingVolume {
            isFreeingVolume = relieveVolume(upTo: Self.sufficientFree) == .partial
        }
    }

    /// Completes an eviction that has begun.
    func finish() {
        while isEvicting { runSlice() }
    }

    /// Removes some of the entries that have reached their maximum age.
    /// - Returns: what was removed; nothing if none is left.
    func removeSomeExpired() -> StoreTotals {
        guard let maxAge = configuration.maxAge?.microseconds else { return StoreTotals() }
        writeLastUses()
        let removed = directory.attempt { open throws(StorageError) in
            let limit = open.index.clock.microseconds - maxAge
            let expired = try leastRecentlyUsed(before: limit, limit: Self.batch, in: open)
                .filter { $0.laterUse ?? $0.lastUse < limit }
            return try remover.discard(expired.map(\.key), in: open)
        }
        state.count { $0.expirations += removed?.entries ?? 0 }
        return removed ?? StoreTotals()
    }

    /// Writes the last uses that only memory has to the index.
    func writeLastUses() {
        let uses = state.takeLastUses()
        if uses.isEmpty { return }
        let isWritten =
            directory.attempt { open throws(StorageError) in
                // Lookups compare a maximum age with the time in the row.
                if configuration.maxAge == nil {
                    try open.index.recordUses(uses)
                } else {
                    try open.index.setLastUses(uses)
                }
            } != nil
        // Evictions to come must not pass over the entries in use.
        if !isWritten && directory.lackOfSpace != nil { state.returnLastUses(uses) }
    }

    /// Evicts least recently used entries until they have freed so many bytes.
    /// - Returns: what was evicted; nothing if there is no entry, or if that failed.
    private func evictBatch(upTo bytes: Int, limit: Int = Evictor.batch, keepsRecords: Bool = true) -> StoreTotals {
        writeLastUses()
        let evicted = directory.attempt { open throws(StorageError) in
            var excess = bytes
            let entries = try leastRecentlyUsed(limit: limit, in: open).prefix { entry in
                defer { excess -= entry.bytes }
                return excess > 0
            }
            let files = entries.filter { $0.bytes > 0 }
            guard keepsRecords, keepsRecordsLonger, !files.isEmpty, files.count < entries.count else {
                return try remover.discard(entries.map(\.key), in: open)
            }
            let discarded = try remover.discard(files.map(\.key), in: open)
            // Without space for this, they are among the oldest the next time, too.
            try? open.index.setLastUses(renewedRecords(in: entries, at: open.index.clock.microseconds))
            return discarded
        }
        state.count { $0.evictions += evicted?.entries ?? 0 }
        measureIndex()
        return evicted ?? StoreTotals()
    }

    /// The entries to evict first, among so many with the oldest rows. Rows of entries that were used later get the
    /// time of that use: this takes the place of a change of the row for each use.
    ///
    /// Nearly the least recently used: if many rows in turn were used later, some of these go rather than that all rows
    /// are written.
    private func leastRecentlyUsed(
        before time: Int64 = .max, limit: Int, in open: OpenDirectory
    ) throws(StorageError) -> [OldEntry] {
        for renewal in 1... {
            let oldest = try open.index.leastRecentlyUsed(before: time, limit: limit)
            let uses = oldest.reduce(into: [:]) { uses, entry in uses[entry.key] = entry.laterUse }
            guard let earliest = uses.values.min() else { return oldest }
            // Without space for that, the entries used later are still not the first to go.
            let isRenewed = (try? open.index.setLastUses(uses)) != nil
            let unused = oldest.filter { $0.laterUse == nil && $0.lastUse < earliest }
            if !unused.isEmpty { return unused }
            if isRenewed && renewal < Self.maximumRenewals { continue }
            let sorted = oldest.sorted { $0.laterUse ?? $0.lastUse < $1.laterUse ?? $1.lastUse }
            return Array(sorted.prefix(max(1, limit / 4)))
        }
        return []
    }

    /// Whether entries without a file, which are records of sources, stay when files of their age go. With its record,
    /// a further variant of a source takes no list in the shared store.
    private var keepsRecordsLonger: Bool {
        // With a maximum age, their age would begin anew.
        configuration.keepsRecordsLonger && configuration.maxAge == nil
            && indexBytes <= Int(Self.indexShare * Double(configuration.budgetBytes))
    }

    /// Later last uses for the records among the oldest entries. They are later by the age of the oldest, rounded down
    /// to a power of two: as long as an eviction takes, that is constant, so that records stay spread among files. None
    /// is in the future: its next use would move the row back, where the filter of keys may have been filled already.
    private func renewedRecords(in entries: ArraySlice<OldEntry>, at now: Int64) -> [EntryKey: Int64] {
        let (age, isOverflow) = now.subtractingReportingOverflow(entries.first?.lastUse ?? now)
        let span = isOverflow ? Self.maximumSpan : min(max(age, 1), Self.maximumSpan)
        let shift = Int64(1) << (Int64.bitWidth - 1 - span.leadingZeroBitCount)
        return entries.reduce(into: [:]) { uses, entry in
            let (time, isLate) = entry.lastUse.addingReportingOverflow(shift)
            if entry.bytes == 0 { uses[entry.key] = isLate ? now : min(time, now) }
        }
    }

    /// In microseconds. A corrupt row may have any time.
    private static let maximumSpan = Int64(1) << 60

    private func measureIndex() {
        guard let file = try? directory.current?.index.measure() else { return }
        indexBytes = file.usedBytes
        emptyBytes = file.allBytes - file.usedBytes
        logBytes = directory.layout.logBytes
        state.indexBytes = indexBytes + logBytes
    }
}

// MARK: The volume

extension Evictor {
    /// What an eviction for the volume's sake has achieved.
    private enum Relief {
        case enough, partial, nothing
    }

    /// Whether the volume has space to write, if necessary after evictions. Maintenance goes on with them.
    func hasSpaceOnVolume() -> Bool {
        var relief = Relief.partial
        while relief == .partial {
            relief = relieveVolume(upTo: Self.minimumFree)
            if relief == .partial { isFreeingVolume = true }
        }
        if relief == .nothing {
            environment.outages.begin(.space, ["free": "\(freeShare)"])
        } else if let lastShortage, environment.uptime() - lastShortage > Self.shortageEnd {
            self.lastShortage = nil
            environment.outages.end(.shortage)
        }
        return relief == .enough
    }

    /// Frees space for files of these sizes after the volume or a quota refused to take them, which the free share of
    /// the volume may not show.
    /// - Returns: whether it is worth trying again.
    func makeRoom(forFilesOf sizes: [Int], after error: StorageError) -> Bool {
        guard let smallest = sizes.min(), smallest <= state.totals.bytes else { return false }
        let reserve = min(Self.indexReserve, state.totals.bytes / 32)
        // An entry takes an inode, and its folder may take another.
        let wanted = StoreTotals(entries: 2 * sizes.count, bytes: sizes.reduce(0, +) + reserve)
        var freed = StoreTotals()
        while freed.bytes < wanted.bytes || freed.entries < wanted.entries {
            let evicted = evictBatch(upTo: .max, limit: shareOfEntries, keepsRecords: false)
            if evicted.entries == 0 { break }
            freed += evicted
        }
        if freed.entries == 0 { return false }
        mergeLog()
        recordShortage("\(error)")
        return true
    }

    /// Evicts some entries if less than this share of the volume is free.
    ///
    /// If the share does not rise, then another program takes what is freed, or the file system frees it later. If it
    /// rises so little that all entries together would not make enough space, then others fill the volume. No more is
    /// evicted until the share has risen by itself so far that it helps.
    private func relieveVolume(upTo target: Double) -> Relief {
        let free = freeShare
        if free >= target {
            vainFreeShare = nil
            return .enough
        }
        if let vainFreeShare, free <= vainFreeShare { return .nothing }
        mergeLog()
        let evicted = evictBatch(upTo: .max, limit: shareOfEntries, keepsRecords: false)
        if evicted.entries == 0 { return .nothing }
        let raised = freeShare
        // Entries without a file free space in the index.
        if evicted.bytes > 0 {
            let possible = max(0, raised - free) / Double(evicted.entries) * Double(state.totals.entries)
            guard raised > free, raised + possible >= target else {
                vainFreeShare = raised > free ? target - possible : raised
                return .nothing
            }
        }
        recordShortage("\(free) of the volume is free")
        return .partial
    }

    private var freeShare: Double { environment.freeFraction(directory.layout.path) ?? 1 }

    /// A small share of the entries: what is free is measured after each.
    private var shareOfEntries: Int { min(Self.batch, max(1, state.totals.entries / 32)) }

    private func mergeLog() {
        guard logBytes > Self.indexReserve else { return }
        try? directory.current?.index.truncateLog()
        measureIndex()
    }

    private func recordShortage(_ reason: String) {
        lastShortage = environment.uptime()
        environment.outages.begin(.shortage, ["reason": "\(reason)"])
    }
}
