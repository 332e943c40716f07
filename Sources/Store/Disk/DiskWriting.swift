import Logging
import NIOCore
import Synchronization

/// An entry that waits to be written.
struct EntryWrite: Sendable {
    var key: EntryKey
    var entry: StoredEntry
    var labels: EntryLabels
    var fileBytes: Int
    /// Called once the entry is on disk, with true, or dropped.
    var finish: @Sendable (_ isWritten: Bool) -> Void
}

// Writing, and making room.
extension DiskEntries {
    /// Below this free part of the volume nothing is written.
    private static let minimumFree = 0.05
    /// Evictions bring the store down to this part of its budget, so that they are few.
    private static let lowWater = 0.9
    private static let evictionBatch = 256

    /// The largest file kept: one that fits below the mark to which evictions go.
    var maximumFileBytes: Int { Int(Self.lowWater * Double(configuration.budgetBytes)) }

    /// Writes entries, whose keys must differ: to each a temporary file and its name, then all records in one
    /// transaction; then makes room.
    /// - Returns: for each whether it was written.
    func write(_ writes: [EntryWrite]) -> [Bool] {
        let isWritten =
            hasSpace() && payOwedRemovals()
            ? attempt { place throws(StorageFault) in try write(writes, in: place) } : nil
        guard let isWritten else { return writes.map { _ in false } }
        if isWritten.allSatisfy(\.self) {
            outages.end(.writing)
            upkeep.withLock { $0.isPaused = false }
        }
        makeRoom()
        return isWritten
    }

    /// Evicts what was not used for longest, down to the low-water mark.
    /// - Returns: false if there is nothing more to evict.
    func evictSome() -> Bool {
        writeLastUses()
        let evicted = attempt { place throws(StorageFault) in
            var excess = totals.bytes - maximumFileBytes
            let victims = try place.index.oldest(.access, limit: Self.evictionBatch).prefix { victim in
                defer { excess -= victim.bytes }
                return excess > 0
            }
            try discard(Array(victims), in: place)
            return victims.count
        }
        counts.withLock { $0.evictions += evicted ?? 0 }
        return evicted ?? 0 > 0
    }

    /// Evicts all that is above the low-water mark, if that has begun.
    func finishEvicting() {
        while upkeep.withLock(\.isEvicting), evictSome() {}
        upkeep.withLock { $0.isEvicting = false }
    }

    /// Removes the oldest entries that are past their age, if any.
    /// - Returns: what was removed.
    func removeSomeExpired() -> StoreTotals {
        guard let maxAge = configuration.maxAge?.microseconds else { return StoreTotals() }
        writeLastUses()
        let removed = attempt { place throws(StorageFault) in
            let limit = place.index.clock.microseconds - maxAge
            let victims = try place.index.oldest(configuration.expiry, before: limit, limit: Self.evictionBatch)
            return try discard(victims, in: place)
        }
        counts.withLock { $0.expirations += removed?.entries ?? 0 }
        return removed ?? StoreTotals()
    }

    /// Adds to what is held.
    func add(_ change: StoreTotals) {
        counts.withLock { $0.totals += change }
    }

    private func hasSpace() -> Bool {
        if let free = environment.freeFraction(directory.path), free < Self.minimumFree {
            outages.begin(.space, ["free": "\(free)"])
            return false
        }
        outages.end(.space)
        return true
    }

    private func write(_ writes: [EntryWrite], in place: OpenDirectory) throws(StorageFault) -> [Bool] {
        let known = try place.index.creationTimes(of: writes.map(\.key))
        let now = place.index.clock.microseconds
        var records: [EntryRecord] = []
        var isWritten: [Bool] = []
        for write in writes {
            let created = known[write.key].map { min($0, now) } ?? now
            let record = writeFile(of: write, created: created, modified: now)
            isWritten.append(record != nil)
            if let record {
                records.append(record)
            } else if known[write.key] != nil {
                // The one before is outdated, and its file may be gone.
                _ = remove(.entry(write.key))
            }
        }
        do {
            if !records.isEmpty { add(try place.index.put(records)) }
        } catch {
            for record in records {
                try? Files.remove(directory.file(of: record.key))
                directory.removeEmptyFolders(ofSource: record.key.source)
            }
            throw error
        }
        return isWritten
    }

    /// Writes an entry's file.
    /// - Returns: what the index has to know about it, or nil if that failed.
    private func writeFile(of write: EntryWrite, created: Int64, modified: Int64) -> EntryRecord? {
        let head = EntryHead(
            of: write.entry, labels: write.labels, key: write.key, created: created, modified: modified)
        do {
            try directory.write([head.bytes, write.entry.metadata, write.entry.body], for: write.key)
            return head.record
        } catch {
            try? Files.remove(directory.temporaryFile(of: write.key))
            directory.removeEmptyFolders(ofSource: write.key.source)
            outages.begin(.writing, ["error": "\(error)"])
            return nil
        }
    }

    /// Brings the store into its budget, and leaves what is above the low-water mark to the upkeep.
    private func makeRoom() {
        guard totals.bytes > configuration.budgetBytes else { return }
        upkeep.withLock { $0.isEvicting = true }
        while totals.bytes > configuration.budgetBytes, evictSome() {}
    }

    @discardableResult
    private func discard(_ victims: [Victim], in place: OpenDirectory) throws(StorageFault) -> StoreTotals {
        if victims.isEmpty { return StoreTotals() }
        for victim in victims {
            try Files.remove(directory.file(of: victim.key))
            directory.removeEmptyFolders(ofSource: victim.key.source)
        }
        let change = try place.index.delete(victims.map(\.key))
        add(change)
        return -change
    }
}
