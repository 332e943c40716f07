import DarkroomCSandbox
import DarkroomMachine
import Foundation
import NIOCore
import Synchronization

/// A worker process and the server's end of the socket to it. Releasing this object kills and reaps the process.
final class WorkerProcess: Sendable {
    let identifier: pid_t
    let socket: MessageSocket
    /// A descriptor that is readable once the process has exited.
    let exitDescriptor: Int32
    private let reapedStatus = Mutex<ExitStatus?>(nil)

    /// Call this on a thread that outlives the worker: the kernel kills a worker when the thread that started it exits.
    init(_ configuration: WorkerConfiguration) throws(WireError) {
        var sockets: [Int32] = [-1, -1]
        _ = try WireError.checked(darkroom_socket_pair(&sockets))
        let (ours, theirs) = (sockets[0], sockets[1])
        defer { close(theirs) }
        let started = Self.start(configuration, socket: theirs)
        guard started > 0 else {
            close(ours)
            throw .system(-started)
        }
        socket = MessageSocket(descriptor: ours)
        identifier = started
        exitDescriptor = darkroom_process_descriptor(started)
        try socket.send(configuration.setup)
    }

    deinit {
        _ = terminate()
        close(socket.descriptor)
        if exitDescriptor >= 0 { close(exitDescriptor) }
    }

    /// The environment is empty except for the library search paths. Swift's crash handlers are off: they would run in a
    /// process that can no longer be trusted.
    private static func start(_ configuration: WorkerConfiguration, socket: Int32) -> Int32 {
        let kept = ["LD_LIBRARY_PATH", "LD_PRELOAD"].compactMap { name in
            ProcessInfo.processInfo.environment[name].map { "\(name)=\($0)" }
        }
        return withCStrings(["darkroom", configuration.subcommand]) { arguments in
            withCStrings(["LANG=C.UTF-8", "HOME=/", "SWIFT_BACKTRACE=enable=no"] + kept) { environment in
                darkroom_spawn(configuration.executable, arguments, environment, socket)
            }
        }
    }

    func kill() {
        // Under the lock: once the process is reaped, its id may belong to another process.
        reapedStatus.withLock { status in
            if status == nil { _ = Foundation.kill(identifier, SIGKILL) }
        }
    }

    /// How the process exited; nil while it runs.
    var exitStatus: ExitStatus? { reap(WNOHANG) }

    /// Kills the process if it still runs and returns how it exited. A process that had already exited keeps its own status.
    func terminate() -> ExitStatus {
        kill()
        return reap(0) ?? .signaled(SIGKILL)
    }

    private func reap(_ options: Int32) -> ExitStatus? {
        reapedStatus.withLock { reaped in
            var status: Int32 = 0
            var process: pid_t = -1
            if reaped == nil {
                repeat { process = waitpid(identifier, &status, options) } while process < 0 && errno == EINTR
            }
            if process == identifier { reaped = ExitStatus(status: status) }
            return reaped
        }
    }

    /// Resident memory in bytes; 0 if the kernel does not report it.
    var residentBytes: Int { ProcessMemory.ofProcess(identifier)?.residentBytes ?? 0 }

    /// CPU time used, in whole seconds.
    var processorSeconds: Int { Int(darkroom_processor_milliseconds(identifier) / 1000) }
}

/// How a process exited.
enum ExitStatus: Equatable, Sendable, CustomStringConvertible {
    case exited(Int32)
    case signaled(Int32)

    /// - Parameter status: as reported by `waitpid(2)`.
    init(status: Int32) {
        let signal = status & 0x7f
        self = signal == 0 ? .exited(status >> 8 & 0xff) : .signaled(signal)
    }

    /// Whether another process or the kernel (out of memory) sent the signal: decoders do not crash with these.
    var isExternal: Bool { [SIGKILL, SIGTERM, SIGINT, SIGHUP].map(ExitStatus.signaled).contains(self) }

    var description: String {
        switch self {
        case .exited(let status): "exit status \(status)"
        case .signaled(let signal): "signal \(signal)"
        }
    }
}

/// Passes strings as a null-terminated array of C strings.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return body(&pointers)
}
