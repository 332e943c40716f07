import Foundation
import Testing

/// A small volume of its own; only root can have one.
final class Volume: Sendable {
    static let isMountable: Bool = getuid() == 0 && (try? Volume(bytes: 1 << 20)) != nil

    private let folder: TemporaryFolder
    var path: String { folder.path }

    /// - Parameter inodes: the most files and folders; nil = no limit that tests meet.
    init(bytes: Int, inodes: Int? = nil) throws {
        folder = try TemporaryFolder()
        let options = "size=\(bytes)" + (inodes.map { ",nr_inodes=\($0)" } ?? "")
        try Self.mount("tmpfs", at: folder.path, type: "tmpfs", options: options)
    }

    deinit { while Self.unmount(path) {} }

    /// Fills all but about so many bytes.
    func fill(leaving bytes: Int) throws {
        let attributes = try FileManager.default.attributesOfFileSystem(forPath: path)
        let free = try #require(attributes[.systemFreeSize] as? Int)
        try folder.write(Data(count: free - bytes), to: "filler")
    }

    func empty() throws { try folder.remove("filler") }

    /// Lays a read-only view of the volume over it, or takes it away. What is open already can still be written.
    func setReadOnly(_ isReadOnly: Bool) throws {
        if isReadOnly {
            // Made elsewhere, where no store opens a file for writing before the view is read-only.
            let view = try TemporaryFolder()
            try Self.mount(path, at: view.path, Self.bind)
            defer { _ = Self.unmount(view.path) }
            try Self.mount(view.path, at: view.path, Self.bind | Self.remountReadOnly)
            try Self.mount(view.path, at: path, Self.bind)
        } else {
            #expect(Self.unmount(path))
        }
    }
}

// The system's calls, not the programs: running a program takes Foundation sockets whose numbers are too high while
// hundreds of stores are open.
extension Volume {
    #if os(Linux)
        private static let bind = MS_BIND
        private static let remountReadOnly = MS_REMOUNT | MS_RDONLY

        private static func mount(
            _ source: String, at path: String, _ flags: Int = 0, type: String? = nil, options: String? = nil
        ) throws {
            guard Glibc.mount(source, path, type, UInt(flags), options) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
            }
        }

        private static func unmount(_ path: String) -> Bool { umount2(path, Int32(MNT_DETACH)) == 0 }
    #else
        private static let bind = 0
        private static let remountReadOnly = 0

        private static func mount(
            _ source: String, at path: String, _ flags: Int = 0, type: String? = nil, options: String? = nil
        ) throws { throw POSIXError(.ENOTSUP) }

        private static func unmount(_ path: String) -> Bool { false }
    #endif
}
