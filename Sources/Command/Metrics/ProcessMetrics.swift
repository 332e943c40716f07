import DarkroomMachine
import DarkroomMetrics
import DarkroomTransforms
import Foundation

/// The build, and the standard process metrics of Prometheus client libraries. Those that this platform does not report
/// are missing.
struct ProcessMetrics: Sendable {
    let startedAt: Date

    private struct Reading {
        let name: String
        let kind: MetricFamily.Kind
        let help: String
        let value: Double?

        init(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: (some BinaryInteger)?) {
            self.init(name, kind, help, value.map { Double($0) })
        }

        init(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: Double?) {
            self.name = name
            self.kind = kind
            self.help = help
            self.value = value
        }
    }

    var families: [MetricFamily] {
        let memory = ProcessMemory.current
        let readings = [
            Reading(
                "process_cpu_seconds_total", .counter, "Total user and system CPU time spent in seconds.",
                ProcessorTime.ofThisProcess.map { $0 / .seconds(1) }),
            Reading(
                "process_resident_memory_bytes", .gauge, "Resident memory size in bytes.", memory?.residentBytes),
            Reading("process_virtual_memory_bytes", .gauge, "Virtual memory size in bytes.", memory?.mappedBytes),
            Reading("process_open_fds", .gauge, "Number of open file descriptors.", FileDescriptors.openCount),
            Reading("process_max_fds", .gauge, "Maximum number of open file descriptors.", DescriptorLimit.current),
            Reading(
                "process_start_time_seconds", .gauge, "Start time of the process since the Unix epoch, in seconds.",
                startedAt.timeIntervalSince1970),
            Reading(
                "darkroom_memory_limit_bytes", .gauge,
                "Memory that the server and its workers may use: the lowest limit of their control groups, or the "
                    + "memory of the machine.", ResourceLimits.current.memoryBytes),
        ]
        return [Self.build]
            + readings.compactMap { reading in
                reading.value.map { MetricFamily(reading.name, reading.kind, help: reading.help, $0) }
            }
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
