import Logging

/// Looks entries up, on any thread: the row in the index, and then the file, whose every byte must match the row.
struct EntryReader: Sendable {
    /// The result of a lookup.
    enum Lookup {
        case hit(StoredEntry)
        case miss
        /// File and row disagree: the entry is corrupt, or it was replaced or removed during the lookup.
        case mismatch
        /// The index is corrupt or gone; the writer has to open another.
        case indexFailure(OpenDirectory, StorageError)
    }

    let layout: DiskLayout
    let maxAge: Duration?
    let expiry: DiskStore.Expiry
    let state: DiskState
    let outages: OutageLog

    /// Looks for an entry. Blocks; changes nothing but the log of outages.
    func look(for key: EntryKey) -> Lookup {
        guard let directory = state.directory(for: key) else { return .miss }
        do {
            let stored = try directory.index.record(for: key)
            outages.end(.reading)
            guard let (record, lastUse) = stored else { return .miss }
            if isExpired(record, lastUse: lastUse, at: directory.index.clock.microseconds) { return .miss }
            guard
                let file = try? FileSystem.read(layout.file(of: key), byteCount: record.fileBytes),
                let entry = record.entry(verifying: file)
            else { return .mismatch }
            return .hit(entry)
        } catch {
            // The writer has abandoned the index in the meantime.
            guard state.directory?.index === directory.index else { return .miss }
            if error.isCorruption || !directory.isInPlace { return .indexFailure(directory, error) }
            outages.begin(.reading, ["error": "\(error)"])
            return .miss
        }
    }

    /// Whether the entry has reached its maximum age. The last use may be later than the index has it.
    private func isExpired(_ record: EntryRecord, lastUse: Int64, at now: Int64) -> Bool {
        guard let maxAge = maxAge?.microseconds else { return false }
        let time =
            switch expiry {
            case .access: max(lastUse, state.lastUse(of: record.key) ?? lastUse)
            case .modification: record.modified
            case .creation: record.created
            }
        let (age, isOverflow) = now.subtractingReportingOverflow(time)
        return isOverflow ? time < 0 : age > maxAge
    }
}
