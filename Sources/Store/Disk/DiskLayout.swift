import DarkroomMachine
import Foundation
import NIOCore

/// The layout of a cache directory. The store never touches anything outside of these names.
///
/// ```
/// lock                                  locked while a store has the directory open
/// probe                                 written and removed to learn whether the volume is full
/// index.sqlite (-wal, -shm)             the index
/// index.sqlite.damaged                  the last index that was replaced because it was unusable
/// tmp/*.removed                         folders of entries that were set aside to be deleted
/// entries/abc/<source><entry>           one file per entry; abc are the first digits of the source's key
/// entries/abc/<source><entry>.partial   files being written in place of others
/// ```
///
/// All entries of a source lie in one folder, together with entries of other sources. A separate folder for each source
/// would double the work of the file system for an image.
struct DiskLayout: Sendable {
    /// The number of folders of entries. With a million entries, each has about 250.
    static let folderCount = 1 << 12
    private static let folderDigits = 3
    private static let nameDigits = 4 * StoreKey.byteCount

    let path: String
    let entries: String

    init(_ path: String) {
        var path = path
        while path.count > 1 && path.hasSuffix("/") { path.removeLast() }
        self.path = path
        entries = "\(path)/entries"
    }

    var lock: String { "\(path)/lock" }
    var index: String { "\(path)/index.sqlite" }
    /// The index and the files that SQLite keeps next to it.
    var indexFiles: [String] { [index] + ["-wal", "-shm", "-journal"].map { index + $0 } }
    private var probe: String { "\(path)/probe" }
    /// The bytes that the index's log takes on the volume.
    var logBytes: Int {
        if case .file(let bytes) = FileSystem.kind(of: index + "-wal") { wholeBlocks(bytes) } else { 0 }
    }
    var unusableIndex: String { "\(path)/index.sqlite.damaged" }
    var temporary: String { "\(path)/tmp" }

    /// A folder of entries, by the first twelve bits of its sources' keys.
    func folder(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "\(entries)/\(String(repeating: "0", count: Self.folderDigits - digits.count))\(digits)"
    }

    /// The number of the folder with this name, or nil if the name is not part of the layout.
    func numberOfFolder(named name: String) -> Int? {
        // The initializer of integers accepts a sign.
        guard name.utf8.count == Self.folderDigits, let number = Int(name, radix: 16),
            0..<Self.folderCount ~= number, folder(number).hasSuffix("/\(name)")
        else { return nil }
        return number
    }

    /// The file of an entry. One allocation, since each lookup needs it.
    func file(of key: EntryKey) -> String {
        let count = entries.utf8.count + Self.folderDigits + 2 + Self.nameDigits
        return String(unsafeUninitializedCapacity: count) { buffer in
            let end = buffer.initialize(from: entries.utf8).index
            let name = end + Self.folderDigits + 2
            key.source.writeHex(into: buffer, at: name)
            key.entry.writeHex(into: buffer, at: name + 2 * StoreKey.byteCount)
            for digit in 0..<Self.folderDigits { buffer[end + 1 + digit] = buffer[name + digit] }
            (buffer[end], buffer[name - 1]) = (UInt8(ascii: "/"), UInt8(ascii: "/"))
            return count
        }
    }

    /// The key of the entry that a file in this folder belongs to; nil if no entry in the folder has this file name.
    func key(ofFileNamed name: String, inFolder number: Int) -> EntryKey? {
        guard name.utf8.count == Self.nameDigits, let source = StoreKey(hex: name.prefix(2 * StoreKey.byteCount)),
            let entry = StoreKey(hex: name.dropFirst(2 * StoreKey.byteCount)), source.leadingBits == number
        else { return nil }
        return EntryKey(source: source, entry: entry)
    }

    /// The files of these sources, whether or not the index has them. Lists each folder once.
    func files(ofSources sources: some Sequence<StoreKey>) -> [String] {
        var found: [String] = []
        for (number, sources) in Dictionary(grouping: sources, by: \.leadingBits) {
            let names = FileSystem.names(in: folder(number)) ?? []
            let sources = Set(sources.map(\.hex))
            found += names.filter { sources.contains(String($0.prefix(2 * StoreKey.byteCount))) }.map {
                "\(folder(number))/\($0)"
            }
        }
        return found
    }

    /// An unused path for a folder of entries that is set aside to be deleted.
    func nameForFolderSetAside() -> String {
        var number = 0
        func name() -> String { "\(temporary)/\(number).removed" }
        while FileSystem.kind(of: name()) != .nothing { number += 1 }
        return name()
    }

