#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The kernel's small text files about memory, below `root`. What is missing, too long or makes no sense is nil.
struct KernelFiles: Sendable {
    /// More than any of these files has: `memory.stat`, the longest, has some 4 KiB.
    private static let maxFileBytes = 64 << 10

    let root: String

    /// All memory of the machine, and what of it can be had without swapping.
    func machineMemory() -> (totalBytes: Int, availableBytes: Int)? {
        guard let text = text("/proc/meminfo"),
            let totalBytes = Self.kilobytes("MemTotal:", in: text), totalBytes > 0,
            let availableBytes = Self.kilobytes("MemAvailable:", in: text)
        else { return nil }
        return (totalBytes, availableBytes)
    }

    /// What the process's control group, or one above it, uses of its limit without its file cache: the group nearest to
    /// its limit. Nil if none has a limit below the machine's memory.
    func tightestGroup(machineBytes: Int?) -> MemoryPressure.Amount? {
        groups().compactMap(amount(of:)).filter { $0.ofBytes < machineBytes ?? .max }.max { $0.share < $1.share }
    }

    /// The share of the last ten seconds in which some task of the nearest group that tells, or of the machine, waited
    /// for memory.
    func stalledShare() -> Double? {
        let pressure = groups().lazy.compactMap { text($0.folder + "/memory.pressure") }.first
        guard let line = (pressure ?? text("/proc/pressure/memory"))?.split(separator: "\n").first,
            line.hasPrefix("some "),
            let field = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") }),
            let percent = Double(field.dropFirst("avg10=".count)), (0...100).contains(percent)
        else { return nil }
        return percent / 100
    }

    /// The file's text, read to its end: these files have no size to go by.
    private func text(_ path: String) -> String? {
        let descriptor = open(root + path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0, bytes.count + count <= Self.maxFileBytes else { return nil }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk.prefix(count)
        }
    }
}

extension KernelFiles {
    /// A control group's folder, and the names that its version gives to what we read there.
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

    /// The process's control group and those above it, the nearest first; version 1 if it is what counts memory here.
    /// In a container the host's path may lead nowhere: then only the top, the container's own group, has files.
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
        // A path that leads up and out belongs to a process outside of what is mounted here.
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

    /// The one number that a file has; nil for a word such as `max`.
    private func number(in path: String) -> Int? {
        text(path).flatMap { Self.number($0.split(separator: "\n").first) }
    }

    /// The number after this name at the start of a line.
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
