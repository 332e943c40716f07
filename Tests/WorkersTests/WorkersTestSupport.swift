import DarkroomRequests
import DarkroomTransforms
import Foundation
import Logging
import NIOCore
import Synchronization
import Testing

@testable import DarkroomWorkers

extension WorkerConfiguration {
    /// At most one worker and the spare, of the executable beside the test bundle.
    static func testing(_ change: (inout WorkerConfiguration) -> Void = { _ in }) -> WorkerConfiguration {
        var configuration = WorkerConfiguration(workers: 1, decodedBytes: 64 << 20)
        configuration.executable =
            URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("darkroom").path
        configuration.grace = .milliseconds(20)
        // Workers have a low priority, and get little of the processors of a machine that is busy otherwise.
        configuration.jobTimeout = .seconds(240)
        change(&configuration)
        return configuration
    }
}

/// Starts a shell script in place of each worker, whose descriptor 3 is the socket.
struct ScriptLauncher: WorkerLauncher {
    let file: URL
    let lossDescriptor: Int32 = -1

    /// - Parameter lines: may use `hello`, which says that all layers are in force, and `take`, which takes a message.
    init(_ lines: String, layers: [IsolationLayer] = IsolationLayer.allCases) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("darkroom-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appendingPathComponent("worker.sh")
        let preamble = """
            take() { dd bs=200000 count=1 <&3 >/dev/null 2>&1; }
            hello() { \(try Self.saying(WorkerHello(layers: layers))); }

            """
        try (preamble + lines).write(to: file, atomically: true, encoding: .utf8)
    }

    /// The command that sends a message.
    static func saying(_ message: some Encodable) throws -> String { saying(try message.encoded) }

    static func saying(_ bytes: [UInt8]) -> String {
        let digits = bytes.map { byte in
            let octal = String(byte, radix: 8)
            return "\\" + String(repeating: "0", count: 3 - octal.count) + octal
        }
        return "printf '\(digits.joined())' >&3"
    }

    func launch(socket: Int32) throws(WorkerStartError) -> pid_t {
        try ChildProcess.spawn("/bin/sh", ["sh", file.path], environment: [], socket: socket)
    }

    func renew() {}
}

extension Encodable {
    /// The message as it is sent.
    var encoded: [UInt8] {
        get throws { try Array(WireEncoder.bytes(of: self).readableBytesView) }
    }
}

extension Decodable {
    /// The message that these bytes begin with.
    static func decoding(_ bytes: [UInt8]) throws -> Self {
        var bytes = ByteBuffer(bytes: bytes)
        return try WireDecoder.read(Self.self, from: &bytes)
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
    let launcher: any WorkerLauncher
    private let supervisions: AsyncStream<Void>
    var pool: WorkerPool { processor.pool }

    /// - Parameter launcher: by default one with a zygote.
    init(
        _ configuration: WorkerConfiguration = .testing(), launcher: (any WorkerLauncher)? = nil
    ) async throws {
        self.launcher = launcher ?? ZygoteLauncher(configuration)
        let (supervisions, supervision) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.supervisions = supervisions
        processor = try await WorkerImageProcessor(
            configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, launcher: self.launcher
        ) { supervision.yield() }
    }

    /// Workers that run a script.
    convenience init(
        script: String, layers: [IsolationLayer] = IsolationLayer.allCases,
        _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) async throws {
        try await self.init(.testing(change), launcher: try ScriptLauncher(script, layers: layers))
    }

    deinit { processor.stop() }

    /// The process ids of all workers.
    var workers: Set<Int32> { Set(pool.state.withLock { $0.table.processes.map(\.identifier) }) }

    /// The worker that has the job.
    var busyWorker: Int32? {
        pool.state.withLock { $0.table.busy.first?.identifier }
    }

    /// Returns once that holds: looks again whenever the supervisor has done something.
    func until(_ holds: (WorkerSite) -> Bool) async throws {
        if holds(self) { return }
        for await _ in supervisions where holds(self) { return }
        throw CancellationError()
    }

    /// All workers are there that should be.
    func ready() async throws {
        try await until { site in
            let statistics = site.processor.statistics
            return statistics.ready >= statistics.configured
        }
    }

    /// Has that many workers, by using them all at once.
    func spread(over count: Int) {
        let lent = (0..<count).compactMap { _ in pool.take(for: nil) { false } }
        for worker in lent { pool.release(worker.number, worker.decoded) }
    }

    func signal(_ number: Int32, _ workers: some Sequence<Int32>) {
        for worker in workers { kill(worker, number) }
    }

    /// Runs a job whose worker is stopped when it has it. `event` is called then, with that worker's process id, and
    /// again until the job is over; the others run again by then. What it returns is the answer to whether the job is
    /// to end.
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
