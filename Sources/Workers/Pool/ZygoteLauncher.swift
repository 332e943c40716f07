import Foundation
import Synchronization

/// Starts worker processes. Only the ``Supervisor`` calls it, on a thread that outlives the workers: the kernel kills
/// them when the thread that they belong to exits.
protocol WorkerLauncher: Sendable {
    /// Starts a worker with this end of its socket and returns its process id. The worker is a child of this process.
    func launch(socket: Int32) throws(WorkerStartError) -> pid_t

    /// Readable when ``renew()`` should be called; -1 = never.
    var lossDescriptor: Int32 { get }

    /// Gets ready to launch workers again without delay.
    func renew() throws(WorkerStartError)
}

/// Forks workers from a ``Zygote``, which it starts when none is running. Workers outlive their zygote.
final class ZygoteLauncher: WorkerLauncher {
    /// Maximum time from the start of a zygote to its readiness.
    private static let startMilliseconds: Int32 = 30_000
    /// Maximum time of a fork, which takes about one millisecond.
    private static let forkMilliseconds: Int32 = 2_000

    private let configuration: WorkerConfiguration
    private let zygote = Mutex<ChildProcess?>(nil)

    init(_ configuration: WorkerConfiguration) {
        self.configuration = configuration
    }

    func launch(socket: Int32) throws(WorkerStartError) -> pid_t {
        let zygote = try readyZygote()
        let reply: WorkerFork
        do throws(WireError) {
            try zygote.socket.send(WorkerFork(), attached: socket)
            // The second fork waits until the zygote has made the detector of faces, which takes processor time.
            let limit = configuration.findsFaces ? Self.startMilliseconds : Self.forkMilliseconds
            reply = try self.reply(of: zygote, within: limit)
        } catch {
            self.zygote.withLock { $0 = nil }
            throw .failed("the zygote could not fork: \(error)")
        }
        // The zygote exits.
        if reply.process == -Int(EBUSY) { self.zygote.withLock { $0 = nil } }
        return try reply.worker()
    }

    var lossDescriptor: Int32 { zygote.withLock { $0?.exitDescriptor ?? -1 } }

    func renew() throws(WorkerStartError) {
        zygote.withLock { zygote in
            if zygote?.exitStatus != nil { zygote = nil }
        }
        _ = try readyZygote()
    }

    /// The process id of the zygote, if one is running.
    var identifier: pid_t? { zygote.withLock { $0?.identifier } }

    private func readyZygote() throws(WorkerStartError) -> ChildProcess {
        if let zygote = zygote.withLock({ $0 }) { return zygote }
        let started = try ChildProcess.starting(start)
        do throws(WireError) {
            try started.socket.send(configuration.setup)
            _ = try reply(of: started, within: Self.startMilliseconds)
        } catch {
            throw .failed("the zygote did not become ready: \(started.terminate())")
        }
        zygote.withLock { $0 = started }
        return started
    }

    private func reply(of zygote: ChildProcess, within milliseconds: Int32) throws(WireError) -> WorkerFork {
        guard zygote.socket.wait(milliseconds: milliseconds) == .message else { throw .closed }
        return try zygote.socket.receive(WorkerFork.self).message
    }

    /// The environment is empty except for the library search paths. Swift's crash handlers are off: they would run in
    /// a process that can no longer be trusted. A worker has one thread. libimagequant, which makes the palettes of GIF
    /// and PNG, would start more with OpenMP; they would use a second processor and mostly wait for each other.
    private func start(socket: Int32) throws(WorkerStartError) -> pid_t {
        let kept = ["LD_LIBRARY_PATH", "LD_PRELOAD"].compactMap { name in
            ProcessInfo.processInfo.environment[name].map { "\(name)=\($0)" }
        }
        return try ChildProcess.spawn(
            configuration.executable, ["darkroom", configuration.subcommand],
            environment: ["LANG=C.UTF-8", "HOME=/", "SWIFT_BACKTRACE=enable=no", "OMP_NUM_THREADS=1"] + kept,
            socket: socket)
    }
}
