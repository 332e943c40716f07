import Foundation

/// The processors and the memory that this process may use.
package struct ResourceLimits: Equatable, Sendable {
    /// The number of processors that the process may run on (`Cpus_allowed_list` of `/proc/self/status`), or of all
    /// processors of the machine where that is unknown; at least 1.
    package let processorCount: Int
    /// The processors' worth of time that control groups allow, such as 1.5: the lowest quota of the process's own
    /// group and its parents (`cpu.max`, or `cpu.cfs_quota_us` in version 1). Nil without a quota.
    package let processorQuota: Double?
    /// The memory in bytes: the lowest limit of the process's control groups, or else the machine's memory. 4 GiB if
    /// the system reports neither.
    package let memoryBytes: Int

    /// The limits at the start of this process.
    package static let current = ResourceLimits()

    /// - Parameter root: the folder that contains `/proc` and `/sys`; tests pass a folder of their own.
    init(root: String = "") {
        let files = KernelFiles(root: root)
        processorCount = Self.allowedProcessors(files) ?? max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1)
        processorQuota = ControlGroup.groups(with: "cpu", files).compactMap { Self.quota(of: $0, files) }.min()
        memoryBytes = KernelMemory(files: files).usableBytes
    }

    /// The number of processors in a list such as `0-3,8`.
    private static func allowedProcessors(_ files: KernelFiles) -> Int? {
        let name = "Cpus_allowed_list:"
        let lines = files.text("/proc/self/status")?.split(separator: "\n") ?? []
        guard let line = lines.first(where: { $0.hasPrefix(name) }) else { return nil }
        var count = 0
        for range in line.dropFirst(name.count).drop(while: \.isWhitespace).split(separator: ",") {
            let ends = range.split(separator: "-", omittingEmptySubsequences: false).map { KernelFiles.number($0) }
            guard ends.count <= 2, case let first?? = ends.first, case let last?? = ends.last,
                (first...max(first, 1 << 16)).contains(last)
            else { return nil }
            count += last - first + 1
        }
        return count > 0 ? count : nil
    }

    /// The processors' worth of time in each period; nil without a quota.
    private static func quota(of group: ControlGroup, _ files: KernelFiles) -> Double? {
        let quota: Int?
        let period: Int?
        if group.isVersion1 {
            quota = files.number(group.folder + "/cpu.cfs_quota_us")
            period = files.number(group.folder + "/cpu.cfs_period_us")
        } else {
            let words = files.text(group.folder + "/cpu.max")?.split(whereSeparator: \.isWhitespace) ?? []
            quota = KernelFiles.number(words.first)
            period = KernelFiles.number(words.dropFirst().first)
        }
        guard let quota, let period, quota > 0, period > 0 else { return nil }
        return Double(quota) / Double(period)
    }
}

/// The defaults of settings that follow the limits of the process, so that a container without settings stays within
/// its own.
package struct ResourceDefaults: Equatable, Sendable {
    /// The images that are processed concurrently: one per processor, or per processor's worth of quota, rounded up.
    package let pixelWorkers: Int
    /// The memory of all images in processing: a quarter.
    package let memoryBudgetBytes: Int
    /// The memory cache: an eighth, at most 256 MiB.
    package let memoryCacheBytes: Int
    /// The cache of decoded originals: a sixteenth, at most 128 MiB.
    package let decodedCacheBytes: Int

    package static let current = ResourceDefaults(.current)

    init(_ limits: ResourceLimits) {
        let quota = limits.processorQuota.map { Int(min($0.rounded(.up), 1024)) } ?? 1024
        pixelWorkers = max(min(limits.processorCount, quota), 1)
        memoryBudgetBytes = max(limits.memoryBytes / 4, 1)
        memoryCacheBytes = min(limits.memoryBytes / 8, 256 << 20)
        decodedCacheBytes = min(limits.memoryBytes / 16, 128 << 20)
    }
}
