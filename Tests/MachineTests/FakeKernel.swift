import Foundation

@testable import DarkroomMachine

/// A folder in place of `/proc` and `/sys`, of a machine with 1000 MiB.
struct FakeKernel {
    private let folder = Folder()

    init(availableMiB: Int? = 500) throws {
        if let availableMiB { try setAvailable(miB: availableMiB) }
    }

    /// Removed with the last reference.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.path + "/darkroom-machine-\(UUID().uuidString)"

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    var pressure: MemoryPressure { MemoryPressure(root: folder.path) }

    func write(_ text: String, to path: String) throws {
        let url = URL(fileURLWithPath: realPath(path))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// The path on this machine of a path on the fake one.
    func realPath(_ path: String) -> String { folder.path + path }

    func setAvailable(miB: Int) throws {
        let text = "MemTotal:        1024000 kB\nMemFree:           10000 kB\nMemAvailable:   \(miB * 1024) kB\n"
        try write(text, to: "/proc/meminfo")
    }

    func setStalled(percent: String, in path: String = "/proc/pressure/memory") throws {
        let line = "avg10=\(percent) avg60=99.00 avg300=99.00 total=47101837"
        try write("some \(line)\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", to: path)
    }

    /// A control group of version 2 with two thirds of its file cache inactive.
    func setGroup(
        _ path: String, usedMiB: Int, maxMiB: Int?, highMiB: Int? = nil, fileCacheMiB: Int = 0
    ) throws {
        let folder = "/sys/fs/cgroup" + path
        try write("\(usedMiB << 20)\n", to: folder + "/memory.current")
        try write(maxMiB.map { "\($0 << 20)\n" } ?? "max\n", to: folder + "/memory.max")
        try write(highMiB.map { "\($0 << 20)\n" } ?? "max\n", to: folder + "/memory.high")
        let activeBytes = (fileCacheMiB << 20) / 3
        try write(
            "anon 1\nfile 2\ninactive_anon 3\nactive_anon 4\ninactive_file \((fileCacheMiB << 20) - activeBytes)\n"
                + "active_file \(activeBytes)\nunevictable 0\n", to: folder + "/memory.stat")
    }

    /// A control group of version 1; without a limit it has the number that the kernel writes then.
    func setVersion1Group(_ path: String, usedMiB: Int, limitMiB: Int?, fileCacheMiB: Int = 0) throws {
        let folder = "/sys/fs/cgroup/memory" + path
        try write("\(usedMiB << 20)\n", to: folder + "/memory.usage_in_bytes")
        try write(limitMiB.map { "\($0 << 20)\n" } ?? "9223372036854771712\n", to: folder + "/memory.limit_in_bytes")
        try write(
            "cache 1\ninactive_file 0\nactive_file 0\ntotal_inactive_file \(fileCacheMiB << 20)\ntotal_active_file 0\n",
            to: folder + "/memory.stat")
    }
}
