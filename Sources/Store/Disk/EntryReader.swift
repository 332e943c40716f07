import Foundation
import Logging
import NIOCore

/// Looks entries up, on any thread: the row in the index, and then the file, in which every byte must match the row.
/// For an entry that was verified before, the row is taken from memory and only the file's version is compared.
struct EntryReader: Sendable {
    enum Lookup {
        case hit(StoredEntry)
        case miss
        /// File and row disagree: the entry is corrupt, or it was replaced or removed during the lookup.
        case mismatch
        /// The index is corrupt or gone; the writer has to open another.
        case indexFailure(OpenDirectory, StorageError)
    }

    /// The largest body that is read as a whole for a response: copying it takes about 30 microseconds. Larger bodies
    /// are deferred, so that slow clients do not hold them in memory.
    static let largestQuickBody = 256 << 10
    /// The largest file that is hashed on a thread that must not wait: that takes up to 30 microseconds.
    static let largestHashedAtOnce = 64 << 10
    /// A file that was changed less than this time before it was verified may have changed since without a difference
    /// in its version: file systems stamp changes with the time of the last timer tick.
    private static let clockResolution = 100_000_000

    let layout: DiskLayout
    let environment: DiskEnvironment
    /// Read the pieces of deferred bodies.
    let threads: ReaderThreads
    var state: DiskState { environment.state }

    /// Looks for entries of one source. Blocks; changes nothing but the log of outages.
    ///
    /// - Parameter defers: whether large bodies are left in their files; see ``StoredEntry/deferredBody``.
    func look(for keys: [EntryKey], defers: Bool = false) -> [Lookup] {
        let sights = state.sights(of: keys)
        var found = zip(keys, sights).map { lookAtHot($0, $1, mayBlock: true, defers: defers) }
        let unknown = keys.indices.filter { found[$0] == nil }
        if !unknown.isEmpty {
            let rest = lookIntoIndex(for: unknown.map { keys[$0] }, unknown.map { sights[$0] }, defers: defers)
            for (index, lookup) in zip(unknown, rest) { found[index] = lookup }
        }
        return found.map { $0 ?? .miss }
    }

    /// The result for an entry that was verified before; nil if it was not, or if its file has changed.
    ///
    /// - Parameters:
    ///   - sight: what is known of the entry.
    ///   - mayBlock: whether to wait for a device; otherwise the result is nil too if memory does not have it.
    func lookAtHot(_ key: EntryKey, _ sight: DiskState.Sight, mayBlock: Bool, defers: Bool = false) -> Lookup? {
        guard let directory = sight.directory else { return .miss }
        guard let (hot, openFile) = sight.hot else { return directory.index.keys.mayContain(key) ? nil : .miss }
        if isExpired(hot.record, lastUse: hot.lastUse, at: directory.index.clock.microseconds) { return .miss }
        guard let version = hot.version else { return .hit(hot.entry) }
        let isKept = defers || version.byteCount - hot.bodyOffset <= Self.largestQuickBody
        guard let file = openFile ?? reopened(hot, version, isKept: isKept, mayBlock: mayBlock),
            let entry = entry(hot, version, in: file, mayBlock: mayBlock, defers: defers),
            // Compared after the bytes were read, so that a change before that shows.
            FileVersion.current(at: layout.file(of: key)) == version
        else { return nil }
        return .hit(entry)
    }

    private func reopened(_ hot: HotEntry, _ version: FileVersion, isKept: Bool, mayBlock: Bool) -> OpenFile? {
        let path = layout.file(of: hot.record.key)
        guard let file = mayBlock ? try? OpenFile(path) : OpenFile(cached: path), file.version == version
        else { return nil }
        if isKept { state.keepOpen(file, for: hot.record.key) }
        return file
    }

    /// The hot entry with its body; nil if the body cannot be read, or would have to be waited for.
    private func entry(
        _ hot: HotEntry, _ version: FileVersion, in file: OpenFile, mayBlock: Bool, defers: Bool
    ) -> StoredEntry? {
        let byteCount = version.byteCount - hot.bodyOffset
        if byteCount > Self.largestQuickBody {
            if defers { return hot.entry(deferring: storedBody(in: file, from: hot.bodyOffset, byteCount: byteCount)) }
            guard mayBlock else { return nil }
        }
        var body = file.readFromMemory(from: hot.bodyOffset, byteCount: byteCount)
        if body == nil, mayBlock { body = try? file.read(from: hot.bodyOffset, byteCount: byteCount) }
        return body.map(hot.entry(body:))
    }

    private func storedBody(in file: OpenFile, from offset: Int, byteCount: Int) -> StoredBody {
        StoredBody(file, from: offset, byteCount: byteCount, threads: threads)
    }

    /// Entries that the index has, if the system has their rows and files in memory and the files are small. Never
    /// waits for a device.
    ///
    /// - Parameter sights: see `lookIntoIndex`.
    /// - Returns: nil if an entry is missing, corrupt or has to be waited for.
    func lookIntoIndexAtOnce(for keys: [EntryKey], _ sights: [DiskState.Sight]) -> [StoredEntry]? {
        guard let sight = sights.first, let directory = sight.directory,
            sights.allSatisfy({ $0.directory === directory }), let rows = directory.index.rowsAtOnce(for: keys),
            rows.count == keys.count
        else { return nil }
        var verified: [VerifiedEntry] = []
        var entries: [StoredEntry] = []
        verified.reserveCapacity(rows.count)
        entries.reserveCapacity(rows.count)
        for row in rows {
            guard row.record.fileBytes <= Self.largestHashedAtOnce,
                case .hit(let entry) = read(row, in: directory, &verified, defers: false, mayBlock: false)
            else { return nil }
            entries.append(entry)
        }
        if !verified.isEmpty { state.insertHot(verified, foundIn: sight.generation) }
        return entries
    }

