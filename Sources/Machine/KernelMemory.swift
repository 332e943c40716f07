/// The kernel's figures about memory: `/proc/meminfo`, control groups of versions 1 and 2, and pressure stall
/// information. A figure that is missing or malformed is nil.
struct KernelMemory: Sendable {
    let files: KernelFiles

    /// The machine's memory, and the part of it that is available without swapping.
    func machineMemory() -> (totalBytes: Int, availableBytes: Int)? {
        guard let text = files.text("/proc/meminfo"),
            let totalBytes = Self.kilobytes("MemTotal:", in: text), totalBytes > 0,
            let availableBytes = Self.kilobytes("MemAvailable:", in: text)
        else { return nil }
        return (totalBytes, availableBytes)
    }

    /// The use and the limit of the control group that is nearest to its limit: the group of the process or one of its
    /// parents. The file cache doesn't count as use. Nil if no group has a limit below the machine's memory.
    func tightestGroup(machineBytes: Int?) -> MemoryPressure.Amount? {
        groups().compactMap(amount(of:)).filter { $0.ofBytes < machineBytes ?? .max }.max { $0.share < $1.share }
    }

    /// The lowest limit of the process's own control group and its parents, whatever they use, or else the machine's
    /// memory, in bytes. 4 GiB if the system reports neither.
    var usableBytes: Int {
        let machineBytes = machineMemory()?.totalBytes
        let limits = groups().compactMap(limit(of:)).filter { $0 < machineBytes ?? Self.implausibleBytes }
        return limits.min() ?? machineBytes ?? 4 << 30
    }

    /// The share of the last ten seconds, 0 to 1, in which some task waited for memory: a task of the nearest control
    /// group with this figure, or else of the machine.
    func stalledShare() -> Double? {
        let pressure = groups().lazy.compactMap { files.text($0.folder + "/memory.pressure") }.first
        guard let line = (pressure ?? files.text("/proc/pressure/memory"))?.split(separator: "\n").first,
            line.hasPrefix("some "),
            let field = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") }),
            let percent = Double(field.dropFirst("avg10=".count)), (0...100).contains(percent)
        else { return nil }
        return percent / 100
    }

    /// Version 1 writes a number near 2^63 where there is no limit.
    private static let implausibleBytes = 1 << 60

    // MARK: Control groups

    private func groups() -> [ControlGroup] { ControlGroup.groups(with: "memory", files) }

    /// The lower of two limits where the version has two.
    private func limit(of group: ControlGroup) -> Int? {
        let names = group.isVersion1 ? ["memory.limit_in_bytes"] : ["memory.max", "memory.high"]
        return names.compactMap { files.number("\(group.folder)/\($0)") }.filter { $0 > 0 }.min()
    }

    private func amount(of group: ControlGroup) -> MemoryPressure.Amount? {
        let usedName = group.isVersion1 ? "memory.usage_in_bytes" : "memory.current"
        guard let limitBytes = limit(of: group), let usedBytes = files.number("\(group.folder)/\(usedName)"),
            let statistics = files.text("\(group.folder)/memory.stat")
        else { return nil }
        var bytes = usedBytes
        let fileCache =
            group.isVersion1 ? ["total_inactive_file", "total_active_file"] : ["inactive_file", "active_file"]
        for name in fileCache {
            guard let cachedBytes = KernelFiles.value(of: name, in: statistics) else { return nil }
            bytes -= min(bytes, cachedBytes)
        }
        return MemoryPressure.Amount(bytes: bytes, ofBytes: limitBytes)
    }

    private static func kilobytes(_ name: String, in text: String) -> Int? {
        guard let kilobytes = KernelFiles.value(of: name, in: text) else { return nil }
        let (bytes, overflow) = kilobytes.multipliedReportingOverflow(by: 1024)
        return overflow ? nil : bytes
    }
}
