import Foundation
import Testing

@testable import DarkroomMachine

/// What a process may use, and the defaults that follow from it.
@Suite struct ResourceLimitsTests {
    /// A machine or container: its files below `/proc` and `/sys`, and what follows from them.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var files: [String: String]
        var quota: Double?
        var memoryMiB = 1000
        var workers: Int
        var budgetMiB = 250
        var memoryCacheMiB = 125
        var decodedCacheKiB = 64_000

        init(
            _ name: String, _ files: [String: String], processors: String = "0-7", quota: Double? = nil,
            workers: Int = 8
        ) {
            testDescription = name
            self.files = files.merging(["/proc/self/status": "Name:\tx\nCpus_allowed_list:\t\(processors)\n"]) { $1 }
            self.quota = quota
            self.workers = workers
        }

        /// The row with other results for memory.
        func memory(_ memoryMiB: Int, budgetMiB: Int, memoryCacheMiB: Int, decodedCacheKiB: Int) -> Row {
            var row = self
            row.memoryMiB = memoryMiB
            row.budgetMiB = budgetMiB
            row.memoryCacheMiB = memoryCacheMiB
            row.decodedCacheKiB = decodedCacheKiB
            return row
        }
    }

    static let v2 = "/sys/fs/cgroup"
    static let own = ["/proc/self/cgroup": "0::/\n"]
    static let nested = ["/proc/self/cgroup": "0::/kubepods/pod1/c1\n"]
    static let docker1 = ["/proc/self/cgroup": "5:cpu,cpuacct:/docker/c1\n4:memory:/docker/c1\n0::/\n"]

    static let rows = [
        Row("a machine without control groups", [:]),
        Row("two processors of eight", [:], processors: "2,5", workers: 2),
        Row("a list of ranges", [:], processors: "0-1,4-5,7", workers: 5),
        Row("no limit", own.merging(["\(v2)/cpu.max": "max 100000\n", "\(v2)/memory.max": "max\n"]) { $1 }),
        Row("docker run --cpus 1.5", own.merging(["\(v2)/cpu.max": "150000 100000\n"]) { $1 }, quota: 1.5, workers: 2),
        Row("half a processor", own.merging(["\(v2)/cpu.max": "50000 100000\n"]) { $1 }, quota: 0.5, workers: 1),
        Row(
            "a quota above the processors", own.merging(["\(v2)/cpu.max": "1600000 100000\n"]) { $1 }, quota: 16,
            workers: 8),
        Row(
            "the lowest quota of nested groups",
            nested.merging([
                "\(v2)/kubepods/pod1/c1/cpu.max": "max 100000\n", "\(v2)/kubepods/pod1/cpu.max": "200000 100000\n",
                "\(v2)/kubepods/cpu.max": "700000 100000\n",
            ]) { $1 }, quota: 2, workers: 2),
        Row(
            "version 1",
            docker1.merging([
                "\(v2)/cpu/docker/c1/cpu.cfs_quota_us": "250000\n", "\(v2)/cpu/docker/c1/cpu.cfs_period_us": "100000\n",
            ]) { $1 }, quota: 2.5, workers: 3),
        Row(
            "version 1 without links, in a container",
            docker1.merging([
                "\(v2)/cpu,cpuacct/cpu.cfs_quota_us": "100000\n", "\(v2)/cpu,cpuacct/cpu.cfs_period_us": "50000\n",
            ]) { $1 }, quota: 2, workers: 2),
        Row(
            "version 1 without limits",
            docker1.merging([
                "\(v2)/cpu/cpu.cfs_quota_us": "-1\n", "\(v2)/cpu/cpu.cfs_period_us": "100000\n",
                "\(v2)/memory/memory.limit_in_bytes": "9223372036854771712\n",
            ]) { $1 }),
        Row("docker run --memory 512m", own.merging(["\(v2)/memory.max": "\(512 << 20)\n"]) { $1 })
            .memory(512, budgetMiB: 128, memoryCacheMiB: 64, decodedCacheKiB: 32 << 10),
        Row(
            "the lower limit of memory, though another group is fuller",
            nested.merging([
                "\(v2)/kubepods/pod1/memory.max": "\(256 << 20)\n", "\(v2)/kubepods/pod1/memory.current": "0\n",
                "\(v2)/kubepods/pod1/memory.stat": "inactive_file 0\nactive_file 0\n",
                "\(v2)/kubepods/memory.max": "\(800 << 20)\n", "\(v2)/kubepods/memory.current": "\(790 << 20)\n",
                "\(v2)/kubepods/memory.stat": "inactive_file 0\nactive_file 0\n",
            ]) { $1 }
        ).memory(256, budgetMiB: 64, memoryCacheMiB: 32, decodedCacheKiB: 16 << 10),
        Row("version 1 with 64 MiB", docker1.merging(["\(v2)/memory/memory.limit_in_bytes": "\(64 << 20)\n"]) { $1 })
            .memory(64, budgetMiB: 16, memoryCacheMiB: 8, decodedCacheKiB: 4 << 10),
        Row(
            "16 GiB of 64",
            own.merging([
                "/proc/meminfo": "MemTotal: 67108864 kB\nMemAvailable: 1024 kB\n", "\(v2)/memory.high": "\(16 << 30)\n",
            ]) { $1 }
        ).memory(16 << 10, budgetMiB: 4 << 10, memoryCacheMiB: 256, decodedCacheKiB: 128 << 10),
        Row(
            "2 GiB, from where the caches grow no more", ["/proc/meminfo": "MemTotal: 2097152 kB\nMemAvailable: 0 kB\n"]
        )
        .memory(2048, budgetMiB: 512, memoryCacheMiB: 256, decodedCacheKiB: 128 << 10),
    ]

    @Test(arguments: rows)
    func `Workers, budget and caches follow the limits`(row: Row) throws {
        let kernel = try FakeKernel()
        for (path, text) in row.files { try kernel.write(text, to: path) }
        let limits = ResourceLimits(root: kernel.realPath(""))
        #expect(limits.processorQuota == row.quota)
        #expect(limits.memoryBytes == row.memoryMiB << 20)
        let defaults = ResourceDefaults(limits)
        #expect(defaults.pixelWorkers == row.workers)
        #expect(defaults.memoryBudgetBytes == row.budgetMiB << 20)
        #expect(defaults.memoryCacheBytes == row.memoryCacheMiB << 20)
        #expect(defaults.decodedCacheBytes == row.decodedCacheKiB << 10)
        #expect(kernel.pressure.usableBytes == limits.memoryBytes)
    }

    @Test(arguments: ["", "x", "1-0", "-1", "0-99999999999", "0-1-2", "5,", "\0"])
    func `A malformed list of processors counts as none`(list: String) throws {
        let kernel = try FakeKernel()
        try kernel.write("Cpus_allowed_list:\t\(list)\n", to: "/proc/self/status")
        let count = ResourceLimits(root: kernel.realPath("")).processorCount
        #expect(list == "5," ? count == 1 : count == ProcessInfo.processInfo.activeProcessorCount)
    }

    @Test(arguments: ["", "max", "100000", "0 100000", "-1 100000", "100000 0", "x y", "1e5 100000", "\n"])
    func `A malformed quota is none`(text: String) throws {
        let kernel = try FakeKernel()
        try kernel.write("0::/\n", to: "/proc/self/cgroup")
        try kernel.write(text, to: "/sys/fs/cgroup/cpu.max")
        #expect(ResourceLimits(root: kernel.realPath("")).processorQuota == nil)
    }

    @Test func `A system without these files counts as 4 GiB`() throws {
        let limits = ResourceLimits(root: try FakeKernel(availableMiB: nil).realPath(""))
        #expect(limits.memoryBytes == 4 << 30)
        #expect(limits.processorCount == ProcessInfo.processInfo.activeProcessorCount)
        #expect(limits.processorQuota == nil)
    }

    #if os(Linux)
        @Test func `The machine that runs this test has limits`() {
            #expect((1...ProcessInfo.processInfo.processorCount).contains(ResourceDefaults.current.pixelWorkers))
            #expect(ResourceLimits.current.memoryBytes <= ProcessInfo.processInfo.physicalMemory)
            #expect(ResourceLimits.current.memoryBytes > 16 << 20)
        }
    #endif
}
