import DarkroomMachine
import DarkroomTransforms
import Foundation
import NIOCore

/// A process that transforms images for the server that started it, connected to it by one socket.
package enum Worker {
    /// Runs the hidden subcommand: enters the sandbox, then serves requests on descriptor 3 until the server closes it.
    ///
    /// Call this before the process starts another thread: Landlock applies only to threads started later.
    package static func run() {
        ThreadPriority.lower()
        let socket = MessageSocket(descriptor: 3)
        do throws(WireError) {
            let setup = try socket.receive(WorkerSetup.self).message
            let layers = setup.isIsolated ? Sandbox(setup).enter(warmingUp: WarmUp.run) : []
            if !setup.isIsolated { WarmUp.run() }
            try socket.send(WorkerHello(layers: layers))
            try WorkerLoop(socket, setup).run()
        } catch {
            // The server has exited, or the peer does not speak the protocol.
            exit(EXIT_FAILURE)
        }
    }
}

/// Serves requests one at a time.
struct WorkerLoop {
    private let socket: MessageSocket
    private let setup: WorkerSetup
    private let decoded: DecodedCache
    private let processor: InProcessImageProcessor

    init(_ socket: MessageSocket, _ setup: WorkerSetup) {
        self.socket = socket
        self.setup = setup
        decoded = DecodedCache(budgetBytes: setup.decodedBytes, maxEntryBytes: setup.maxDecodedEntryBytes)
        processor = InProcessImageProcessor(decoded: decoded)
    }

    func run() throws(WireError) -> Never {
        while true {
            let (request, memory) = try socket.receive(WorkerRequest.self)
            switch request {
            // The job had ended before the cancellation arrived.
            case .cancel: continue
            case .process(let job):
                guard let memory else { throw .malformed }
                try process(job, memory)
            case .plan(let job):
                guard let memory else { throw .malformed }
                try plan(job, memory)
            case .removeDecoded(let identity):
                processor.removeDecoded(identity: identity)
                try reply(.done)
            case .shrink(let fraction):
                processor.shrinkMemory(toFraction: fraction)
                try reply(.done)
            case .probe:
                try reply(.probes(Sandbox.probes()))
            }
        }
    }

    private func process(_ wire: WireJob, _ memory: MemoryFile) throws(WireError) {
        let job = wire.job(source: SharedBytes(memory))
        let socket = socket
        let image: ProcessedImage
        do throws(ImageProcessingError) {
            image = try processor.process(job) { socket.wait(milliseconds: 0) != .nothing }
        } catch {
            return try reply(.failure(error.bounded))
        }
        guard image.body.readableBytes <= setup.maxResultBytes, let result = try? MemoryFile(copying: image.body)
        else {
            return try reply(
                .failure(.tooLarge("The result exceeds the limit of \(setup.maxResultBytes) bytes.")))
        }
        try reply(.image(WireImage(image)), with: result)
    }

    private func plan(_ wire: WireJob, _ memory: MemoryFile) throws(WireError) {
        let job = wire.job(source: SharedBytes(memory))
        let outcome: WorkerReply.Outcome
        do throws(ImageProcessingError) { outcome = .plan(try processor.plan(job)) } catch {
            outcome = .failure(error.bounded)
        }
        try reply(outcome)
    }

    private func reply(_ outcome: WorkerReply.Outcome, with memory: MemoryFile? = nil) throws(WireError) {
        try socket.send(WorkerReply(outcome: outcome, decoded: decoded.statistics), with: memory)
    }
}
