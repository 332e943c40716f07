import DarkroomMachine
import DarkroomRequests
package import DarkroomTransforms
package import Logging
import Synchronization

/// Polled while a job runs; returns true to cancel it.
typealias Interrupt = @Sendable () -> Bool

/// Processes images in sandboxed worker processes, so that the calling process parses no untrusted image.
///
/// A worker that crashes, hangs or exceeds its memory limit is killed and replaced. Its job fails, other jobs are not
/// affected, and the input is refused for the quarantine period. Custom transforms cannot be sent to another process
/// and fail with `.transformFailed`: a pipeline with a delegate that adds transforms uses `InProcessImageProcessor`.
package struct WorkerImageProcessor: ImageProcessing {
    let pool: WorkerPool
    private let inProcess = InProcessImageProcessor()

    /// A job is retried when its worker is killed from outside, but only so often: the kernel's out-of-memory killer
    /// may be reacting to the job itself.
    private static let maxKills = 3

    /// Starts the workers and returns once the first worker is ready.
    ///
    /// - Parameter logger: receives the sandbox layers at startup and each discarded worker.
    /// - Throws: ``WorkerStartError`` if no worker starts or strict isolation is unavailable.
    package init(_ configuration: WorkerConfiguration, logger: Logger) async throws(WorkerStartError) {
        try await self.init(configuration, logger: logger, launcher: ZygoteLauncher(configuration))
    }

    init(
        _ configuration: WorkerConfiguration, logger: Logger, launcher: any WorkerLauncher,
        didSupervise: @escaping @Sendable () -> Void = {}
    ) async throws(WorkerStartError) {
        let pool = WorkerPool(configuration, logger: logger, didSupervise: didSupervise)
        let first = await withCheckedContinuation { continuation in
            Supervisor(pool, launcher) { continuation.resume(returning: $0) }.start()
        }
        self.pool = pool
        do {
            Self.log(try first.get(), configuration, logger)
        } catch {
            pool.close()
            throw error
        }
    }

    private static func log(_ reported: [IsolationLayer], _ configuration: WorkerConfiguration, _ logger: Logger) {
        let layers = IsolationLayer.allCases.filter(reported.contains)
        let names = { (layers: [IsolationLayer]) in "\(layers.map(\.rawValue).joined(separator: " "))" }
        let missing = IsolationLayer.allCases.filter { !layers.contains($0) }
        logger.info(
            "image decoders run in worker processes",
            metadata: ["workers": .stringConvertible(configuration.processes), "layers": "\(names(layers))"])
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
        let budget = job.expectedWork.map { processorBudget(of: job, expectedWork: $0) }
        return try answer(.process, job, within: budget, interrupt: interrupt) { reply in
            guard case .image(let image, nil) = reply.message.outcome else { return nil }
            return checked(image, with: reply, for: job)
        }
    }

    package func attempt(
        _ job: ImageJob, within allowance: JobAllowance, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> JobAttempt {
        let budget = processorBudget(of: job, expectedWork: max(allowance.work, job.workOfReadingHeader))
        return try answer(.attempt(allowance), job, within: budget, interrupt: interrupt) { reply in
            switch reply.message.outcome {
            case .plan(let plan) where plan.isPlausible: return JobAttempt(plan: plan)
            case .image(let image, let plan?) where plan.isPlausible && allowance.permits(plan):
                return checked(image, with: reply, for: job).map { JobAttempt(plan: plan, image: $0) }
            default: return nil
            }
        }
    }

    /// The image of a reply with its bytes; nil if no honest worker sends it.
    private func checked(_ image: ProcessedImage, with reply: Reply, for job: ImageJob) -> ProcessedImage? {
        guard image.isPlausible(for: job), reply.memory?.count ?? 0 <= pool.configuration.maxResultBytes else {
            return nil
        }
        var image = image
        image.body = reply.memory?.copy() ?? reply.body
        return image
    }

    package func plan(
        _ job: ImageJob, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> ImagePlan {
        func read(_ reply: Reply) -> ImagePlan? {
            guard case .plan(let plan) = reply.message.outcome, plan.isPlausible else { return nil }
            return plan
        }
        let budget = processorBudget(of: job, expectedWork: job.workOfReadingHeader)
        return try answer(.plan, job, within: budget, interrupt: interrupt, read: read)
    }

    private func processorBudget(of job: ImageJob, expectedWork: Double) -> Duration {
        pool.configuration.processorBudget(
            expectedWork: expectedWork, limit: job.limits.maxProcessingMilliseconds)
    }

    package func withdraw(_ job: ImageJob) {
        if let job = EncodedJob(job) { pool.withdraw(job) }
    }

    private typealias Reply = MessageSocket.Received<WorkerReply>

    /// Has a worker answer a request about a job. `read` returns nil for a reply that no honest worker sends.
    ///
    /// - Parameters:
    ///   - request: `plan`, `attempt`, or `process`, instead of which a worker that has planned the job gets `go`.
    ///   - budget: the processor time after which the worker is stopped; nil = none.
    private func answer<Answer>(
        _ request: WorkerRequest, _ job: ImageJob, within budget: Duration?, interrupt: @escaping Interrupt,
        read: (Reply) -> Answer?
    ) throws(ImageProcessingError) -> Answer {
        if let error = pool.quarantineError(for: job) { throw error }
        guard let encoded = EncodedJob(job) else { throw Self.customTransforms }
        var inputs: SealedInputs?
        var kills = 0
        let planned = request == .process ? encoded : nil
        while let worker = pool.take(for: job.identity, planned: planned, interrupt: interrupt) {
            let result: Result<Answer, ImageProcessingError>
            if !worker.isPlanned, inputs == nil { inputs = try sealedInputs(of: job, for: worker) }
            if request == .process, isPenalized(job) { worker.process.yieldProcessor() }
            do throws(WorkerCall.Failure) {
                let call = pool.call(worker.process, interrupt: interrupt, processorBudget: budget) { job.isDrawing }
                let reply =
                    try worker.isPlanned
                    ? call.send(.go) : call.send(request, encoded, with: inputs)
                result = try Self.result(reply, read)
                pool.release(worker, after: job, encoded, reply.message)
            } catch {
                pool.discard(worker.number, error)
                if error.isExternal { kills += 1 }
                if error == .notSent || (error.isExternal && kills < Self.maxKills) { continue }
                throw quarantine(job, after: error)
            }
            return try result.get()
        }
        pool.withdraw(encoded)
        throw .interrupted
    }

    /// Whether the job is a drawing of a client that had one stopped.
    private func isPenalized(_ job: ImageJob) -> Bool {
        job.client.map { pool.isPenalized($0) && job.isDrawing } ?? false
    }

    static let customTransforms = ImageProcessingError.transformFailed(
        "custom transforms, and chains that are too long, cannot run in a worker process")

    private func sealedInputs(
        of job: ImageJob, for worker: WorkerPool.Lent
    ) throws(ImageProcessingError) -> SealedInputs {
        do { return try SealedInputs(job) } catch {
            pool.release(worker.number, worker.decoded)
            throw .transformFailed("no shared memory is available for the source")
        }
    }

    private static func result<Answer>(
        _ reply: Reply, _ read: (Reply) -> Answer?
    ) throws(WorkerCall.Failure) -> Result<Answer, ImageProcessingError> {
        if case .failure(let error) = reply.message.outcome { return .failure(error.shortened) }
        guard let answer = read(reply) else { throw .protocolViolation }
        return .success(answer)
    }

    /// Quarantines the input that killed a worker and returns the error of its job.
    private func quarantine(_ job: ImageJob, after failure: WorkerCall.Failure) -> ImageProcessingError {
        guard !pool.isClosed else { return .interrupted }
        let error: ImageProcessingError
        var subject = job.workIdentity.map { Quarantine.Subject.work($0) }
        switch failure {
        case .exited(let status) where !failure.isExternal:
            error = job.crash("decoding crashed a worker: \(status)")
            subject = job.suspect
        case .notSent, .protocolViolation:
            error = job.crash("decoding corrupted a worker: its reply violated the protocol")
            subject = job.suspect
        case .memoryExceeded, .exited:
            error = .tooLarge(
                "The image needs more memory than the limit of \(pool.configuration.memoryBytes) bytes per worker; "
                    + "request a smaller one.")
            subject = job.unboundedSource ?? subject
        case .overtime(let duration):
            error = .tooLarge(
                "The image was stopped after \(duration / .seconds(1)) s of processor time, far more than its size "
                    + "suggests.")
            subject = job.unboundedSource ?? subject
            penalizeClient(of: job)
        case .unresponsive(let duration):
            error = .interrupted
            // Encoders of other images may not notice the interruption either.
            if job.isOfDrawing { penalizeClient(of: job) }
            // An interruption early in the job came from the client and says nothing about the job.
            if duration < pool.configuration.jobTimeout / 2 { subject = nil }
        }
        pool.quarantine(subject, error)
        return error
    }

    private func penalizeClient(of job: ImageJob) {
        if job.isDrawing, let client = job.client { pool.penalize(client) }
    }

    /// Removes decoded images of the source and lifts its quarantine.
    package func removeDecoded(identity: String) {
        for subject in [Quarantine.Subject.content(identity), .pixels(identity)] { pool.liftQuarantine(of: subject) }
        pool.broadcast(.removeDecoded(identity: identity)) { $0.mayHold(identity) }
    }

    package func shrinkMemory(toFraction fraction: Double) {
        pool.broadcast(.shrink(fraction: fraction)) { _ in true }
        // It holds no images, but this also returns freed memory of this process to the system.
        inProcess.shrinkMemory(toFraction: fraction)
    }
}

extension ImageJob {
    /// The expected work of reading the header: an SVG, and the directory of other formats, is read whole.
    fileprivate var workOfReadingHeader: Double { Double(sharedSource.count) * 25e-6 }

    /// The source, if only its content can make the job very long, as with a drawing.
    fileprivate var unboundedSource: Quarantine.Subject? {
        guard images.isEmpty, isOfDrawing else { return nil }
        return subject
    }

    /// Whether the source, or an image that a client chose to draw on it, is a drawing.
    fileprivate var isDrawing: Bool {
        if isOfDrawing { return true }
        return images.values.contains { image in
            !image.isTrusted && SourceFormat(sniffing: image.bytes.buffer)?.isVector ?? false
        }
    }

    fileprivate var isOfDrawing: Bool { SourceFormat(sniffing: source)?.isVector ?? false }

    /// The subject that crashed a worker: the source or, if a drawn image may be at fault, only this work.
    fileprivate var suspect: Quarantine.Subject? {
        images.isEmpty ? subject : workIdentity.map { .work($0) }
    }

    /// The error of a job that crashed a worker. The choice of other images must not make the source count as corrupt.
    fileprivate func crash(_ reason: String) -> ImageProcessingError {
        images.isEmpty ? .corrupt(reason) : .transformFailed(reason)
    }
}

extension WorkerPool {
    /// Makes a worker idle again after a reply about a job. A worker that has planned the job keeps it, if the job can
    /// be recognized.
    fileprivate func release(_ worker: Lent, after job: ImageJob, _ encoded: EncodedJob, _ reply: WorkerReply) {
        if job.cachesDecoded, let identity = job.identity {
            state.withLock { $0.table.record(source: identity, of: worker.number) }
        }
        guard case .plan = reply.outcome else { return release(worker.number, reply.decoded) }
        guard job.identity == nil else { return release(worker.number, reply.decoded, planned: encoded) }
        try? worker.process.socket.send(WorkerRequest.drop)
        release(worker.number, reply.decoded)
    }
}
