import DarkroomMachine
import DarkroomTransforms
import NIOCore

/// One request to one worker and its reply. Every byte from the worker is treated as hostile.
struct WorkerCall {
    let worker: ChildProcess
    let configuration: WorkerConfiguration
    let interrupt: Interrupt
    /// The processor time after which the worker is stopped; nil = none.
    var processorBudget: Duration?
    /// Whether the source of the job is a drawing. Asked of long jobs only, once, because it reads the source.
    let isDrawing: () -> Bool

    /// The reason for a missing reply. The worker must be discarded after any of these failures.
    enum Failure: Error, Equatable {
        /// The worker had exited before the request was sent.
        case notSent
        /// The worker exited without being killed by the server.
        case exited(ExitStatus)
        /// The reply violates the protocol.
        case protocolViolation
        /// The worker exceeded ``WorkerConfiguration/memoryBytes``.
        case memoryExceeded
        /// The worker took more processor time than its budget.
        case overtime(Duration)
        /// The worker ignored a cancellation. `after` is how long the job had run.
        case unresponsive(after: Duration)

        /// Whether another process or the kernel killed the worker.
        var isExternal: Bool {
            if case .exited(let status) = self { status.isExternal } else { false }
        }
    }

    /// Milliseconds between checks of `interrupt`.
    private static let pollInterval: Int32 = 25
    /// The number of checks of `interrupt` between two checks of the worker's memory and time. Its address space is
    /// limited at all times.
    private static let pollsPerUsageCheck = 2

    /// Sends the request and waits for the reply while the worker stays within its limits.
    ///
    /// - Parameters:
    ///   - inputs: the source of the job, and the images that it draws, which are sent before the request.
    func send(
        _ request: WorkerRequest, _ job: EncodedJob? = nil, with inputs: SealedInputs? = nil
    ) throws(Failure) -> MessageSocket.Received<WorkerReply> {
        do {
            try withExtendedLifetime(inputs) { () throws(WireError) in
                for (content, file) in inputs?.images ?? [:] {
                    try worker.socket.send(WorkerRequest.image(content: content), attached: file.descriptor)
                }
                try worker.socket.send(
                    request, body: job?.bytes ?? ByteBuffer(), attached: inputs?.source.descriptor ?? -1)
            }
        } catch { throw .notSent }
        let start = ContinuousClock.now
        var canceledAt: ContinuousClock.Instant?
        var polls = 0
        var usage = Usage()
        while true {
            switch worker.socket.wait(milliseconds: Self.pollInterval) {
            case .message: return try reply()
            case .closed: throw .exited(worker.terminate())
            case .nothing: break
            }
            polls += 1
            if polls % Self.pollsPerUsageCheck == 1 { try check(&usage) }
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

    /// What the checks of a job remember.
    private struct Usage {
        /// The worker's processor time at the first check, in milliseconds. Short jobs end before the first check.
        var atStart: Int?
        var hasCompeted = false
    }

    /// Stops a worker whose job takes too much memory or processor time, or has it yield the processor to other jobs.
    private func check(_ usage: inout Usage) throws(Failure) {
        if worker.residentBytes > configuration.memoryBytes { throw .memoryExceeded }
        guard let processorBudget else { return }
        let used = worker.processorMilliseconds
        let took = Duration.milliseconds(used - (usage.atStart ?? used))
        usage.atStart = usage.atStart ?? used
        if took > processorBudget { throw .overtime(took) }
        guard !usage.hasCompeted, took > configuration.competingTime(budget: processorBudget) else { return }
        usage.hasCompeted = true
        if isDrawing() { worker.yieldProcessor() }
    }

    private func reply() throws(Failure) -> MessageSocket.Received<WorkerReply> {
        do throws(WireError) {
            let received = try worker.socket.receive(WorkerReply.self)
            guard received.message.decoded.isPlausible, received.hasPlausibleAttachment else { throw .malformed }
            return received
        } catch {
            throw error == .closed ? .exited(worker.terminate()) : .protocolViolation
        }
    }
}

/// The bytes of a job as workers read them.
struct SealedInputs: Sendable {
    let source: MemoryFile
    /// See ``ImageJob/images``.
    let images: [String: MemoryFile]

    init(_ job: ImageJob) throws(MemoryFile.Failure) {
        source = try job.sharedSource.inFile()
        var images: [String: MemoryFile] = [:]
        for (content, image) in job.images { images[content] = try image.bytes.inFile() }
        self.images = images
    }
}

extension MessageSocket.Received<WorkerReply> {
    /// Whether an image comes with its bytes in one of the two ways, and any other reply without bytes.
    fileprivate var hasPlausibleAttachment: Bool {
        if case .image = message.outcome { return (body.readableBytes > 0) != (memory != nil) }
        return body.readableBytes == 0 && memory == nil
    }
}
