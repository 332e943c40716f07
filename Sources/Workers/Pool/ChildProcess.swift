import DarkroomCSandbox
import DarkroomMachine
import Foundation
import Synchronization

/// A child process, a worker or the zygote, and the server's end of the socket to it. Releasing this object kills and
/// reaps the process.
final class ChildProcess: Sendable {
    let identifier: pid_t
    let socket: MessageSocket
    /// A descriptor that is readable once the process has exited.
    let exitDescriptor: Int32
    private let reaped = Mutex<Reaped?>(nil)
    private let yields = Atomic(false)

    private struct Reaped {
        let status: ExitStatus
        let processorMilliseconds: Int
    }

    /// - Parameters:
    ///   - identifier: of a child that was just started, so that the number cannot belong to another process.
    ///   - socket: is closed with this object.
    init(_ identifier: pid_t, socket: Int32) {
        self.identifier = identifier
        self.socket = MessageSocket(descriptor: socket, maxBodyBytes: MessageSocket.maxBodyBytes)
        exitDescriptor = darkroom_process_descriptor(identifier)
    }

    /// Makes a socket, and lets `start` start a process with its other end.
    static func starting(
        _ start: (Int32) throws(WorkerStartError) -> pid_t
    ) throws(WorkerStartError) -> ChildProcess {
        var sockets: [Int32] = [-1, -1]
        // Twice the maximum size of a body, because the system also counts its own overhead.
        let failure = darkroom_socket_pair(&sockets, Int32(2 * MessageSocket.maxBodyBytes))
        guard failure != -ENOSYS else { throw .unsupported }
        guard failure == 0 else { throw .failed("\(WireError.system(-failure))") }
        defer { close(sockets[1]) }
        do throws(WorkerStartError) {
            return ChildProcess(try start(sockets[1]), socket: sockets[0])
        } catch {
            close(sockets[0])
            throw error
        }
    }

    /// Executes a file whose descriptor 3 is the socket; it inherits no other descriptor.
    static func spawn(
        _ path: String, _ arguments: [String], environment: [String], socket: Int32
    ) throws(WorkerStartError) -> pid_t {
        let process = withCStrings(arguments) { arguments in
            withCStrings(environment) { environment in darkroom_spawn(path, arguments, environment, socket) }
        }
        guard process > 0 else { throw .failed("\(WireError.system(-process))") }
        return process
    }

    deinit {
        _ = terminate()
        close(socket.descriptor)
        if exitDescriptor >= 0 { close(exitDescriptor) }
    }

    func kill() {
        // Under the lock: once the process is reaped, its id may belong to another process.
        reaped.withLock { reaped in
            if reaped == nil { _ = Foundation.kill(identifier, SIGKILL) }
        }
    }

    /// Whether ``yieldProcessor()`` was called.
    var yieldsProcessor: Bool { yields.load(ordering: .relaxed) }

    /// Lets the process run only while a processor would be idle otherwise. Without privileges, this cannot be undone.
    func yieldProcessor() {
        guard !yields.exchange(true, ordering: .relaxed) else { return }
        // Under the lock, like ``kill()``.
        reaped.withLock { reaped in
            if reaped == nil { _ = darkroom_run_when_idle(identifier) }
        }
    }

    /// How the process exited; nil while it runs.
    var exitStatus: ExitStatus? { reap(WNOHANG) }

    /// Kills the process if it still runs and returns how it exited. A process that had already exited keeps its own
    /// status.
    func terminate() -> ExitStatus {
        kill()
        return reap(0) ?? .signaled(SIGKILL)
    }

    private func reap(_ options: Int32) -> ExitStatus? {
        reaped.withLock { reaped in
            var status: Int32 = 0
            var usage = rusage()
            var process: pid_t = -1
            if reaped == nil {
                repeat { process = wait4(identifier, &status, options, &usage) } while process < 0 && errno == EINTR
            }
            if process == identifier {
                reaped = Reaped(
                    status: ExitStatus(status: status),
                    processorMilliseconds: usage.ru_utime.milliseconds + usage.ru_stime.milliseconds)
            }
            return reaped?.status
        }
    }

    /// Resident memory in bytes; 0 if the kernel does not report it.
    var residentBytes: Int { ProcessMemory.ofProcess(identifier)?.residentBytes ?? 0 }

    /// CPU time used, in milliseconds, after the exit too; 0 if the kernel does not report it.
    var processorMilliseconds: Int {
        // Under the lock, like ``kill()``.
        reaped.withLock { reaped in
            reaped?.processorMilliseconds ?? max(Int(darkroom_processor_milliseconds(identifier)), 0)
        }
    }
}

extension timeval {
    fileprivate var milliseconds: Int { Int(tv_sec) * 1000 + Int(tv_usec) / 1000 }
}

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
