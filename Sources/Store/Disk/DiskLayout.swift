import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The layout of a cache directory. The store never touches anything outside of these names.
///
/// ```
/// lock                                 locked while a store has the directory open
/// index.sqlite (-wal, -shm)            the index
/// index.sqlite.damaged                 the last index that was replaced because it was unusable
/// tmp/*.removed                        folders of entries that were set aside to be deleted
/// entries/ab/cd/<source>/<entry>       one file per entry; abcd are the first digits of the source's key
/// entries/ab/cd/<source>/*.partial     files being written
/// ```
struct DiskLayout: Sendable {
    let path: String

    init(_ path: String) {
        var path = path
        while path.count > 1 && path.hasSuffix("/") { path.removeLast() }
        self.path = path
    }

    var lock: String { "\(path)/lock" }
    var index: String { "\(path)/index.sqlite" }
    var unusableIndex: String { "\(path)/index.sqlite.damaged" }
    var temporary: String { "\(path)/tmp" }
    var entries: String { "\(path)/entries" }

    /// The folder of a source's entries.
    func folder(ofSource source: StoreKey) -> String {
        let hex = source.hex
        return "\(entries)/\(hex.prefix(2))/\(hex.dropFirst(2).prefix(2))/\(hex)"
    }

    /// The file of an entry.
    func file(of key: EntryKey) -> String {
        "\(folder(ofSource: key.source))/\(key.entry.hex)"
    }

    /// The file that an entry is written to before it is renamed. In the same folder, since file systems place files by
    /// the folder in which they are created, and are slow to find space in the same place over and over.
    func temporaryFile(of key: EntryKey) -> String {
        "\(file(of: key)).partial"
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

    /// Creates the folders, and removes files in their place.
    func makeFolders() throws(StorageError) {
        try FileSystem.makeFolders(path)
        try makeFolder(temporary)
        try makeFolder(entries)
    }

    /// Writes the file of an entry under a temporary name, and renames it. Creates missing folders.
    func write(_ buffers: [ByteBuffer], for key: EntryKey) throws(StorageError) {
        let temporary = temporaryFile(of: key)
        do {
            try FileSystem.write(buffers, to: temporary)
        } catch  where error.code == ENOENT {
            // Usually the first entry of its source.
            try makeFolder(ofSource: key.source)
            try FileSystem.write(buffers, to: temporary)
        } catch  where error.code == ENOTDIR || error.code == EEXIST {
            // A foreign file, or the rest of a failed write.
            try makeFolder(ofSource: key.source)
            try FileSystem.remove(temporary)
            try FileSystem.write(buffers, to: temporary)
        }
        do {
            try FileSystem.rename(temporary, to: file(of: key))
        } catch {
            // There is a folder of this name.
            try FileSystem.remove(file(of: key))
            try FileSystem.rename(temporary, to: file(of: key))
        }
    }

    /// Creates a source's folder, and removes files in the place of it and of its parents.
    private func makeFolder(ofSource source: StoreKey) throws(StorageError) {
        do {
            try FileSystem.makeFolders(folder(ofSource: source))
        } catch {
            try makeFolders()
        }
        for folder in foldersUpwards(fromSource: source).reversed() { try makeFolder(folder) }
    }

    private func makeFolder(_ folder: String) throws(StorageError) {
        if FileSystem.kind(of: folder) == .folder { return }
        try FileSystem.remove(folder)
        try FileSystem.makeFolders(folder)
    }

    /// Removes a source's folder and its two parents if they are empty.
    func removeEmptyFolders(ofSource source: StoreKey) {
        for folder in foldersUpwards(fromSource: source) {
            guard FileSystem.removeIfEmpty(folder) else { return }
        }
    }

    /// The source's folder and its two parents.
    private func foldersUpwards(fromSource source: StoreKey) -> [String] {
        let folder = folder(ofSource: source)
        let middle = folder.dropLast(1 + 2 * StoreKey.byteCount)
        return [folder, String(middle), String(middle.dropLast(3))]
    }

    /// Renames an unusable index, in place of the one that was renamed before.
    func setIndexAside() throws(StorageError) {
        try FileSystem.remove(unusableIndex)
        do {
            try FileSystem.rename(index, to: unusableIndex)
        } catch  where error.code != ENOENT {
            throw error
        } catch {}
        try FileSystem.remove(index + "-wal")
        try FileSystem.remove(index + "-shm")
    }
}
