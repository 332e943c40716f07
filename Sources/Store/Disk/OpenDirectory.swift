import Foundation
import Logging

/// One opening of a cache directory: its index, and the identity of its files, which shows later whether they were
/// deleted or replaced. Immutable, so that readers and the writer share it.
final class OpenDirectory: Sendable {
    let index: DiskIndex
    private let layout: DiskLayout
    private let identity: [FileSystem.Identity?]

    /// Creates missing folders and opens the index; replaces an unusable index with an empty one. The time does not
    /// depend on the number of entries. Throws only if a new index can't be created either.
    ///
    /// - Parameters:
    ///   - time: the earliest time, in microseconds since 1970, for entries to be stamped with.
    ///   - mustReconcile: whether files were deleted whose rows the index still has.
    init(
        _ layout: DiskLayout, notBefore time: Int64, mustReconcile: Bool, _ environment: DiskEnvironment
    ) throws(StorageError) {
        self.layout = layout
        let hadEntries = FileSystem.kind(of: layout.entries) == .folder
        try layout.makeFolders()
        if !hadEntries && FileSystem.kind(of: layout.index) != .nothing {
            environment.logger.warning("disk cache: starting empty: the folder of entries is missing")
            try layout.setIndexAside()
        }
        func openIndex() throws(StorageError) -> DiskIndex {
            // SQLite would follow a link, wait for the other end of a pipe or write to a device.
            if layout.indexFiles.contains(where: { [.folder, .other].contains(FileSystem.kind(of: $0)) }) {
                throw StorageError(operation: "open index", reason: "not a regular file", isCorruption: true)
            }
            let configuration = environment.configuration
            return try DiskIndex(
                path: layout.index, logPages: DiskIndex.logPages(budgetBytes: configuration.budgetBytes),
                mustReconcile: mustReconcile
            ) { last in
                MonotonicClock(now: environment.now(), last: max(time, last), uptime: environment.uptime)
            }
        }
        do {
            index = try openIndex()
        } catch  where error.isCorruption {
            environment.outages.begin(.index, ["reason": "\(error)"])
            try layout.setIndexAside()
            index = try openIndex()
        }
        identity = Self.identity(of: layout)
    }

    private init(_ other: OpenDirectory, identity: [FileSystem.Identity?]) {
        index = other.index
        layout = other.layout
        self.identity = identity
    }

    /// Whether the paths of the entries and of the index still lead to the opened folder and file.
    var isInPlace: Bool { identity == Self.identity(of: layout) }

    /// The same opening with the files that are in place now, after the store itself has replaced some.
    func identifiedAnew() -> OpenDirectory { OpenDirectory(self, identity: Self.identity(of: layout)) }

    private static func identity(of layout: DiskLayout) -> [FileSystem.Identity?] {
        [FileSystem.identity(of: layout.entries), FileSystem.identity(of: layout.index)]
    }
}

/// The exclusive lock on a cache directory, by `flock`, which ends with the process. Released with the last reference.
final class DirectoryLock {
    private let path: String
    private let descriptor: Int32

    /// Takes the lock, or throws at once if it is held.
    init(_ layout: DiskLayout) throws(StorageError) {
        path = layout.lock
        // Without O_NONBLOCK, opening a pipe or a device may wait.
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw errno == ELOOP ? Self.notRegular(path) : FileSystem.error("create lock file")
        }
        // `deinit` closes the file.
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileSystem.error("lock") }
        guard FileVersion(status) != nil else { throw Self.notRegular(path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw FileSystem.error("lock") }
    }

    private static func notRegular(_ path: String) -> StorageError {
        StorageError(operation: "lock", reason: "\(path) is not a regular file; remove it")
    }

    deinit {
        guard descriptor >= 0 else { return }
        // Closing alone would leave the lock to a child process that is being started.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Whether the lock file at the path is still the locked file. Otherwise another store may hold a new lock file.
    var isInPlace: Bool { FileSystem.identity(of: descriptor) == FileSystem.identity(of: path) }
}

/// The clock by which entries age, in microseconds since 1970: the computer's clock when the directory was opened, plus
/// the time that has passed since. Never runs backwards, not even from one opening to the next.
///
/// Setting the computer's clock while the store is open has no effect. If the clock was set back before the opening, no
/// time counts as passed since the last use of the store. A clock that was set ahead can't be distinguished from a long
/// pause.
struct MonotonicClock: Sendable {
    private let start: Int64
    private let startUptime: Duration
    private let uptime: @Sendable () -> Duration

    /// Starts now, or at `last` if that is later.
    init(now: Date, last: Int64, uptime: @escaping @Sendable () -> Duration) {
        let microseconds = Int64(exactly: (now.timeIntervalSince1970 * 1_000_000).rounded()) ?? 0
        // A corrupt index may have any time; sums with real durations must not overflow.
        start = max(microseconds, min(last, Int64.max / 2))
        startUptime = uptime()
        self.uptime = uptime
    }

    /// The current time, in microseconds since 1970.
    var microseconds: Int64 {
        start + max(0, (uptime() - startUptime).microseconds)
    }
}

extension Duration {
    /// The duration in microseconds, at most 2^62.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds.magnitude < 1 << 42 else { return seconds < 0 ? -(1 << 62) : 1 << 62 }
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
