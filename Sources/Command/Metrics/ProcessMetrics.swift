import DarkroomMachine
import DarkroomTransforms
import Foundation

/// The build, and the standard process metrics of Prometheus client libraries, as far as this platform reports them.
struct ProcessMetrics: Sendable {
    let startedAt: Date

    var families: [MetricFamily] {
        let memory = ProcessMemory.current
        let readings: [MetricFamily?] = [
            Self.build,
            ProcessorTime.ofThisProcess.map {
                MetricFamily(
                    "process_cpu_seconds_total", .counter, help: "Total user and system CPU time spent in seconds.",
                    $0 / .seconds(1))
            },
            memory.map { .gauge("process_resident_memory_bytes", "Resident memory size in bytes.", $0.residentBytes) },
            memory.map { .gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", $0.mappedBytes) },
            FileDescriptors.openCount.map { .gauge("process_open_fds", "Number of open file descriptors.", $0) },
            DescriptorLimit.current.map { .gauge("process_max_fds", "Maximum number of open file descriptors.", $0) },
            MetricFamily(
                "process_start_time_seconds", .gauge,
                help: "Start time of the process since the Unix epoch, in seconds.", startedAt.timeIntervalSince1970),
            .gauge(
                "darkroom_memory_limit_bytes",
                "Memory that the server and its workers may use: the lowest limit of their control groups, or the "
                    + "memory of the machine.", ResourceLimits.current.memoryBytes),
        ]
        return readings.compactMap(\.self)
    }

    private static let build = MetricFamily(
        "darkroom_build_info", .gauge,
        help: "1, labeled with the versions of Darkroom, libvips and its codecs, and the vector instructions in use.",
        [
            .init(
                SeriesLabels([
                    ("version", Darkroom.release), ("libvips", InstalledCodecs.libvipsVersion),
                    ("simd", InstalledCodecs.current.vectorUnit),
                    ("codecs", InstalledCodecs.current.codecs.joined(separator: ", ")),
                ]), .number(1))
        ])
}
