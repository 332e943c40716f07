import Foundation

/// A system call on a file that failed.
struct FileError: Error, Hashable {
    enum Action: String {
        case read, written
    }

    let path: String
    let action: Action
    /// An `errno`.
    let code: Int32

    /// The failure of the last system call.
    init(_ path: String, _ action: Action, code: Int32 = errno) {
        self.path = path
        self.action = action
        self.code = code
    }

    var sentence: String { "\(path) cannot be \(action): \(String(cString: strerror(code)))." }

    /// Whether every other result would fail as well.
    var isOfVolume: Bool { action == .written && [ENOSPC, EDQUOT, EROFS].contains(code) }
}

/// The kind of a file, and its identity among all that exist.
struct FileStatus: Hashable {
    enum Kind {
        case file, folder, link
        /// A device, a pipe or a socket.
        case special
    }

    let kind: Kind
    private let device: UInt64
    private let number: UInt64

    /// Throws if there is no file, or if it may not be examined.
    init(of path: String, followingLink: Bool = true) throws(FileError) {
        var status = stat()
        let result = followingLink ? stat(path, &status) : lstat(path, &status)
        guard result == 0 else { throw FileError(path, .read) }
        self.init(status)
    }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .special
            }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