    /// - Parameter sights: what was known of the entries before. A change of the index since then keeps them from
    ///   becoming hot.
    private func lookIntoIndex(for keys: [EntryKey], _ sights: [DiskState.Sight], defers: Bool) -> [Lookup] {
        guard let sight = sights.first(where: { $0.directory != nil }), let directory = sight.directory else {
            return keys.map { _ in .miss }
        }
        do {
            let rows = try directory.index.rows(for: keys)
            environment.outages.end(.reading)
            var verified: [VerifiedEntry] = []
            let found: [Lookup] = zip(sights, rows).map { sight, row in
                sight.directory === directory ? read(row, in: directory, &verified, defers: defers) : .miss
            }
            if !verified.isEmpty { state.insertHot(verified, foundIn: sight.generation) }
            return found
        } catch {
            // The writer has abandoned the index in the meantime.
            guard state.directory?.index === directory.index else { return keys.map { _ in .miss } }
            if error.isCorruption || !directory.isInPlace {
                return keys.map { _ in .indexFailure(directory, error) }
            }
            environment.outages.begin(.reading, ["error": "\(error)"])
            return keys.map { _ in .miss }
        }
    }

    /// Reads and verifies the entry of a row, and adds it to the entries that may become hot.
    ///
    /// - Parameter mayBlock: whether to wait for a device; otherwise a file that the system does not have in memory is
    ///   a mismatch.
    private func read(
        _ row: IndexRow, in directory: OpenDirectory, _ verified: inout [VerifiedEntry], defers: Bool,
        mayBlock: Bool = true
    ) -> Lookup {
        let record = row.record
        if isExpired(record, lastUse: row.lastUse, at: directory.index.clock.microseconds) { return .miss }
        if record.content != nil {
            guard let entry = record.entryInRow else { return .mismatch }
            verified.append((HotEntry(record, entry, nil, bodyOffset: 0, lastUse: row.lastUse), nil))
            return .hit(entry)
        }
        let path = layout.file(of: record.key)
        let file: OpenFile
        do throws(StorageError) {
            guard let opened = mayBlock ? try OpenFile(path) : OpenFile(cached: path) else { return .mismatch }
            file = opened
        } catch {
            // Without a free descriptor the entry cannot be read, but it is not corrupt.
            return error.code == EMFILE || error.code == ENFILE ? .miss : .mismatch
        }
        guard file.version.byteCount == record.fileBytes,
            let (entry, bodyOffset) = self.verified(record, file, defers, mayBlock: mayBlock)
        else { return .mismatch }
        if isSettled(file.version) {
            var rest = entry
            (rest.body, rest.deferredBody) = (ByteBuffer(), nil)
            // A copy, since a slice would keep the whole file in memory.
            rest.metadata = ByteBuffer(bytes: entry.metadata.readableBytesView)
            let hot = HotEntry(record, rest, file.version, bodyOffset: bodyOffset, lastUse: row.lastUse)
            let isKept = defers || record.fileBytes - bodyOffset <= Self.largestQuickBody
            verified.append((hot, isKept ? file : nil))
        }
        return .hit(entry)
    }

    /// The entry in a file, if every byte matches its row, and the position of its body.
    private func verified(
        _ record: EntryRecord, _ file: OpenFile, _ defers: Bool, mayBlock: Bool
    ) -> (StoredEntry, Int)? {
        if defers, record.fileBytes > Self.largestQuickBody {
            guard let (found, bodyOffset) = record.entry(verifyingInPieces: file) else { return nil }
            let byteCount = record.fileBytes - bodyOffset
            if byteCount > Self.largestQuickBody {
                var entry = found
                entry.deferredBody = storedBody(in: file, from: bodyOffset, byteCount: byteCount)
                return (entry, bodyOffset)
            }
        }
        var bytes = mayBlock ? nil : file.readFromMemory(from: 0, byteCount: record.fileBytes)
        if mayBlock { bytes = try? file.read(from: 0, byteCount: record.fileBytes) }
        guard let bytes, let entry = record.entry(verifying: bytes) else { return nil }
        return (entry, record.fileBytes - entry.body.readableBytes)
    }

    /// Whether a change of the file from now on changes its version too.
    private func isSettled(_ version: FileVersion) -> Bool {
        let nanoseconds = Int64(exactly: (environment.now().timeIntervalSince1970 * 1_000_000_000).rounded()) ?? 0
        return version.changed <= nanoseconds - Int64(Self.clockResolution)
    }

    /// Whether the entry has reached its maximum age. The last use may be later than the index has it.
    private func isExpired(_ record: EntryRecord, lastUse: Int64, at now: Int64) -> Bool {
        guard let maxAge = environment.configuration.maxAge?.microseconds else { return false }
        let time = max(lastUse, state.lastUse(of: record.key) ?? lastUse)
        let (age, isOverflow) = now.subtractingReportingOverflow(time)
        return isOverflow ? time < 0 : age > maxAge
    }
}
