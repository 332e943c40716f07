import Foundation
import Testing

@testable import DarkroomMachine

@Suite struct MemoryPressureTests {
    typealias Amount = MemoryPressure.Amount

    static func reading(
        used: Int? = nil, available: Int? = nil, stalled: Double? = nil
    ) -> MemoryPressure.Reading {
        MemoryPressure.Reading(
            used: used.map { Amount(bytes: $0, ofBytes: 1000) },
            available: available.map { Amount(bytes: $0, ofBytes: 1000) }, stalledShare: stalled)
    }

    @Test(arguments: [
        (reading(), false, false),
        (reading(used: 899), false, true),
        (reading(used: 900), true, true),
        (reading(used: 800), false, true),
        (reading(used: 799), false, false),
        (reading(stalled: 0.0999), false, true),
        (reading(stalled: 0.1), true, true),
        (reading(stalled: 0.0499), false, false),
        (reading(available: 50), false, true),
        (reading(available: 49), true, true),
        (reading(available: 100), false, false),
        // A group within its own limit has its share, whatever the rest of the machine uses.
        (reading(used: 100, available: 1), false, false),
        (reading(used: 100, available: 500, stalled: 0.2), true, true),
        (reading(used: 950, available: 500, stalled: 0), true, true),
    ])
    func `Pressure begins at one bound and ends at a lower one`(
        reading: MemoryPressure.Reading, begins: Bool, lasts: Bool
    ) {
        #expect(reading.level(after: .none) == (begins ? .high : .none))
        #expect(reading.level(after: .high) == (lasts ? .high : .none))
    }

    @Test func `The use of a group excludes the file cache, which the kernel reclaims by itself`() throws {
        let kernel = try FakeKernel()
        try kernel.write("0::/\n", to: "/proc/self/cgroup")
        try kernel.setGroup("", usedMiB: 95, maxMiB: 100, fileCacheMiB: 30)
        #expect(kernel.pressure.reading().used == Amount(bytes: 65 << 20, ofBytes: 100 << 20))
        // The two numbers are of different moments.
        try kernel.setGroup("", usedMiB: 95, maxMiB: 100, fileCacheMiB: 96)
        #expect(kernel.pressure.reading().used == Amount(bytes: 0, ofBytes: 100 << 20))
    }

    @Test func `The lower of two limits of a group counts`() throws {
        let kernel = try FakeKernel()
        try kernel.write("0::/app\n", to: "/proc/self/cgroup")
        try kernel.setGroup("/app", usedMiB: 70, maxMiB: 100, highMiB: 80)
        #expect(kernel.pressure.reading().used?.ofBytes == 80 << 20)
        try kernel.setGroup("/app", usedMiB: 70, maxMiB: 100)
        #expect(kernel.pressure.reading().used?.ofBytes == 100 << 20)
    }

    @Test func `The nested group nearest to its limit counts`() throws {
        let kernel = try FakeKernel()
        try kernel.write("0::/tenant/app/web\n", to: "/proc/self/cgroup")
        try kernel.setGroup("/tenant/app/web", usedMiB: 10, maxMiB: nil)
        try kernel.setGroup("/tenant/app", usedMiB: 10, maxMiB: 100)
        try kernel.setGroup("/tenant", usedMiB: 190, maxMiB: 200)
        #expect(kernel.pressure.reading().used == Amount(bytes: 190 << 20, ofBytes: 200 << 20))
        try kernel.setGroup("/tenant/app", usedMiB: 99, maxMiB: 100)
        #expect(kernel.pressure.reading().used == Amount(bytes: 99 << 20, ofBytes: 100 << 20))
    }

    /// With version 1 the process has a group in each hierarchy; only the memory group matters.
    static let version1Lines = "9:name=systemd:/other\n4:cpu,memory:/docker/1f2e\n3:cpuset:/other\n0::/other\n"

    @Test func `Version 1 is read where it accounts for memory`() throws {
        let kernel = try FakeKernel()
        try kernel.write(Self.version1Lines, to: "/proc/self/cgroup")
        try kernel.setVersion1Group("/docker/1f2e", usedMiB: 95, limitMiB: 100, fileCacheMiB: 20)
        try kernel.setVersion1Group("", usedMiB: 900, limitMiB: nil)
        #expect(kernel.pressure.reading().used == Amount(bytes: 75 << 20, ofBytes: 100 << 20))
    }

    @Test func `In a container where the host's path doesn't exist, the top is the container's own group`() throws {
        let kernel = try FakeKernel()
        try kernel.write(Self.version1Lines, to: "/proc/self/cgroup")
        try kernel.setVersion1Group("", usedMiB: 95, limitMiB: 100)
        #expect(kernel.pressure.reading().used == Amount(bytes: 95 << 20, ofBytes: 100 << 20))
    }

    @Test func `A path out of the mounted hierarchy counts as the top`() throws {
        let kernel = try FakeKernel()
        try kernel.write("0::/../neighbor\n", to: "/proc/self/cgroup")
        try kernel.setGroup("/../neighbor", usedMiB: 100, maxMiB: 100)
        #expect(kernel.pressure.reading().used == nil)
        try kernel.setGroup("", usedMiB: 50, maxMiB: 100)
        #expect(kernel.pressure.reading().used?.bytes == 50 << 20)
    }

