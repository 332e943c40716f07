#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The reason why a disk store can't be opened. Corruption never prevents opening: it is repaired.
public enum DiskStoreError: Error, Equatable, Sendable {
    /// Another store, in this process or another, has this directory open.
    case inUse(directory: String)
    /// The directory is on a read-only volume, or this user may not write to it.
    case readOnly(directory: String)
    /// The directory, or the index in it, can't be created or written for another reason.
    case unusable(directory: String, reason: String)
}

extension DiskStoreError {
    /// Maps the storage error that made an opening fail.
    init(_ error: StorageError, directory: String) {
        switch error.code {
        case EROFS, EACCES, EPERM: self = .readOnly(directory: directory)
        default: self = .unusable(directory: directory, reason: error.description)
        }
    }
}

extension DiskStoreError: CustomStringConvertible {
    /// One sentence for the operator, without a final period.
    public var description: String {
        switch self {
        case .inUse(let directory): "the cache directory \(directory) is in use by another process"
        case .readOnly(let directory): "the cache directory \(directory) is not writable"
        case .unusable(let directory, let reason): "the cache directory \(directory) is unusable: \(reason)"
        }
    }
}

/// A file or index operation that failed.
struct StorageError: Error {
    /// The operation, for a log line.
    var operation: String
    /// The text of the system or of SQLite.
    var reason: String
    /// The system's error number, if a system call failed.
    var code: Int32?
    /// Whether the index is corrupt or in another format, so that it has to be replaced.
    var isCorruption = false
}

extension StorageError: CustomStringConvertible {
    var description: String { "\(operation): \(reason)" }
}
