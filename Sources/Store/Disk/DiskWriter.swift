import DarkroomMachine
import Logging
import NIOCore

/// An entry that is queued to be written.
struct EntryWrite: Sendable {
    var key: EntryKey
    var entry: StoredEntry
    var labels: EntryLabels
    var companion: ByteBuffer
    var fileBytes: Int
    /// Called once, with true when the entry is on disk, or with false when it was dropped.
    var finish: @Sendable (_ isWritten: Bool) -> Void
}

extension EntryWrite {
    /// The entry of this key with all that its file or row needs; nil if it has too many labels, or if its file would
    /// be too large to be read.
    init?(_ entry: StoredEntry, for key: EntryKey, finish: @escaping @Sendable (_ isWritten: Bool) -> Void) {
        guard let labels = EntryLabels(entry.labels) else { return nil }
        let companion = EntryHeader.companion(of: entry, source: key.source)
        let bytes = EntryHeader.fileBytes(of: entry, labels, companion: companion)
        guard bytes <= EntryHeader.maximumFileBytes else { return nil }
        self.init(key: key, entry: entry, labels: labels, companion: companion, fileBytes: bytes, finish: finish)
    }

    /// Whether the index has the whole entry, so that it needs no file.
    var isKeptInRow: Bool {
        entry.content.count == 0 && companion.readableBytes == 0
            && entry.metadata.readableBytes <= EntryRecord.maximumContentBytes
    }
}

/// All changes to a disk store: writes, removals, eviction and repair.
///
/// Created and used on one thread, see ``WriterThread``. Nothing changes between two steps of an operation, and only
/// readers can meet a file and a row that don't belong together. Every call blocks.
final class DiskWriter {
    /// Larger than most entries: a volume that takes the probe takes them too.
    private static let probeBytes = 1 << 20
    private static let probeKey = EntryKey(
        source: StoreKey(hashing: "trial".utf8), entry: StoreKey(hashing: "entry".utf8))

    let directory: CacheDirectory
    let remover: EntryRemover
    let evictor: Evictor
    let repair: CacheRepair
    private let reader: EntryReader
    private var environment: DiskEnvironment { reader.environment }
    private var state: DiskState { reader.state }
    private var outages: OutageLog { environment.outages }
    /// The index of the opening that maintenance works on.
    private var maintainedIndex: DiskIndex?

    /// Takes the directory and opens its index. The rest is left to ``runMaintenance()``.
    init(_ reader: EntryReader) throws(DiskStoreError) {
        self.reader = reader
        directory = try CacheDirectory(reader.environment)
        remover = EntryRemover(directory)
        evictor = Evictor(directory, remover)
        repair = CacheRepair(directory)
        if let open = directory.current { beginMaintenance(of: open) }
    }

    // MARK: Writing

    /// Writes entries, whose keys must differ: first the files, then all rows in one transaction. Then evicts entries
    /// beyond the budget. If the volume has no space for some of them, evicts others and tries these again.
    /// - Returns: for each entry whether it was written.
    func write(_ writes: [EntryWrite]) -> [Bool] {
        var isWritten = writeOnce(writes)
        let rest = writes.indices.filter { !isWritten[$0] }
        if let error = directory.lackOfSpace,
            evictor.makeRoom(forFilesOf: rest.map { writes[$0].fileBytes }, after: error)
        {
            for (index, result) in zip(rest, writeOnce(rest.map { writes[$0] })) { isWritten[index] = result }
        }
        if isWritten.allSatisfy(\.self) {
            outages.end(.space)
            outages.end(.writing)
            repair.resume()
        } else if let error = directory.lackOfSpace {
            outages.begin(.space, ["error": "\(error)"])
        }
        if isWritten.contains(true) { evictor.makeRoom() }
        return isWritten
    }

    private func writeOnce(_ writes: [EntryWrite]) -> [Bool] {
        directory.lackOfSpace = nil
        let isWritten =
            evictor.hasSpaceOnVolume() && remover.retryPending()
            ? directory.attempt { open throws(StorageError) in try write(writes, in: open) } : nil
        return isWritten ?? writes.map { _ in false }
    }

    /// Writes an entry of zeros, reads it and removes it, which ends the outages that are over.
    func probe() {
        let body = ByteBuffer(repeating: 0, count: min(Self.probeBytes, environment.configuration.budgetBytes / 4))
        let entry = StoredEntry(body: body)
        guard let write = EntryWrite(entry, for: Self.probeKey, finish: { _ in }), self.write([write]) == [true] else {
            return
        }
        _ = reader.look(for: [Self.probeKey])
        _ = remover.remove(.entry(Self.probeKey))
    }

