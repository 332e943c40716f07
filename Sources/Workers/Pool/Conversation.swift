import DarkroomTransforms
import NIOCore

/// One request to one worker and what comes of it. Each byte from the worker may be hostile.
struct Conversation {
    let worker: WorkerProcess
    let configuration: WorkerConfiguration
    let interrupt: Interrupt

    /// Why there is no reply. The worker is of no further use after any of them.
    enum Loss: Error, Equatable {
        /// It was gone before it had the request.
        case unreached
        /// It ended, and not by us.
        case ended(Ending)
        /// It said something that an honest worker does not say.
        case garbled
        /// It had more in memory than it may.
        case tooMuchMemory
        /// It went on after its job was cancelled. How long the job has run.
        case unresponsive(after: Duration)

        /// Whether somebody else killed it.
        var isFromOutside: Bool {
            if case .ended(let ending) = self { ending.isFromOutside } else { false }
        }
    }

    /// Milliseconds between looks at the worker's memory and at `interrupt`.
    private static let pause: Int32 = 10

    /// Waits for the reply, and for as long as the worker behaves.
    func ask(
        _ request: WorkerRequest, with memory: SealedMemory? = nil
    ) throws(Loss) -> (reply: WorkerReply, memory: SealedMemory?) {
        do { try worker.socket.send(request, with: memory) } catch { throw .unreached }
        let start = ContinuousClock.now
        var cancelled: ContinuousClock.Instant?
        while true {
            switch worker.socket.wait(milliseconds: Self.pause) {
            case .message: return try reply()
            case .closed: throw .ended(worker.end())
            case .nothing: break
            }
            if worker.residentBytes > configuration.memoryBytes { throw .tooMuchMemory }
            if let cancelled {
                guard cancelled.duration(to: .now) < configuration.grace else {
                    throw .unresponsive(after: start.duration(to: .now))
                }
            } else if start.duration(to: .now) > configuration.jobTimeout || interrupt() {
                cancelled = .now
                try? worker.socket.send(WorkerRequest.cancel)
            }
        }
    }

    private func reply() throws(Loss) -> (reply: WorkerReply, memory: SealedMemory?) {
        do throws(WireError) {
            let (reply, memory) = try worker.socket.receive(WorkerReply.self)
            guard reply.decoded.isPlausible else { throw .malformed }
            return (reply, memory)
        } catch {
            throw error == .closed ? .ended(worker.end()) : .garbled
        }
    }
}

extension DecodedStatistics {
    /// Whether sums of such numbers stay within what an `Int` holds.
    fileprivate var isPlausible: Bool { [entries, bytes, hits, misses].allSatisfy((0...1 << 40).contains) }
}
