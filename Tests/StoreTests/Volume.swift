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
        try Self.run("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder.path)
    }

    deinit {
        try? Self.run("umount", "-l", path)
        try? Self.run("umount", "-l", path)
    }

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
            try Self.run("mount", "--bind", path, view.path)
            defer { try? Self.run("umount", "-l", view.path) }
            try Self.run("mount", "-o", "remount,bind,ro", view.path)
            try Self.run("mount", "--bind", view.path, path)
        } else {
            try Self.run("umount", "-l", path)
        }
    }

    private static func run(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw CocoaError(.featureUnsupported) }
    }
}
