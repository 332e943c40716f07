import DarkroomCSandbox
import DarkroomMachine
import Foundation
import NIOCore
import Synchronization

/// A child process and our end of the socket to it. It is killed and reaped with this object at the latest.
final class WorkerProcess: Sendable {
    let identifier: pid_t
    let socket: MessageSocket
    /// Readable once the process has ended.
    let ended: Int32
    private let ending = Mutex<Ending?>(nil)

    /// Call it on a thread that outlives the worker: the kernel kills a worker together with the thread that started it.
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
        ended = darkroom_process_descriptor(started)
        try socket.send(configuration.setup)
    }

    deinit {
        _ = end()
        close(socket.descriptor)
        if ended >= 0 { close(ended) }
    }

    /// The environment has nothing of the server's but where libraries are found. Swift's own handlers for crashes are off: they would
    /// run in a process that is no longer to be trusted.
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
        // Under the lock, for once it is reaped the number may be another process's.
        ending.withLock { ending in
            if ending == nil { _ = Foundation.kill(identifier, SIGKILL) }
        }
    }

    /// How it ended, or nil while it runs.
    var endingSoFar: Ending? { reap(WNOHANG) }

    /// Kills it where it still runs, and gives how it ended: one that ends already keeps its own reason.
    func end() -> Ending {
        kill()
        return reap(0) ?? .signalled(SIGKILL)
    }

    private func reap(_ options: Int32) -> Ending? {
        ending.withLock { ending in
            var status: Int32 = 0
            var reaped: pid_t = -1
            if ending == nil {
                repeat { reaped = waitpid(identifier, &status, options) } while reaped < 0 && errno == EINTR
            }
            if reaped == identifier { ending = Ending(status: status) }
            return ending
        }
    }

    /// Its resident memory, in bytes; 0 where the kernel doesn't report it.
    var residentBytes: Int { ProcessMemory.ofProcess(identifier)?.residentBytes ?? 0 }

    /// Processor time that it has taken.
    var processorSeconds: Int { Int(darkroom_processor_milliseconds(identifier) / 1000) }
}

/// Lends texts as C has them: an array of pointers with a null pointer at its end.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return body(&pointers)
}