    private func write(_ writes: [EntryWrite], in open: OpenDirectory) throws(StorageError) -> [Bool] {
        let known = try open.index.earlierWrites(of: writes.map(\.key))
        let now = open.index.clock.microseconds
        var records: [EntryRecord] = []
        var isWritten: [Bool] = []
        for write in writes {
            let earlier = known[write.key]
            let created = earlier.map { min($0.created, now) } ?? now
            let record = place(write, hadFile: earlier?.hasFile ?? false, created: created, modified: now)
            isWritten.append(record != nil)
            if let record {
                records.append(record)
            } else if earlier != nil {
                // The previous entry is outdated, and its file may be gone.
                _ = remover.remove(.entry(write.key))
            }
        }
        if records.isEmpty { return isWritten }
        defer { state.rowsChanged(records.map(\.key)) }
        do {
            state.totals += try open.index.apply(puts: records)
        } catch {
            for record in records where record.content == nil {
                try? FileSystem.remove(directory.layout.file(of: record.key))
                directory.layout.removeEmptyFolder(ofSource: record.key.source)
            }
            throw error
        }
        return isWritten
    }

    /// Writes the file of an entry, or puts the whole entry into the row if it is small and has no body.
    /// - Returns: its row for the index, or nil if the write failed.
    private func place(_ write: EntryWrite, hadFile: Bool, created: Int64, modified: Int64) -> EntryRecord? {
        var header = EntryHeader(
            of: write.entry, labels: write.labels, companion: write.companion, key: write.key, created: created,
            modified: modified)
        do {
            if write.isKeptInRow {
                if hadFile { try FileSystem.remove(directory.layout.file(of: write.key)) }
                header.record.content = write.entry.metadata
            } else {
                try directory.layout.write(
                    [header.bytes, write.entry.metadata], body: write.entry.content, for: write.key)
            }
            return header.record
        } catch {
            directory.layout.removeEmptyFolder(ofSource: write.key.source)
            if directory.isLackOfSpace(error) {
                directory.lackOfSpace = error
            } else {
                outages.begin(.writing, ["error": "\(error)"])
            }
            return nil
        }
    }

    // MARK: Queries that must see all changes queued before

    /// Looks again for an entry whose file and row disagreed, and removes and counts it if it is corrupt.
    func verify(_ key: EntryKey) -> StoredEntry? {
        guard directory.usable() != nil else { return nil }
        switch reader.look(for: [key])[0] {
        case .hit(let entry): return entry
        case .miss: break
        case .indexFailure(let open, let error): directory.report(error, .reading, in: open)
        case .mismatch where remover.remove(.entry(key)) != nil:
            environment.logger.warning("disk cache: removed a corrupt entry", metadata: ["entry": "\(key.entry)"])
            state.count { $0.corrupt += 1 }
        case .mismatch: break
        }
        return nil
    }

    /// The sources with a matching label; nil if the index can't answer, for instance because it is corrupt. The index
    /// that replaces it can.
    func sources(matching filter: LabelFilter) -> [StoreKey]? {
        directory.attempt(retriesCorruption: false) { open throws(StorageError) in
            try open.index.sources(matching: filter)
        }
    }

    /// The totals of each of these sources; sources without entries are left out.
    func totals(ofSources sources: [StoreKey]) -> [StoreKey: StoreTotals] {
        directory.attempt { open throws(StorageError) in try open.index.totals(ofSources: sources) } ?? [:]
    }

    /// The first entries of a source in the order of their keys, without entries that are being removed.
    func summaries(ofSource source: StoreKey, limit: Int) -> [EntrySummary] {
        let summaries = directory.attempt { open throws(StorageError) in
            try open.index.summaries(ofSource: source, limit: limit)
        }
        return (summaries ?? []).filter { !state.isRemoving($0.key) }
    }

    // MARK: Maintenance, in slices, so that reads and writes don't wait for it

    /// Runs a slice of maintenance: of eviction, else of filling the filter of keys, else of repair, else of deleting
    /// folders that were set aside.
    /// - Returns: whether there is more.
    func runMaintenance() -> Bool {
        guard let open = directory.usable() else {
            repair.runWaiters()
            return false
        }
        if open.index !== maintainedIndex { beginMaintenance(of: open) }
        if evictor.isEvicting {
            evictor.runSlice()
        } else if open.index.keys.isFilling {
            fillKeyFilter(of: open)
        } else if repair.isRepairing {
            repair.runSlice(in: open)
            evictor.check()
        } else {
            remover.runSlice()
        }
        // Also if the directory was opened again and needs no repair.
        if !repair.isRepairing { repair.runWaiters() }
        return directory.isIndexCorrupt || evictor.isEvicting || open.index.keys.isFilling || repair.isRepairing
            || remover.hasFoldersSetAside
    }

    private func fillKeyFilter(of open: OpenDirectory) {
        do {
            try open.index.fillKeyFilter(entries: state.totals.entries)
        } catch {
            open.index.keys.stopFilling()
            directory.report(error, .reading, in: open)
        }
    }

    private func beginMaintenance(of open: OpenDirectory) {
        maintainedIndex = open.index
        repair.begin(open)
        evictor.begin()
        remover.begin()
    }

    // MARK: Closing

    /// Completes pending changes and ends all use of the index: operations find nothing and do nothing from here on.
    /// - Returns: whether the store was open.
    func beginClosing() -> Bool {
        evictor.writeLastUses()
        _ = remover.retryPending()
        let wasOpen = !directory.isClosed
        directory.beginClosing()
        repair.runWaiters()
        return wasOpen
    }
}