    /// The folders of entries that were set aside to be deleted.
    var foldersSetAside: [String] {
        (FileSystem.names(in: temporary) ?? []).filter { $0.hasSuffix(".removed") }.map { "\(temporary)/\($0)" }
    }

    /// Renames an unusable index, in place of the index that was renamed before.
    func setIndexAside() throws(StorageError) {
        try FileSystem.remove(unusableIndex)
        do {
            try FileSystem.move(index, to: unusableIndex)
        } catch  where error.code != ENOENT {
            throw error
        } catch {}
        for file in indexFiles.dropFirst() { try FileSystem.remove(file) }
    }
}

// Full volumes.
extension DiskLayout {
    /// Whether the volume takes no further file. SQLite does not always say why it could not write.
    var isVolumeFull: Bool {
        do throws(StorageError) {
            try FileSystem.remove(probe)
            try FileSystem.create(
                probe, of: [ByteBuffer(repeating: 1, count: DiskIndex.blockSize)], body: SharedBytes(ByteBuffer()))
            try FileSystem.remove(probe)
            return false
        } catch {
            return error.isLackOfSpace
        }
    }

    /// Deletes some files, in case the index does not open for lack of space: files of no use first, then entries in
    /// the order of their keys, which are hashes. Which entries were used last is known only to the index.
    /// - Returns: whether there were any.
    func removeSomeFiles(limit: Int) -> Bool {
        var left = limit
        let folders = (FileSystem.names(in: entries) ?? []).filter { numberOfFolder(named: $0) != nil }.sorted()
        for path in [unusableIndex] + foldersSetAside + folders.map({ "\(entries)/\($0)" })
        where left > 0 && FileSystem.kind(of: path) != .nothing {
            _ = try? FileSystem.removeSome(path, limit: &left)
        }
        return left < limit
    }
}

// Writing.
extension DiskLayout {
    /// Creates the folders, and removes files in their place.
    func makeFolders() throws(StorageError) {
        try FileSystem.makeFolders(path)
        try makeFolder(temporary)
        try makeFolder(entries)
    }

    /// Writes the file of an entry under its own name. If the file exists, readers may have it open: the entry is then
    /// written under a temporary name and renamed. Creates the missing folder.
    ///
    /// A file that a crash leaves unfinished is shorter than its header says: it is neither served nor adopted.
    func write(_ start: [ByteBuffer], body: SharedBytes, for key: EntryKey) throws(StorageError) {
        let file = file(of: key)
        do {
            try FileSystem.create(file, of: start, body: body)
        } catch  where error.code == ENOENT || error.code == ENOTDIR {
            // Usually the first entry in its folder; or a foreign file in the folder's place.
            try makeFolder(ofSource: key.source)
            try FileSystem.create(file, of: start, body: body)
        } catch  where error.code == EEXIST {
            try replace(file, with: start, body)
        }
    }

    private func replace(_ file: String, with start: [ByteBuffer], _ body: SharedBytes) throws(StorageError) {
        // In the same folder, since file systems place files by the folder in which they are created, and are slow to
        // find space in the same place over and over.
        let temporary = "\(file).partial"
        // A failed write may have left one.
        try FileSystem.remove(temporary)
        try FileSystem.create(temporary, of: start, body: body)
        do {
            try FileSystem.move(temporary, to: file)
        } catch {
            // A folder has this name.
            try FileSystem.remove(file)
            try FileSystem.move(temporary, to: file)
        }
    }

    /// Creates a source's folder, and removes files in the place of it and of its parents.
    private func makeFolder(ofSource source: StoreKey) throws(StorageError) {
        let folder = folder(source.leadingBits)
        if (try? FileSystem.makeFolders(folder)) != nil, FileSystem.kind(of: folder) == .folder { return }
        try makeFolders()
        try makeFolder(folder)
    }

    private func makeFolder(_ folder: String) throws(StorageError) {
        if FileSystem.kind(of: folder) == .folder { return }
        try FileSystem.remove(folder)
        try FileSystem.makeFolders(folder)
    }

    func removeEmptyFolder(ofSource source: StoreKey) {
        rmdir(folder(source.leadingBits))
    }

    /// Removes the folders of these sources that are empty. Tries each folder once, however many of the sources it has.
    func removeEmptyFolders(ofSources sources: some Sequence<StoreKey>) {
        for number in Set(sources.map(\.leadingBits)) { rmdir(folder(number)) }
    }
}
