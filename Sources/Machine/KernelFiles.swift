import Foundation

/// The kernel's text files below `/proc` and `/sys`. A file that is missing or malformed is nil.
struct KernelFiles: Sendable {
    /// The folder that `/proc` and `/sys` are in: empty, except in tests.
    let root: String

    func text(_ path: String) -> String? { KernelFile(root + path)?.text() }

    /// The number in a file of one number; nil for a word such as `max`.
    func number(_ path: String) -> Int? {
        text(path).flatMap { Self.number($0.split(separator: "\n").first) }
    }

    /// The number that follows this name at the start of a line.
    static func value(of name: String, in text: String) -> Int? {
        let lines = text.split(separator: "\n").lazy.map { $0.split(separator: " ") }
        return number(lines.first { $0.first == name[...] }?.dropFirst().first)
    }

    /// A number of 0 or more.
    static func number(_ text: Substring?) -> Int? {
        text.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// A control group of this process (cgroups(7)).
struct ControlGroup {
    let folder: String
    /// Whether files and fields have the names of version 1.
    let isVersion1: Bool

    /// The process's control group and its parents, nearest first; of version 1 if that version has the controller
    /// here. In a container, the path may be the host's and not exist: then only the top has files, the container's own
    /// group.
    static func groups(with controller: String, _ files: KernelFiles) -> [ControlGroup] {
        let lines = (files.text("/proc/self/cgroup") ?? "").split(separator: "\n").map {
            $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        }.filter { $0.count == 3 }
        if let line = lines.first(where: { $0[1].split(separator: ",").contains(controller[...]) }) {
            // Controllers that share a hierarchy have one folder with all names, and usually links with one name each.
            let names = [controller] + (line[1] == controller[...] ? [] : [String(line[1])])
            return names.flatMap { groups(of: line[2], below: "/sys/fs/cgroup/\($0)", isVersion1: true) }
        }
        if let line = lines.first(where: { $0[0] == "0" && $0[1].isEmpty }) {
            return groups(of: line[2], below: "/sys/fs/cgroup", isVersion1: false)
        }
        return []
    }

    private static func groups(of path: Substring, below top: String, isVersion1: Bool) -> [ControlGroup] {
        var parts = path.split(separator: "/")
        // A path with ".." belongs to a group outside of the mounted hierarchy.
        if parts.contains("..") { parts = [] }
        return (0...parts.count).reversed().map { depth in
            let folder = ([top] + parts.prefix(depth).map(String.init)).joined(separator: "/")
            return ControlGroup(folder: folder, isVersion1: isVersion1)
        }
    }
}

/// A small text file of the kernel's, below `/proc` or `/sys`. Closed with the last reference.
final class KernelFile {
    /// Longer than any file that is read here; `memory.stat`, the longest, has about 4 KiB.
    private static let maxBytes = 64 << 10

    private let descriptor: Int32

    /// Opens the file, or returns nil if there is none. Never waits: a pipe opens at once and reads as empty.
    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Reads the file to its end; nil if it can't be read or is longer than 64 KiB.
    ///
    /// The kernel reports a size of 0 for these files, so only reading shows their length.
    func text() -> String? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0, bytes.count + count <= Self.maxBytes else { return nil }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk.prefix(count)
        }
    }
}
