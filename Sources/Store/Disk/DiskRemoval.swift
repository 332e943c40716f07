import Synchronization

// Removing. First the files, since a record without a file is a miss and a file without a record may be taken back.
extension DiskEntries {
    /// So many sources go in one transaction.
    private static let sourcesBatch = 256

    /// Removes entries; they are out of sight from the start, and stay so even if this fails.
    /// - Returns: what was removed, or nil if that failed and will be tried again.
    func remove(_ removal: OwedRemovals.Removal) -> StoreTotals? {
        owed.withLock { $0.insert(removal) }
        guard let removed = attempt({ place throws(StorageFault) in try perform(removal, in: place) }) else {
            return nil
        }
        owed.withLock { $0.strike(removal) }
        return removed
    }

    /// Tries the removals that failed before.
    /// - Returns: whether none is left.
    func payOwedRemovals() -> Bool {
        let removals = owed.withLock { $0.isEmpty ? [] : $0.removals }
        return removals.allSatisfy { remove($0) != nil }
    }

    /// The sources with such a label. Nil if the index doesn't say, for instance because it is damaged: then a new one
    /// can be asked once it is made.
    func sources(matching query: LabelFilter) -> [StoreKey]? {
        attempt(isTriedAgain: false) { place throws(StorageFault) in try place.index.sources(matching: query) }
    }

    /// What there is of each of these sources.
    func totals(ofSources sources: [StoreKey]) -> [StoreKey: StoreTotals] {
        attempt { place throws(StorageFault) in try place.index.totals(ofSources: sources) } ?? [:]
    }

    /// What there is of a source, but for what was removed and is still on the volume.
    func summaries(ofSource source: StoreKey, limit count: Int) -> [EntrySummary] {
        let listed = attempt { place throws(StorageFault) in
            try place.index.summaries(ofSource: source, limit: count, now: place.index.clock.microseconds)
        }
        return (listed ?? []).filter { entry in !owed.withLock { $0.covers(entry.key) } }
    }

    private func perform(
        _ removal: OwedRemovals.Removal, in place: OpenDirectory
    ) throws(StorageFault) -> StoreTotals {
        let before = totals
        switch removal {
        case .entry(let key):
            try Files.remove(directory.file(of: key))
            directory.removeEmptyFolders(ofSource: key.source)
            add(try place.index.delete([key]))
        case .sources(let sources):
            for start in stride(from: 0, to: sources.count, by: Self.sourcesBatch) {
                try remove(sources[start...].prefix(Self.sourcesBatch), in: place)
            }
        case .everything:
            try removeEverything(in: place)
        }
        let after = totals
        return StoreTotals(entries: before.entries - after.entries, bytes: before.bytes - after.bytes)
    }

    private func remove(_ sources: ArraySlice<StoreKey>, in place: OpenDirectory) throws(StorageFault) {
        for source in sources {
            try Files.remove(directory.folder(ofSource: source))
            directory.removeEmptyFolders(ofSource: source)
        }
        add(try place.index.deleteAll(ofSources: sources))
    }

    /// Moves all files out of the way at once, and leaves it to the upkeep to remove them.
    private func removeEverything(in place: OpenDirectory) throws(StorageFault) {
        let removed = directory.nameOfRemoved()
        try Files.rename(directory.entries, to: removed)
        upkeep.withLock { $0.removedFolders.append(removed) }
        defer { place.identifyAnew() }
        try directory.makeFolders()
        add(try place.index.deleteEverything())
    }
}
