import Logging

/// Makes index and files agree after a crash or a disk failure, a slice at a time, so that writes and removals run in
/// between. Visits every file and every row once, except for what is added while it runs.
struct Reconciliation {
    /// The number of files after which a slice takes no further folder. With a million entries, a folder has about 250.
    private static let sliceFiles = 256

    private let layout: DiskLayout
    /// The number of the next folder.
    private var position = 0
    /// The numbers of the existing folders in descending order; nil before they are listed.
    private var folders: [Int]?
    private var adopted = 0
    private var removedFiles = 0
    private var missing = 0

    init(_ layout: DiskLayout) {
        self.layout = layout
    }

    var isDone: Bool { position >= DiskLayout.folderCount }

    /// Compares the next folders with their rows.
    /// - Returns: the change of the totals.
    mutating func runSlice(_ index: DiskIndex) throws(StorageError) -> StoreTotals {
        if folders == nil { listFolders() }
        let (slice, files) = nextFolders()
        let end = (folders?.count ?? 0) > slice.count ? (slice.last ?? position) + 1 : DiskLayout.folderCount
        var rows = try index.fileSizes(ofSourcesBeginningWith: position..<end)
        let found = adoptable(files, &rows)
        let gone = rows.filter { $0.value != nil && FileSystem.kind(of: layout.file(of: $0.key)) == .nothing }.keys
        folders?.removeLast(slice.count)
        position = end
        if found.isEmpty && gone.isEmpty { return StoreTotals() }
        let restorable = found.compactMap(\.restorable)
        let change = try index.apply(puts: found.map(\.record) + restorable, deletes: Array(gone))
        adopted += found.count
        missing += gone.count
        return change
    }

    func log(to logger: Logger) {
        for (message, count) in [
            ("adopted files without a row in the index", adopted), ("removed files that are not entries", removedFiles),
            ("removed rows without a file from the index", missing),
        ] where count > 0 {
            logger.warning("disk cache: \(message)", metadata: ["count": "\(count)"])
        }
    }

    private mutating func listFolders() {
        folders = (FileSystem.names(in: layout.entries) ?? []).compactMap(layout.numberOfFolder).sorted(by: >)
    }

    /// The next folders with about as many files as a slice takes, and the names in them.
    private mutating func nextFolders() -> (numbers: [Int], files: [(folder: Int, name: String)]) {
        var numbers: [Int] = []
        var files: [(folder: Int, name: String)] = []
        for number in (folders ?? []).reversed() where files.count < Self.sliceFiles {
            numbers.append(number)
            files += contents(of: number).map { (number, $0) }
        }
        return (numbers, files)
    }

    /// The headers of the files that have no row; removes from `rows` each row that has its file.
    private mutating func adoptable(
        _ files: [(folder: Int, name: String)], _ rows: inout [EntryKey: Int?]
    ) -> [EntryHeader] {
        files.compactMap { folder, name in
            let path = "\(layout.folder(folder))/\(name)"
            let key = layout.key(ofFileNamed: name, inFolder: folder)
            let row = key.flatMap { rows.removeValue(forKey: $0) }
            if let row, let known = row, FileSystem.kind(of: path) == .file(byteCount: known) { return nil }
            // An entry in the row itself is newer than a file for its key.
            let isOutdated = row.map { $0 == nil } ?? false
            if !isOutdated, let header = EntryHeader(readingFile: path), header.record.key == key { return header }
            remove(path)
            // The row of a file that is not an entry goes too.
            if let key, let row { rows[key] = .some(row) }
            return nil
        }
    }

    /// The names in a folder; removes a file in the place of the folder.
    private mutating func contents(of number: Int) -> [String] {
        let folder = layout.folder(number)
        switch FileSystem.kind(of: folder) {
        case .folder: return FileSystem.names(in: folder) ?? []
        case .file, .other: remove(folder)
        case .nothing: break
        }
        return []
    }

    private mutating func remove(_ path: String) {
        try? FileSystem.remove(path)
        removedFiles += 1
    }
}

/// Makes index and files agree after a crash, damage or a week, in slices between other work (see ``Reconciliation``).
///
/// Belongs to the writer's thread.
final class CacheRepair {
    private let directory: CacheDirectory
    /// The reconciliation under way, if any.
    private var reconciliation: Reconciliation?
    /// Whether the last slice failed and no write has succeeded since.
    private var isPaused = false
    private var waiters: [@Sendable () -> Void] = []

    init(_ directory: CacheDirectory) { self.directory = directory }

    /// Whether there is a slice to run now.
    var isRepairing: Bool { reconciliation != nil && !isPaused }

    /// Starts over with a new opening.
    func begin(_ open: OpenDirectory) {
        reconciliation = open.index.condition.isReconciliationDue ? Reconciliation(directory.layout) : nil
        isPaused = false
    }

    /// Goes on after a pause, since writes succeed again.
    func resume() { isPaused = false }

    /// Compares some folders with their rows.
    func runSlice(in open: OpenDirectory) {
        guard var reconciliation, !isPaused else { return }
        do {
            defer { directory.state.rowsChanged() }
            directory.state.totals += try reconciliation.runSlice(open.index)
            if reconciliation.isDone { directory.state.totals = try open.index.endReconciliation() }
        } catch {
            directory.report(error, .writing, in: open)
            // The same slice runs again later; with a new index, everything does.
            isPaused = true
            return
        }
        self.reconciliation = reconciliation.isDone ? nil : reconciliation
        guard reconciliation.isDone else { return }
        reconciliation.log(to: directory.environment.logger)
        directory.outages.end(.index)
    }

    /// Runs `work` once index and files agree, as far as they can.
    func whenRepaired(_ work: @escaping @Sendable () -> Void) {
        if isRepairing && !directory.isClosed { waiters.append(work) } else { work() }
    }

    func runWaiters() {
        let waiters = waiters
        self.waiters = []
        for waiter in waiters { waiter() }
    }
}
