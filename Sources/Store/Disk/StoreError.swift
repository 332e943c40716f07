/// Why a disk store can't be opened. Damage is never a reason: it is healed.
public enum StoreError: Error, Equatable, Sendable {
    /// Another store, of this process or another, has this directory open.
    case inUse(directory: String)
    /// The directory, or the index in it, can't be created or written.
    case unusable(directory: String, reason: String)
}

extension StoreError: CustomStringConvertible {
    /// One sentence for whoever set the directory.
    public var description: String {
        switch self {
        case .inUse(let directory): "the cache directory \(directory) is in use by another process"
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
}

extension StorageFault: CustomStringConvertible {
    var description: String { "\(operation): \(reason)" }
}
