import DarkroomMachine
import DarkroomTransforms
import NIOCore

/// One request to one worker and its reply. Every byte from the worker is treated as hostile.
struct WorkerCall {
    let worker: WorkerProcess
    let configuration: WorkerConfiguration
    let interrupt: Interrupt

    /// Why there is no reply. The worker must be discarded after any of these.
    enum Failure: Error, Equatable {
        /// The worker had exited before the request was sent.
        case notSent
        /// The worker exited without being killed by the server.
        case exited(ExitStatus)
        /// The reply violates the protocol.
        case protocolViolation
        /// The worker exceeded ``WorkerConfiguration/memoryBytes``.
        case memoryExceeded
        /// The worker ignored a cancellation. `after` is how long the job had run.
        case unresponsive(after: Duration)

        /// Whether another process or the kernel killed the worker.
        var isExternal: Bool {
            if case .exited(let status) = self { status.isExternal } else { false }
        }
    }

    /// Milliseconds between checks of the worker's memory and of `interrupt`.
    private static let pollInterval: Int32 = 10

    /// Sends the request and waits for the reply while the worker stays within its limits.
    func send(
        _ request: WorkerRequest, with memory: MemoryFile? = nil
    ) throws(Failure) -> (reply: WorkerReply, memory: MemoryFile?) {
        do { try worker.socket.send(request, with: memory) } catch { throw .notSent }
        let start = ContinuousClock.now
        var canceledAt: ContinuousClock.Instant?
        while true {
            switch worker.socket.wait(milliseconds: Self.pollInterval) {
            case .message: return try reply()
            case .closed: throw .exited(worker.terminate())
            case .nothing: break
            }
            if worker.residentBytes > configuration.memoryBytes { throw .memoryExceeded }
            if let canceledAt {
                guard canceledAt.duration(to: .now) < configuration.grace else {
                    throw .unresponsive(after: start.duration(to: .now))
                }
            } else if start.duration(to: .now) > configuration.jobTimeout || interrupt() {
                canceledAt = .now
                try? worker.socket.send(WorkerRequest.cancel)
            }
        }
    }

    private func reply() throws(Failure) -> (reply: WorkerReply, memory: MemoryFile?) {
        do throws(WireError) {
            let (reply, memory) = try worker.socket.receive(WorkerReply.self)
            guard reply.decoded.isPlausible else { throw .malformed }
            return (reply, memory)
        } catch {
            throw error == .closed ? .exited(worker.terminate()) : .protocolViolation
        }
    }
}

extension DecodedStatistics {
    /// Whether sums of such numbers fit in an `Int`.
    fileprivate var isPlausible: Bool { [entries, bytes, hits, misses].allSatisfy((0...1 << 40).contains) }
}
