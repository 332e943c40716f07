import Synchronization

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
/// tmp/                                 files being written
/// entries/ab/cd/<source>/<entry>       one file per entry; abcd are the first digits of the source's key
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

    /// The file that an entry is written to before it gets its name. One at a time: there is one writer.
    func temporaryFile(of key: EntryKey) -> String {
        "\(temporary)/\(key.entry.hex).partial"
    }

    /// Creates the folders; a file in the place of one is removed first.
    func makeFolders() throws(StorageFault) {
        try Files.makeFolders(path)
        try makeFolder(temporary)
        try makeFolder(entries)
    }

    /// Creates a source's folder; a file in the place of it, or of one above it, is removed first.
    func makeFolder(ofSource source: StoreKey) throws(StorageFault) {
        try makeFolders()
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

/// The exclusive hold on a cache directory, by `flock`: a crash leaves none behind. Ends with `release()` or the last
/// reference.
final class DirectoryLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// Takes the lock, or throws at once if someone else has it.
    init(_ directory: CacheDirectory) throws(StoreError) {
        let opened = open(directory.lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard opened >= 0 else {
            throw .unusable(directory: directory.path, reason: Files.fault("create lock file").description)
        }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let fault = Files.fault("lock")
            close(opened)
            throw fault.code == EWOULDBLOCK
                ? .inUse(directory: directory.path)
                : .unusable(directory: directory.path, reason: fault.description)
        }
        descriptor = Mutex(opened)
    }

    deinit { release() }

    /// Lets others have the directory.
    func release() {
        descriptor.withLock {
            guard let opened = $0 else { return }
            close(opened)
            $0 = nil
        }
    }
}
