import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The exclusive hold on a cache directory, by `flock`: a crash leaves none behind. Ends with `release()` or the last
/// reference.
final class DirectoryLock: Sendable {
    private let path: String
    private let descriptor: Mutex<Int32?>

    /// Takes the lock, or throws at once if someone else has it.
    init(_ directory: CacheDirectory) throws(DiskStoreError) {
        path = directory.lock
        let opened = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard opened >= 0 else {
            throw DiskStoreError(Files.fault("create lock file"), directory: directory.path)
        }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let fault = Files.fault("lock")
            close(opened)
            throw fault.code == EWOULDBLOCK
                ? .inUse(directory: directory.path) : DiskStoreError(fault, directory: directory.path)
        }
        descriptor = Mutex(opened)
    }

    deinit { release() }

    /// Whether the lock file is still the one that we hold: otherwise someone else may hold another.
    var isInPlace: Bool {
        descriptor.withLock { $0.flatMap(Files.identity(of:)) == Files.identity(of: path) }
    }

    /// Lets others have the directory.
    func release() {
        descriptor.withLock {
            guard let opened = $0 else { return }
            // Closing alone leaves it to a child process that is just being started.
            flock(opened, LOCK_UN)
            close(opened)
            $0 = nil
        }
    }
}
