import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Where things lie in a cache directory. Nothing outside these names is ever touched, whatever else is there.
///
/// ```
/// lock                                 held while a store has the directory open
/// index.sqlite (-wal, -shm)            the index
/// index.sqlite.damaged                 the last index that had to be replaced
/// tmp/                                 folders being removed
/// entries/ab/cd/<source>/<entry>       one file per entry; abcd are the first digits of the source's key
/// entries/ab/cd/<source>/*.partial     files being written
/// ```
struct CacheDirectory: Sendable {
    let path: String

    init(_ path: String) {
        var path = path
        while path.count > 1 && path.hasSuffix("/") { path.removeLast() }
        self.path = path
    }

    var lock: String { "\(path)/lock" }
    var index: String { "\(path)/index.sqlite" }
    var damagedIndex: String { "\(path)/index.sqlite.damaged" }
    var temporary: String { "\(path)/tmp" }
    var entries: String { "\(path)/entries" }

    /// The folder of all entries of a source.
    func folder(ofSource source: StoreKey) -> String {
        let hex = source.hex
        return "\(entries)/\(hex.prefix(2))/\(hex.dropFirst(2).prefix(2))/\(hex)"
    }

    /// The file of an entry.
    func file(of key: EntryKey) -> String {
        "\(folder(ofSource: key.source))/\(key.entry.hex)"
    }

    /// The file that an entry is written to before it gets its name. It lies where it will stay, since file systems
    /// keep what begins in one folder together, and are slow to find room in the same place over and over.
    func temporaryFile(of key: EntryKey) -> String {
        "\(file(of: key)).partial"
    }

    /// A name for a folder of entries on its way out; never one that is in use.
    func nameOfRemoved() -> String {
        var number = 0
        func name() -> String { "\(temporary)/\(number).removed" }
        while Files.kind(of: name()) != .nothing { number += 1 }
        return name()
    }

    /// The folders of entries on their way out.
    var removed: [String] {
        (Files.names(in: temporary) ?? []).filter { $0.hasSuffix(".removed") }.map { "\(temporary)/\($0)" }
    }

    /// Creates the folders; a file in the place of one is removed first.
    func makeFolders() throws(StorageFault) {
        try Files.makeFolders(path)
        try makeFolder(temporary)
        try makeFolder(entries)
    }

    /// Writes the file of an entry: under a temporary name, which it then changes for its own. Creates what is missing.
    func write(_ buffers: [ByteBuffer], for key: EntryKey) throws(StorageFault) {
        let temporary = temporaryFile(of: key)
        do {
            try Files.write(buffers, to: temporary)
        } catch  where error.code == ENOENT {
            // As a rule the source's first entry.
            try makeFolder(ofSource: key.source)
            try Files.write(buffers, to: temporary)
        } catch  where error.code == ENOTDIR || error.code == EEXIST {
            // Something that isn't ours, or what was left by a write that failed.
            try makeFolder(ofSource: key.source)
            try Files.remove(temporary)
            try Files.write(buffers, to: temporary)
        }
        do {
            try Files.rename(temporary, to: file(of: key))
        } catch {
            // A folder stands in the way.
            try Files.remove(file(of: key))
            try Files.rename(temporary, to: file(of: key))
        }
    }

    /// Creates a source's folder; a file in the place of it, or of one above it, is removed first.
    private func makeFolder(ofSource source: StoreKey) throws(StorageFault) {
        do {
            try Files.makeFolders(folder(ofSource: source))
        } catch {
            try makeFolders()
        }
        for folder in foldersUpwards(fromSource: source).reversed() { try makeFolder(folder) }
    }

    private func makeFolder(_ folder: String) throws(StorageFault) {
        if Files.kind(of: folder) == .folder { return }
        try Files.remove(folder)
        try Files.makeFolders(folder)
    }

    /// Removes a source's folder, and the two above it, if they are empty.
    func removeEmptyFolders(ofSource source: StoreKey) {
        for folder in foldersUpwards(fromSource: source) {
            guard Files.removeIfEmpty(folder) else { return }
        }
    }

    /// The source's folder and the two above it.
    private func foldersUpwards(fromSource source: StoreKey) -> [String] {
        let folder = folder(ofSource: source)
        let middle = folder.dropLast(1 + 2 * StoreKey.byteCount)
        return [folder, String(middle), String(middle.dropLast(3))]
    }

    /// Moves an index that can't be used out of the way, in place of one that was moved before.
    func setIndexAside() throws(StorageFault) {
        try Files.remove(damagedIndex)
        do {
            try Files.rename(index, to: damagedIndex)
        } catch  where error.code != ENOENT {
            throw error
        } catch {}
        try Files.remove(index + "-wal")
        try Files.remove(index + "-shm")
    }
}
