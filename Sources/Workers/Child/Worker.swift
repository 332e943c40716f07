import DarkroomMachine
import DarkroomTransforms
import Foundation
import NIOCore

/// A process that transforms images for the server, connected to it by one socket.
enum Worker {
    /// The name in `/proc` and `top`.
    static let processName = "darkroom-worker"

    /// Enters the sandbox in a process that was just forked, then serves requests on descriptor 3 until the server
    /// closes it.
    static func run(_ setup: WorkerSetup) -> Never {
        ThreadPriority.lower()
        // The body of a request is the job.
        let socket = MessageSocket(descriptor: 3, maxBodyBytes: MessageSocket.maxBodyBytes)
        do throws(WireError) {
            let layers = setup.isIsolated ? Sandbox(setup).enter() : []
            try socket.send(WorkerHello(layers: layers))
            var loop = WorkerLoop(socket, setup)
            try loop.run()
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
    /// The job that waits for `go`.
    private var planned: PlannedJob?
    /// The images that the next job draws.
    private var images: [String: SharedBytes] = [:]

    private typealias Request = MessageSocket.Received<WorkerRequest>

    init(_ socket: MessageSocket, _ setup: WorkerSetup) {
        self.socket = socket
        self.setup = setup
        decoded = DecodedCache(budgetBytes: setup.decodedBytes, maxEntryBytes: setup.maxDecodedEntryBytes)
        processor = InProcessImageProcessor(decoded: decoded)
    }

    mutating func run() throws(WireError) -> Never {
        while true {
            let received = try socket.receive(WorkerRequest.self)
            switch received.message {
            // The job had ended before the cancellation arrived.
            case .cancel: continue
            case .image(let content): images[content] = received.memory.map { SharedBytes($0) }
            case .plan:
                if let plan = try plan(received) {
                    let socket = socket
                    let examined = planned?.examinedPlan { socket.wait(milliseconds: 0) != .nothing }
                    try reply(.plan(examined ?? plan))
                }
            case .go:
                guard let job = planned.take() else { throw .malformed }
                try process(job)
            case .attempt(let allowance):
                guard let plan = try plan(received) else { break }
                guard allowance.permits(plan) else {
                    try reply(.plan(plan))
                    break
                }
                if let job = planned.take() { try process(job, replyingWith: plan) }
            case .drop: planned = nil
            case .process:
                if try plan(received) != nil, let job = planned.take() { try process(job) }
            case .removeDecoded(let identity):
                processor.removeDecoded(identity: identity)
                try reply(.done)
            case .shrink(let fraction):
                processor.shrinkMemory(toFraction: fraction)
                try reply(.done)
            case .probe: try reply(.probes(Sandbox.probes()))
            }
        }
    }

    /// Plans a job, which then waits for `go`; nil if that failed and the failure was replied.
    private mutating func plan(_ request: Request) throws(WireError) -> ImagePlan? {
        planned = nil
        guard let job = try prepared(request) else { return nil }
        do throws(ImageProcessingError) {
            planned = try job.planned()
            return planned?.plan
        } catch {
            try reply(.failure(error.shortened))
            return nil
        }
    }

    /// The job with its source, once its header is read; nil if that failed and the failure was replied.
    private mutating func prepared(_ request: Request) throws(WireError) -> PreparedJob? {
        guard let memory = request.memory else { throw .malformed }
        let job = try EncodedJob(received: request.body).job(source: SharedBytes(memory), images: images)
        images = [:]
        do throws(ImageProcessingError) { return try PreparedJob(job) } catch {
            try reply(.failure(error.shortened))
            return nil
        }
    }

    private func process(_ job: PlannedJob, replyingWith plan: ImagePlan? = nil) throws(WireError) {
        let socket = socket
        let image: ProcessedImage
        do throws(ImageProcessingError) {
            image = try processor.process(job) { socket.wait(milliseconds: 0) != .nothing }
        } catch {
            return try reply(.failure(error.shortened))
        }
        guard image.body.readableBytes <= setup.maxResultBytes else { return try replyTooLarge() }
        if image.body.readableBytes <= MessageSocket.maxBodyBytes {
            do throws(WireError) { return try reply(.image(image, plan), body: image.body) } catch {
                guard error == .system(EMSGSIZE) else { throw error }
            }
        }
        guard let result = try? MemoryFile(copying: image.body) else { return try replyTooLarge() }
        try reply(.image(image, plan), attached: result.descriptor)
    }

    private func replyTooLarge() throws(WireError) {
        try reply(.failure(.tooLarge("The result exceeds the limit of \(setup.maxResultBytes) bytes.")))
    }

    private func reply(
        _ outcome: WorkerReply.Outcome, body: ByteBuffer = ByteBuffer(), attached: Int32 = -1
    ) throws(WireError) {
        do throws(WireError) {
            try socket.send(
                WorkerReply(outcome: outcome, decoded: decoded.statistics), body: body, attached: attached)
        } catch .malformed {
            // The end of this worker would count as the fault of the source.
            let failure = ImageProcessingError.transformFailed("the reply about the job is too long")
            try socket.send(WorkerReply(outcome: .failure(failure), decoded: decoded.statistics))
        }
    }
}
