/// The lookups of a disk store: at once on the caller's thread if the entries are in memory, otherwise on a reader
/// thread. Each lookup updates counts and uses, and starts the repairs that its result requires.
final class DiskLookups: Sendable {
    private let reader: EntryReader
    private let writer: WriterThread
    private var threads: ReaderThreads { reader.threads }
    private var state: DiskState { reader.state }

    init(_ reader: EntryReader, writer: WriterThread) {
        self.reader = reader
        self.writer = writer
    }

    /// Delivers the entries of one source up to the first that is missing: on this thread before the return if no
    /// device has to be waited for, else on a thread of the store.
    ///
    /// - Parameter defers: whether large bodies are left in their files.
    func look(
        for keys: [EntryKey], defers: Bool, deliver: @escaping @Sendable (_ found: [StoredEntry]) -> Void
    ) {
        if let found = findAtOnce(keys, defers: defers) {
            count(found, of: keys)
            return deliver(found)
        }
        threads.append(
            ReadJob(at: .now) { [reader] in
                reader.look(for: keys, defers: defers)
            } answer: { [self] found in
                complete(report(found ?? []), keys, nil, deliver)
            })
    }

    /// All of these entries, if no device has to be waited for. Otherwise the call does not count as a lookup.
    func entriesAtOnce(for keys: [EntryKey]) -> [StoredEntry]? {
        guard let found = findAtOnce(keys, readsIndex: true), found.count == keys.count else { return nil }
        count(found, of: keys)
        return found
    }

    /// Whether the entry is absent, as far as that is known at once. Does not count as a lookup.
    func isAbsent(_ key: EntryKey) -> Bool {
        let sight = state.sights(of: [key])[0]
        switch reader.lookAtHot(key, sight, mayBlock: false) {
        case .miss: return true
        // The filter of keys still has entries that were removed; the index does not.
        case nil where sight.hot == nil: return sight.directory?.index.rowsAtOnce(for: [key])?.isEmpty ?? false
        default: return false
        }
    }

    /// The entries up to the first that is missing; nil if a device has to be waited for.
    ///
    /// - Parameter readsIndex: whether to find entries that were not read before too.
    private func findAtOnce(_ keys: [EntryKey], defers: Bool = false, readsIndex: Bool = false) -> [StoredEntry]? {
        let sights = state.sights(of: keys)
        var entries: [StoredEntry] = []
        entries.reserveCapacity(keys.count)
        for (number, key) in keys.enumerated() {
            switch reader.lookAtHot(key, sights[number], mayBlock: false, defers: defers) {
            case .hit(let entry): entries.append(entry)
            case .miss: return entries
            case .mismatch, .indexFailure: return nil
            case nil:
                // The reader threads find out why the file of an entry that was read before has changed.
                guard readsIndex, sights[number].hot == nil else { return nil }
                let (keys, sights) = (Array(keys[number...]), Array(sights[number...]))
                return reader.lookIntoIndexAtOnce(for: keys, sights).map { entries + $0 }
            }
        }
        return entries
    }

    /// Looks for an entry; counts neither as a lookup nor as a use, and leaves a corrupt entry in place.
    func peek(_ key: EntryKey) async -> StoredEntry? {
        await withCheckedContinuation { continuation in
            threads.append(
                ReadJob(at: .now) { [reader] in
                    reader.look(for: [key])
                } answer: { [self] found in
                    var entry: StoredEntry?
                    if case .hit(let intact) = report(found ?? []).first { entry = intact }
                    continuation.resume(returning: entry)
                })
        }
    }

    /// Ends the lookups: later lookups find nothing. Waits for lookups in progress.
    func end() async { await threads.end() }

    /// Collects the entries up to the first that is missing. The writer checks entries that do not match their rows
    /// again, and removes corrupt entries.
    private func complete(
        _ found: [EntryReader.Lookup], _ keys: [EntryKey], _ writer: DiskWriter?,
        _ deliver: @escaping @Sendable (_ found: [StoredEntry]) -> Void
    ) {
        var entries: [StoredEntry] = []
        for (key, lookup) in zip(keys, found) {
            var intact: StoredEntry?
            if case .hit(let entry) = lookup { intact = entry }
            if case .mismatch = lookup {
                guard let writer else {
                    return self.writer.enqueue { [self] in complete(found, keys, $0, deliver) }
                }
                intact = writer.verify(key)
            }
            guard let intact else { break }
            entries.append(intact)
        }
        count(entries, of: keys)
        deliver(entries)
    }

    /// Reports failures of the index to the writer, which then replaces it. Before the job ends, so that it comes
    /// before the end of `DiskStore.close()`.
    private func report(_ found: [EntryReader.Lookup]) -> [EntryReader.Lookup] {
        for case .indexFailure(let directory, let error) in found.prefix(1) {
            writer.enqueue { $0.directory.report(error, .reading, in: directory) }
        }
        return found
    }

    /// Counts the found entries, which come first in `keys`, and the missing entry.
    private func count(_ found: [StoredEntry], of keys: [EntryKey]) {
        let time = state.directory?.index.clock.microseconds
        if state.recordLookup(
            hits: found.count, used: used(found, of: keys), isOneMissing: found.count < keys.count, at: time)
        {
            writer.enqueue { $0.evictor.writeLastUses() }
        }
    }

    /// The entries whose uses are recorded: an entry without a body counts as used with the others of its source,
    /// unless each row needs its own time.
    private func used(_ found: [StoredEntry], of keys: [EntryKey]) -> [EntryKey] {
        let all = Array(keys.prefix(found.count))
        guard all.count > 1, reader.environment.configuration.maxAge == nil else { return all }
        let withBody = zip(all, found).filter { $1.hasBody }.map(\.0)
        return withBody.isEmpty ? all : withBody
    }
}
