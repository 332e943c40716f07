import DarkroomEviction
import NIOCore

/// An entry that was read and verified since the store was opened, with all but its body.
final class HotEntry: Sendable {
    let record: EntryRecord
    /// The metadata and the labels; without the body, unless the entry has no file.
    let entry: StoredEntry
    /// The version of the file that was verified; nil for an entry in the row itself.
    let version: FileVersion?
    /// The position of the body in the file.
    let bodyOffset: Int
    /// The last use according to the index, in microseconds since 1970.
    let lastUse: Int64

    init(_ record: EntryRecord, _ entry: StoredEntry, _ version: FileVersion?, bodyOffset: Int, lastUse: Int64) {
        self.record = record
        self.entry = entry
        self.version = version
        self.bodyOffset = bodyOffset
        self.lastUse = lastUse
    }

    /// The approximate cost in memory, in bytes.
    fileprivate var costBytes: Int { 768 + entry.metadata.readableBytes + 3 * record.labels.bytes.count }

    /// The entry with its body, from this file.
    func entry(body: ByteBuffer) -> StoredEntry {
        var entry = entry
        entry.body = body
        return entry
    }

    /// The entry whose body stays in this file.
    func entry(deferring body: StoredBody) -> StoredEntry {
        var entry = entry
        entry.deferredBody = body
        return entry
    }
}

/// An entry that was verified, and its file if that is to stay open.
typealias VerifiedEntry = (entry: HotEntry, file: OpenFile?)

/// The entries that were verified, and some of their files.
///
/// A lookup finds here the same entries as in the index. It need not hash a file whose version is still the verified
/// version. Every change of the index removes the changed entries here. A reader that read the index before a change
/// must not add its result after the change, see ``generation``.
///
/// Changes return objects to free after the lock, because closing the file of a removed entry deletes its bytes.
struct HotEntries: Sendable {
    /// Enough for about 4,000 entries.
    private static let budgetBytes = 4 << 20
    /// The most files that stay open.
    private static let maximumFiles = 128

    /// Raised with every change of the index.
    private(set) var generation: UInt64 = 0
    private var entries = SieveTable<EntryKey, HotEntry>(budgetBytes: Self.budgetBytes)
    /// Of entries that came while the table was full.
    private var doorkeeper = Doorkeeper(places: 1 << 14)
    /// A file that is open keeps its path's folders in the system's memory, so that checking its version is quick.
    private var files = SieveTable<EntryKey, OpenFile>(budgetBytes: Self.maximumFiles)

    /// The entry, and its file if that is open. Counts as a use.
    mutating func entry(for key: EntryKey) -> (HotEntry, OpenFile?)? {
        entries.value(for: key).map { ($0, $0.version == nil ? nil : files.value(for: key)) }
    }

    /// Adds an entry that was found in the index in this generation. A full table takes only entries that come again
    /// soon, or take long to verify.
    mutating func insert(_ entry: HotEntry, foundIn generation: UInt64) -> [HotEntry] {
        guard generation == self.generation,
            entries.bytes + entry.costBytes <= Self.budgetBytes
                || doorkeeper.knows(entry.record.key.entry.trailingWord)
                || entry.record.fileBytes > EntryReader.largestHashedAtOnce
        else { return [] }
        return entries.insert(entry, cost: entry.costBytes, for: entry.record.key)
    }

    /// Keeps the file of an entry open.
    mutating func insert(_ file: OpenFile, for key: EntryKey) -> [OpenFile] {
        entries.peek(key)?.version == file.version ? files.insert(file, cost: 1, for: key) : [file]
    }

    /// Removes entries whose rows have changed.
    mutating func remove(_ keys: [EntryKey]) -> [OpenFile] {
        generation += 1
        return keys.compactMap { key in
            _ = entries.remove(for: key)
            return files.remove(for: key)
        }
    }

    /// Removes all entries of sources whose rows have changed.
    mutating func removeAll(ofSources sources: Set<StoreKey>) -> [OpenFile] {
        generation += 1
        _ = entries.removeAll { key, _ in sources.contains(key.source) }
        return files.removeAll { key, _ in sources.contains(key.source) }
    }

    mutating func removeAll() -> some Sendable {
        generation += 1
        return (entries.removeAll(), files.removeAll())
    }
}
