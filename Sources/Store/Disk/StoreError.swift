#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Why a disk store can't be opened. Damage is never a reason: it is healed.
public enum DiskStoreError: Error, Equatable, Sendable {
    /// Another store, of this process or another, has this directory open.
    case inUse(directory: String)
    /// The directory is on a read-only volume, or this user may not write to it.
    case readOnly(directory: String)
    /// The directory, or the index in it, can't be created or written for another reason.
    case unusable(directory: String, reason: String)
}

extension DiskStoreError {
    /// What such a fault means for a directory about to be opened.
    init(_ fault: StorageFault, directory: String) {
        switch fault.code {
        case EROFS, EACCES, EPERM: self = .readOnly(directory: directory)
        default: self = .unusable(directory: directory, reason: fault.description)
        }
    }
}

extension DiskStoreError: CustomStringConvertible {
    /// One sentence for whoever set the directory.
    public var description: String {
        switch self {
        case .inUse(let directory): "the cache directory \(directory) is in use by another process"
        case .readOnly(let directory): "the cache directory \(directory) can't be written to"
        case .unusable(let directory, let reason): "the cache directory \(directory) can't be used: \(reason)"
        }
    }
}

/// A file or index operation that failed.
struct StorageFault: Error {
    /// What was tried, for a log line.
    var operation: String
    /// What the system or SQLite said.
    var reason: String
    /// The system's error number, if it was a system call.
    var code: Int32?
    /// Whether the index is damaged or not ours, so that only a new one helps.
    var isDamage = false
}

extension StorageFault: CustomStringConvertible {
    var description: String { "\(operation): \(reason)" }
}
