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

/// One name in a folder.
struct FolderEntry {
    /// With replacement characters unless `isText`.
    let name: String
    /// Whether the name is UTF-8.
    let isText: Bool
    let kind: FileStatus.Kind

    /// What a folder contains, in the order of the names, except for hidden files.
    static func all(in folder: String) throws(FileError) -> [FolderEntry] {
        let path = folder.isEmpty ? "." : folder
        guard let stream = opendir(path) else { throw FileError(path, .read) }
        defer { closedir(stream) }
        var entries: [FolderEntry] = []
        while let entry = readdir(stream) {
            let (name, isText) = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { bytes in
                    (String(cString: bytes), String(validatingCString: bytes) != nil)
                }
            }
            guard name.utf8.first != UInt8(ascii: ".") else { continue }
            let kind = kind(entry.pointee.d_type, of: "\(path)/\(name)")
            entries.append(FolderEntry(name: name, isText: isText, kind: kind))
        }
        return entries.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private static func kind(_ type: UInt8, of path: String) -> FileStatus.Kind {
        switch Int(type) {
        case Int(DT_REG): .file
        case Int(DT_DIR): .folder
        case Int(DT_LNK): .link
        // Some file systems do not say.
        case Int(DT_UNKNOWN): (try? FileStatus(of: path, followingLink: false).kind) ?? .special
        default: .special
        }
    }
}
