import DarkroomTransforms
import Foundation
import Logging
import NIOCore
import Synchronization
import Testing

@testable import DarkroomWorkers

extension WorkerConfiguration {
    /// One worker and the spare, of the executable beside the test bundle.
    static func testing(_ change: (inout WorkerConfiguration) -> Void = { _ in }) -> WorkerConfiguration {
        var configuration = WorkerConfiguration(workers: 1, decodedBytes: 64 << 20)
        configuration.executable =
            URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("darkroom").path
        configuration.grace = .milliseconds(20)
        change(&configuration)
        return configuration
    }

    /// Workers that are a shell script, whose descriptor 3 is the socket.
    static func script(
        _ lines: String, _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) throws -> WorkerConfiguration {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("darkroom-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("worker.sh")
        let preamble = """
            take() { dd bs=70000 count=1 <&3 >/dev/null 2>&1; }
            hello() { take; printf '{"layers":["bound","limits","landlock","seccomp"]}' >&3; }

            """
        try (preamble + lines).write(to: file, atomically: true, encoding: .utf8)
        return testing { configuration in
            configuration.executable = "/bin/sh"
            configuration.subcommand = file.path
            change(&configuration)
        }
    }
}

/// A processor with its workers, which are gone with it.
final class WorkerSite: Sendable {
    #if os(Linux)
        static let isSupported = true
    #else
        static let isSupported = false
    #endif

    let processor: WorkerImageProcessor
    var pool: WorkerPool { processor.pool }

    init(_ configuration: WorkerConfiguration = .testing()) async throws {
        processor = try await WorkerImageProcessor(
            configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    deinit { processor.stop() }

    /// The process ids of all workers.
    var workers: Set<Int32> { Set(pool.state.withLock { $0.table.processes.map(\.identifier) }) }

    /// The worker that has the job.
    var busyWorker: Int32? {
        pool.state.withLock { $0.table.busy.first?.identifier }
    }

    /// Returns once that holds, or the test's time is over.
    func until(_ holds: (WorkerSite) -> Bool) async throws {
        while !holds(self) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// All workers are there.
    func ready() async throws { try await until { $0.processor.statistics.ready == $0.pool.configuration.processes } }

    func signal(_ number: Int32, _ workers: some Sequence<Int32>) {
        for worker in workers { kill(worker, number) }
    }

    /// Runs a job whose worker is stopped when it has it. `event` is called then, with that worker's process id, and again until the
    /// job is over; the others run again by then. What it returns is the answer to whether the job is to end.
    func process(
        _ job: ImageJob, event: @escaping @Sendable (Int32, _ call: Int) -> Bool
    ) async throws -> ProcessedImage {
        try await ready()
        signal(SIGSTOP, workers)
        let calls = Mutex(0)
        return try processor.process(job) { [self] in
            guard let busyWorker else { return false }
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            if call == 1 { signal(SIGCONT, workers.subtracting([busyWorker])) }
            return event(busyWorker, call)
        }
    }
}

extension ImageJob {
    /// A drawing of 40 by 30 pixels.
    static func drawing(
        identity: String? = "drawing", width: Int = 20, cachesDecoded: Bool = false, format: OutputFormat = .png
    ) -> ImageJob {
        var recipe = Recipe()
        recipe.box = Box(width: width, height: nil)
        return ImageJob(
            source: ByteBuffer(
                string: """
                    <svg xmlns="http://www.w3.org/2000/svg" width="40" height="30">\
                    <rect width="25" height="30" fill="#c40"/></svg>
                    """), identity: identity, cachesDecoded: cachesDecoded, chain: TransformChain(recipe),
            output: OutputOptions(format: format))
    }
}
