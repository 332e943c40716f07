import DarkroomMachine
package import DarkroomTransforms
package import Logging
import NIOCore
import Synchronization

/// Polled while a job runs; returns true to cancel it.
typealias Interrupt = @Sendable () -> Bool

/// Processes images in sandboxed worker processes, so that the calling process parses no untrusted image.
///
/// A worker that crashes, hangs or exceeds its memory limit is killed and replaced. Its job fails, other jobs are not
/// affected, and the input is refused for the quarantine period. Custom transforms cannot be sent to another process
/// and fail with `.transformFailed`: a pipeline whose delegate adds some uses `InProcessImageProcessor`.
package struct WorkerImageProcessor: ImageProcessing {
    let pool: WorkerPool
    private let inProcess = InProcessImageProcessor()

    /// A job is retried when its worker is killed from outside, but only so often: the kernel's out-of-memory killer
    /// may be reacting to the job itself.
    private static let maxKills = 3

    /// Starts the workers and returns once the first one is ready.
    ///
    /// - Parameter logger: receives the sandbox layers at start-up and each discarded worker.
    /// - Throws: ``WorkerStartError`` if no worker starts or strict isolation is unavailable.
    package init(_ configuration: WorkerConfiguration, logger: Logger) async throws(WorkerStartError) {
        let pool = WorkerPool(configuration, logger: logger)
        let first = await withCheckedContinuation { continuation in
            Supervisor(pool) { continuation.resume(returning: $0) }.start()
        }
        self.pool = pool
        do {
            Self.log(try first.get(), configuration, logger)
        } catch {
            pool.close()
            throw error
        }
    }

    private static func log(_ layers: [IsolationLayer], _ configuration: WorkerConfiguration, _ logger: Logger) {
        let names = { (layers: [IsolationLayer]) in "\(layers.map(\.rawValue).joined(separator: " "))" }
        let missing = IsolationLayer.allCases.filter { !layers.contains($0) }
        logger.info(
            "image decoders run in worker processes",
            metadata: ["workers": "\(configuration.processes)", "layers": "\(names(layers))"])
        guard !missing.isEmpty, configuration.isolation != .none else { return }
        logger.warning("sandbox layers are missing on this system", metadata: ["layers": "\(names(missing))"])
    }

    /// Kills the workers. Running jobs fail with `.interrupted`.
    package func stop() { pool.close() }

    /// State and counters of the workers. Reads `/proc`.
    package var statistics: WorkerStatistics { pool.statistics }

    /// Decoded images held by all workers.
    package var decoded: DecodedStatistics { pool.decoded }

    /// Whether at least one worker is ready and workers are not in a crash loop.
    package var isHealthy: Bool { pool.isHealthy }

    package func process(
        _ job: ImageJob, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> ProcessedImage {
        func read(_ outcome: WorkerReply.Outcome, _ memory: MemoryFile?) -> ProcessedImage? {
            guard case .image(let wire) = outcome, let memory, memory.count <= pool.configuration.maxResultBytes
            else { return nil }
            return wire.image(memory.copy(), of: job)
        }
        return try answer(
            to: job, with: try sealed(job), interrupt: interrupt, request: WorkerRequest.process, read: read)
    }

    package func plan(
        _ job: ImageJob, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> ImagePlan {
        func read(_ outcome: WorkerReply.Outcome, _: MemoryFile?) -> ImagePlan? {
            guard case .plan(let plan) = outcome, plan.isPlausible else { return nil }
            return plan
        }
        let source = try sealed(job)
        let plan = try answer(to: job, with: source, interrupt: interrupt, request: WorkerRequest.plan, read: read)
        pool.sources.store(source, of: job)
        return plan
    }

    /// The sealed source of a job that is not quarantined.
    private func sealed(_ job: ImageJob) throws(ImageProcessingError) -> MemoryFile {
        if let error = pool.quarantineError(for: job) { throw error }
        guard let source = try? pool.sources.take(job) else {
            throw .transformFailed("no shared memory is available for the source")
        }
        return source
    }

    /// Sends a job to a worker. `read` returns nil for a reply that no honest worker sends.
    private func answer<Answer>(
        to job: ImageJob, with source: MemoryFile, interrupt: @escaping Interrupt,
        request: (WireJob) -> WorkerRequest,
        read: (WorkerReply.Outcome, MemoryFile?) -> Answer?
    ) throws(ImageProcessingError) -> Answer {
        guard let wire = WireJob(job) else {
            throw .transformFailed("custom transforms cannot run in a worker process")
        }
        var kills = 0
        while let (number, worker) = pool.take(for: job.identity, interrupt: interrupt) {
            let result: Result<Answer, ImageProcessingError>
            do throws(WorkerCall.Failure) {
                let call = pool.call(worker, interrupt: interrupt)
                let (reply, memory) = try call.send(request(wire), with: source)
                result = try Self.result(reply, memory, read)
                pool.release(number, after: job, reply.decoded)
            } catch {
                pool.discard(number, error)
                if error.isExternal { kills += 1 }
                if error == .notSent || (error.isExternal && kills < Self.maxKills) { continue }
                throw quarantine(job, after: error)
            }
            return try result.get()
        }
        throw .interrupted
    }

    private static func result<Answer>(
        _ reply: WorkerReply, _ memory: MemoryFile?, _ read: (WorkerReply.Outcome, MemoryFile?) -> Answer?
    ) throws(WorkerCall.Failure) -> Result<Answer, ImageProcessingError> {
        if case .failure(let error) = reply.outcome { return .failure(error.bounded) }
        guard let answer = read(reply.outcome, memory) else { throw .protocolViolation }
        return .success(answer)
    }

    /// Quarantines what killed a worker and returns the error of its job.
    private func quarantine(_ job: ImageJob, after failure: WorkerCall.Failure) -> ImageProcessingError {
        guard !pool.isClosed else { return .interrupted }
        let error: ImageProcessingError
        var subject = job.workIdentity.map { Quarantine.Subject.work($0) }
        switch failure {
        case .exited(let status) where !failure.isExternal:
            error = .corrupt("decoding crashed a worker: \(status)")
            subject = job.identity.map { .content($0) }
        case .notSent, .protocolViolation:
            error = .corrupt("decoding corrupted a worker: its reply violated the protocol")
            subject = job.identity.map { .content($0) }
        case .memoryExceeded, .exited:
            error = .tooLarge(
                "The image needs more memory than the limit of \(pool.configuration.memoryBytes) bytes per worker; "
                    + "request a smaller one.")
        case .unresponsive(let duration):
            error = .interrupted
            // An interruption early in the job came from the client and says nothing about the job.
            if duration < pool.configuration.jobTimeout / 2 { subject = nil }
        }
        pool.quarantine(subject, error)
        return error
    }

    /// Removes decoded images of the source and lifts its quarantine.
    package func removeDecoded(identity: String) {
        pool.liftQuarantine(of: .content(identity))
        pool.broadcast(.removeDecoded(identity: identity)) { $0.mayHold(identity) }
    }

    package func shrinkMemory(toFraction fraction: Double) {
        pool.broadcast(.shrink(fraction: fraction)) { _ in true }
        // It holds no images, but this also returns freed memory of this process to the system.
        inProcess.shrinkMemory(toFraction: fraction)
    }
}

extension WorkerPool {
    /// Makes a worker idle again after a job.
    fileprivate func release(_ number: WorkerTable.ID, after job: ImageJob, _ decoded: DecodedStatistics) {
        if job.cachesDecoded, let identity = job.identity {
            state.withLock { $0.table.record(source: identity, of: number) }
        }
        release(number, decoded)
    }
}
