/// Removes entries: hides them from readers, deletes their files, and then their rows. A row without a file is a miss,
/// while a file without a row might be adopted again.
///
/// Belongs to the writer's thread.
final class EntryRemover {
    /// The number of sources whose rows are deleted in one transaction.
    private static let sourcesBatch = 2_000
    /// The number of files of a folder set aside that are deleted in one slice.
    private static let filesBatch = 256

    private let directory: CacheDirectory
    private var state: DiskState { directory.state }
    private var layout: DiskLayout { directory.layout }
    /// The folders of entries that were set aside and are still to be deleted.
    private var foldersSetAside: [String] = []

    init(_ directory: CacheDirectory) { self.directory = directory }

    /// Takes over the folders that an earlier opening has set aside.
    func begin() { foldersSetAside = layout.foldersSetAside }

    /// Removes entries. They are hidden from the start, and stay hidden even if this fails.
    /// - Returns: what was removed; nil if that failed and will be tried again.
    func remove(_ removal: PendingRemovals.Removal) -> StoreTotals? {
        state.beginRemoval(removal)
        guard let removed = directory.attempt({ open throws(StorageError) in try perform(removal, in: open) }) else {
            return nil
        }
        state.endRemoval(removal)
        return removed
    }

    /// Tries the removals again that failed before.
    /// - Returns: whether all have succeeded.
    func retryPending() -> Bool {
        state.pendingRemovals.allSatisfy { remove($0) != nil }
    }

    /// Removes the files and then the rows of these entries.
    /// - Returns: what was removed.
    @discardableResult
    func discard(_ keys: [EntryKey], in open: OpenDirectory) throws(StorageError) -> StoreTotals {
        if keys.isEmpty { return StoreTotals() }
        for key in keys { try removeFile(of: key) }
        defer { state.rowsChanged(keys) }
        do {
            let change = try open.index.apply(deletes: keys)
            state.totals += change
            return -change
        } catch {
            // Rows without files would count as corrupt entries.
            for key in keys { state.beginRemoval(.entry(key)) }
            throw error
        }
    }

    /// Whether folders that were set aside are still to be deleted.
    var hasFoldersSetAside: Bool { !foldersSetAside.isEmpty }

    /// Deletes some of the files in the folders that were set aside.
    func runSlice() {
        guard let folder = foldersSetAside.last else { return }
        var limit = Self.filesBatch
        let isGone = directory.attempt { _ throws(StorageError) in
            try FileSystem.removeSome(folder, limit: &limit)
        }
        // A folder that can't be deleted is left to the next opening.
        if isGone != false { foldersSetAside.removeAll { $0 == folder } }
    }

    private func perform(
        _ removal: PendingRemovals.Removal, in open: OpenDirectory
    ) throws(StorageError) -> StoreTotals {
        let before = state.totals
        switch removal {
        case .entry(let key):
            defer { state.rowsChanged([key]) }
            try removeFile(of: key)
            state.totals += try open.index.apply(deletes: [key])
        case .sources(let sources):
            // Neighbors share pages of the index, and a folder.
            let sources = sources.sorted()
            for start in stride(from: 0, to: sources.count, by: Self.sourcesBatch) {
                try remove(sources[start...].prefix(Self.sourcesBatch), in: open)
            }
        case .everything: try removeEverything(in: open)
        }
        let after = state.totals
        return StoreTotals(entries: before.entries - after.entries, bytes: before.bytes - after.bytes)
    }

    private func removeFile(of key: EntryKey) throws(StorageError) {
        try FileSystem.remove(layout.file(of: key))
        layout.removeEmptyFolder(ofSource: key.source)
    }

    private func remove(_ sources: ArraySlice<StoreKey>, in open: OpenDirectory) throws(StorageError) {
        defer { state.rowsChanged(ofSources: Set(sources)) }
        for file in layout.files(ofSources: sources) { try FileSystem.remove(file) }
        layout.removeEmptyFolders(ofSources: sources)
        state.totals += try open.index.deleteAll(ofSources: sources)
    }

    /// Sets all files aside in one step; maintenance deletes them.
    private func removeEverything(in open: OpenDirectory) throws(StorageError) {
        defer { state.rowsChanged() }
        let aside = layout.nameForFolderSetAside()
        foldersSetAside.append(aside)
        try directory.replaceEntries(movingThemTo: aside, in: open)
        state.totals += try open.index.deleteEverything()
    }
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