    @Test(arguments: [nil, 1000, 4000])
    func `A limit above the machine's memory is none`(limitMiB: Int?) throws {
        let kernel = try FakeKernel(availableMiB: 40)
        try kernel.write("0::/\n", to: "/proc/self/cgroup")
        try kernel.setGroup("", usedMiB: 950, maxMiB: limitMiB)
        let reading = kernel.pressure.reading()
        #expect(reading.used == nil)
        #expect(reading.available == Amount(bytes: 40 << 20, ofBytes: 1000 << 20))
        #expect(reading.level(after: .none) == .high)
    }

    @Test func `The stalls of the process's own group take precedence over the machine's`() throws {
        let kernel = try FakeKernel()
        try kernel.write("0::/app\n", to: "/proc/self/cgroup")
        try kernel.setStalled(percent: "12.50")
        #expect(kernel.pressure.reading().stalledShare == 0.125)
        try kernel.setStalled(percent: "3.00", in: "/sys/fs/cgroup/app/memory.pressure")
        #expect(kernel.pressure.reading().stalledShare == 0.03)
    }

    @Test func `A machine without these files has no pressure`() throws {
        let reading = try FakeKernel(availableMiB: nil).pressure.reading()
        #expect(reading == Self.reading())
        #expect(reading.level(after: .high) == .none)
    }

    static let files = [
        "/proc/self/cgroup", "/proc/meminfo", "/proc/pressure/memory", "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat", "/sys/fs/cgroup/memory.pressure",
    ]
    static let nonsense = [
        "", "\n", "\0\0\0", "-1", "0", "nan", "99999999999999999999999999", "some avg10=nan", "some avg10=-1",
        "some avg10=1e9", "some", "::", "0::", "0::/\u{FFFD}", "MemTotal: 0 kB\nMemAvailable: 0 kB",
        "MemTotal: 9223372036854775807 kB\nMemAvailable: 1 kB", "inactive_file\nactive_file",
        "inactive_file -1\nactive_file x",
        String(repeating: "1", count: 1 << 20), String(repeating: "/a", count: 3000),
    ]

    @Test(arguments: files, nonsense)
    func `A malformed file is no pressure`(path: String, text: String) throws {
        let kernel = try FakeKernel()
        try kernel.write("0::/\n", to: "/proc/self/cgroup")
        try kernel.setGroup("", usedMiB: 10, maxMiB: 100)
        try kernel.setStalled(percent: "0.00", in: "/sys/fs/cgroup/memory.pressure")
        #expect(kernel.pressure.reading().level(after: .none) == .none)
        try kernel.write(text, to: path)
        #expect(kernel.pressure.reading().level(after: .none) == .none)
    }

    @Test(arguments: [
        "MemTotal: 0 kB\nMemAvailable: 0 kB\n", "MemTotal: -1 kB\nMemAvailable: 0 kB\n", "MemTotal: 1000 kB\n",
        // 1 KiB more than 64 bits can hold.
        "MemTotal: 18014398509481985 kB\nMemAvailable: 0 kB\n",
        "MemTotal: 1000 kB\nMemAvailable: 10 kB\n" + String(repeating: "\n", count: 64 << 10),
    ])
    func `Implausible figures of the machine are ignored, and the group is judged without them`(text: String) throws {
        let kernel = try FakeKernel()
        try kernel.write(text, to: "/proc/meminfo")
        try kernel.write("0::/\n", to: "/proc/self/cgroup")
        try kernel.setGroup("", usedMiB: 95, maxMiB: 100)
        let reading = kernel.pressure.reading()
        #expect(reading.available == nil)
        #expect(reading.level(after: .none) == .high)
    }

    @Test func `Use without statistics is ignored, since it may be file cache alone`() throws {
        let kernel = try FakeKernel()
        try kernel.write("0::/\n", to: "/proc/self/cgroup")
        try kernel.setGroup("", usedMiB: 100, maxMiB: 100)
        #expect(kernel.pressure.reading().level(after: .none) == .high)
        try FileManager.default.removeItem(atPath: kernel.realPath("/sys/fs/cgroup/memory.stat"))
        #expect(kernel.pressure.reading().level(after: .none) == .none)
    }

    @Test func `Reading never waits for a pipe or fails on a folder`() throws {
        let kernel = try FakeKernel(availableMiB: nil)
        let path = kernel.realPath("/proc/meminfo")
        try FileManager.default.createDirectory(atPath: kernel.realPath("/proc"), withIntermediateDirectories: true)
        #expect(mkfifo(path, 0o600) == 0)
        #expect(kernel.pressure.reading().available == nil)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(kernel.pressure.reading().available == nil)
    }

    #if os(Linux)
        @Test func `The machine that runs this test reports its available memory`() throws {
            let available = try #require(MemoryPressure().reading().available)
            #expect(available.bytes > 0)
            #expect(available.bytes < available.ofBytes)
            #expect(available.ofBytes <= ProcessInfo.processInfo.physicalMemory)
        }
    #endif
}
