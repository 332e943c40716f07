/// The kernel's figures about memory: `/proc/meminfo`, control groups of versions 1 and 2, and pressure stall
/// information. A figure that is missing or malformed is nil.
struct KernelMemory: Sendable {
    /// The folder that `/proc` and `/sys` are in: empty, except in tests.
    let root: String

    /// The machine's memory, and the part of it that is available without swapping.
    func machineMemory() -> (totalBytes: Int, availableBytes: Int)? {
        guard let text = text("/proc/meminfo"),
            let totalBytes = Self.kilobytes("MemTotal:", in: text), totalBytes > 0,
            let availableBytes = Self.kilobytes("MemAvailable:", in: text)
        else { return nil }
        return (totalBytes, availableBytes)
    }

    /// The use and the limit of the control group that is nearest to its limit: the process's own or one of its
    /// parents. The file cache doesn't count as use. Nil if no group has a limit below the machine's memory.
    func tightestGroup(machineBytes: Int?) -> MemoryPressure.Amount? {
        groups().compactMap(amount(of:)).filter { $0.ofBytes < machineBytes ?? .max }.max { $0.share < $1.share }
    }

    /// The share of the last ten seconds, 0 to 1, in which some task waited for memory: a task of the nearest control
    /// group with this figure, or else of the machine.
    func stalledShare() -> Double? {
        let pressure = groups().lazy.compactMap { text($0.folder + "/memory.pressure") }.first
        guard let line = (pressure ?? text("/proc/pressure/memory"))?.split(separator: "\n").first,
            line.hasPrefix("some "),
            let field = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") }),
            let percent = Double(field.dropFirst("avg10=".count)), (0...100).contains(percent)
        else { return nil }
        return percent / 100
    }

    private func text(_ path: String) -> String? { KernelFile(root + path)?.text() }
}

// Control groups.
extension KernelMemory {
    /// A control group's folder, and the names of its files and fields, which depend on the version.
    private struct Group {
        let folder: String
        let names: Names

        struct Names {
            let used: String
            let limits: [String]
            let fileCache: [String]
        }

        static let version1 = Names(
            used: "memory.usage_in_bytes", limits: ["memory.limit_in_bytes"],
            fileCache: ["total_inactive_file", "total_active_file"])
        static let version2 = Names(
            used: "memory.current", limits: ["memory.max", "memory.high"], fileCache: ["inactive_file", "active_file"])
    }

    /// The process's control group and its parents, nearest first; of version 1 if that version accounts for memory
    /// here. In a container, the path may be the host's and not exist: then only the top has files, the container's own
    /// group.
    private func groups() -> [Group] {
        let lines = (text("/proc/self/cgroup") ?? "").split(separator: "\n").map {
            $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        }.filter { $0.count == 3 }
        if let line = lines.first(where: { $0[1].split(separator: ",").contains("memory") }) {
            return Self.folders(of: line[2], below: "/sys/fs/cgroup/memory", names: Group.version1)
        }
        if let line = lines.first(where: { $0[0] == "0" && $0[1].isEmpty }) {
            return Self.folders(of: line[2], below: "/sys/fs/cgroup", names: Group.version2)
        }
        return []
    }

    private static func folders(of path: Substring, below top: String, names: Group.Names) -> [Group] {
        var parts = path.split(separator: "/")
        // A path with ".." belongs to a group outside of the mounted hierarchy.
        if parts.contains("..") { parts = [] }
        return (0...parts.count).reversed().map { depth in
            Group(folder: ([top] + parts.prefix(depth).map(String.init)).joined(separator: "/"), names: names)
        }
    }

    private func amount(of group: Group) -> MemoryPressure.Amount? {
        let limits = group.names.limits.compactMap { number(in: group.folder + "/" + $0) }.filter { $0 > 0 }
        guard let limitBytes = limits.min(), let usedBytes = number(in: group.folder + "/" + group.names.used),
            let statistics = text(group.folder + "/memory.stat")
        else { return nil }
        var bytes = usedBytes
        for name in group.names.fileCache {
            guard let cachedBytes = Self.value(of: name, in: statistics) else { return nil }
            bytes -= min(bytes, cachedBytes)
        }
        return MemoryPressure.Amount(bytes: bytes, ofBytes: limitBytes)
    }

    /// The number in a file of one number; nil for a word such as `max`.
    private func number(in path: String) -> Int? {
        text(path).flatMap { Self.number($0.split(separator: "\n").first) }
    }

    /// The number that follows this name at the start of a line.
    private static func value(of name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.first == name[...] { return number(words.dropFirst().first) }
        }
        return nil
    }

    private static func kilobytes(_ name: String, in text: String) -> Int? {
        guard let kilobytes = value(of: name, in: text) else { return nil }
        let (bytes, overflow) = kilobytes.multipliedReportingOverflow(by: 1024)
        return overflow ? nil : bytes
    }

    private static func number(_ text: Substring?) -> Int? {
        text.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
