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
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.first == name[...] { return number(words.dropFirst().first) }
        }
        return nil
    }

    /// A number of 0 or more.
    static func number(_ text: Substring?) -> Int? {
        text.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// A control group of this process (cgroups(7)).
struct ControlGroup {
    /// The version of control groups, which decides on the names of files and fields.
    enum Version {
        case one, two
    }

    let folder: String
    let version: Version

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
            return names.flatMap { groups(of: line[2], below: "/sys/fs/cgroup/\($0)", version: .one) }
        }
        if let line = lines.first(where: { $0[0] == "0" && $0[1].isEmpty }) {
            return groups(of: line[2], below: "/sys/fs/cgroup", version: .two)
        }
        return []
    }

    private static func groups(of path: Substring, below top: String, version: Version) -> [ControlGroup] {
        var parts = path.split(separator: "/")
        // A path with ".." belongs to a group outside of the mounted hierarchy.
        if parts.contains("..") { parts = [] }
        return (0...parts.count).reversed().map { depth in
            let folder = ([top] + parts.prefix(depth).map(String.init)).joined(separator: "/")
            return ControlGroup(folder: folder, version: version)
        }
    }
}
