package import DarkroomTransforms
package import Logging
import NIOCore
import Synchronization

/// Asked now and then while a job is under way; true ends it.
typealias Interrupt = @Sendable () -> Bool

/// Has the pixel work done in worker processes: this process parses no foreign byte.
///
/// A worker that crashes, hangs or takes too much memory is killed and replaced. Its own job fails, others don't notice, and
/// what killed it is refused at once for a while. Transforms of your own can't cross into another process: they fail as
/// `.transformFailed`, so a pipeline whose delegate has some takes ``InProcessImageProcessor``.
package struct WorkerImageProcessor: ImageProcessing {
    let pool: WorkerPool
    private let own = InProcessImageProcessor()

    /// A worker that somebody else kills says nothing about its job, which is tried again. So many say that it is the job: the kernel
    /// kills who takes its memory.
    private static let maxKills = 3

    /// Starts the workers and returns once the first is ready. Throws where none starts, or strict isolation is not to be had.
    ///
    /// - Parameter logger: takes the layers of the sandbox, and each worker that is lost.
    package init(_ configuration: WorkerConfiguration, logger: Logger) async throws(WorkerStartError) {
        let pool = WorkerPool(configuration, logger: logger)
        let first = await withCheckedContinuation { continuation in
            Supervisor(pool) { continuation.resume(returning: $0) }.start()
        }
        self.pool = pool
        do {
            Self.tell(of: try first.get(), configuration, logger)
        } catch {
            pool.close()
            throw error
        }
    }

    private static func tell(of layers: [IsolationLayer], _ configuration: WorkerConfiguration, _ logger: Logger) {
        let names = { (layers: [IsolationLayer]) in "\(layers.map(\.rawValue).joined(separator: " "))" }
        let missing = IsolationLayer.allCases.filter { !layers.contains($0) }
        logger.info(
            "decoders run in worker processes",
            metadata: ["workers": "\(configuration.processes)", "layers": "\(names(layers))"])
        guard !missing.isEmpty, configuration.isolation != .none else { return }
        logger.warning("layers of the sandbox are missing on this system", metadata: ["layers": "\(names(missing))"])
    }

    /// Kills the workers. Jobs under way end with `.interrupted`.
    package func stop() { pool.close() }

    /// What the workers do now and have done. It reads small files.
    package var statistics: WorkerStatistics { pool.statistics }

    /// The decoded pictures that all workers keep.
    package var decoded: DecodedStatistics { pool.decoded }

    /// Whether there are workers, and they don't die one after the other.
    package var isHealthy: Bool { pool.isHealthy }

    package func process(
        _ job: ImageJob, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> ProcessedImage {
        func read(_ outcome: WorkerReply.Outcome, _ memory: SealedMemory?) -> ProcessedImage? {
            guard case .image(let wire) = outcome,
                let body = try? memory?.bytes(maxBytes: pool.configuration.maxResultBytes)
            else { return nil }
            return wire.image(body, of: job)
        }
        return try answer(
            to: job, with: try sealed(job), interrupt: interrupt, request: WorkerRequest.process, read: read)
    }

    package func plan(
        _ job: ImageJob, interrupt: @escaping @Sendable () -> Bool
    ) throws(ImageProcessingError) -> ImagePlan {
        func read(_ outcome: WorkerReply.Outcome, _: SealedMemory?) -> ImagePlan? {
            guard case .plan(let plan) = outcome, plan.isPlausible else { return nil }
            return plan
        }
        let source = try sealed(job)
        let plan = try answer(to: job, with: source, interrupt: interrupt, request: WorkerRequest.plan, read: read)
        pool.sources.keep(source, of: job)
        return plan
    }

    /// The source of a job that may be tried.
    private func sealed(_ job: ImageJob) throws(ImageProcessingError) -> SealedMemory {
        if let verdict = pool.verdict(on: job) { throw verdict }
        guard let source = try? pool.sources.take(job) else {
            throw .transformFailed("no shared memory for the source")
        }
        return source
    }

    /// What a worker makes of the job. `read` gives nil for what no honest worker says.
    private func answer<Answer>(
        to job: ImageJob, with source: SealedMemory, interrupt: @escaping Interrupt,
        request: (WireJob) -> WorkerRequest,
        read: (WorkerReply.Outcome, SealedMemory?) -> Answer?
    ) throws(ImageProcessingError) -> Answer {
        guard let wire = WireJob(job) else {
            throw .transformFailed("a transform of one's own can't cross into a worker process")
        }
        var kills = 0
        while let (number, worker) = pool.take(for: job.identity, interrupt: interrupt) {
            let result: Result<Answer, ImageProcessingError>
            do throws(Conversation.Loss) {
                let conversation = pool.converse(with: worker, interrupt: interrupt)
                let (reply, memory) = try conversation.ask(request(wire), with: source)
                result = try Self.result(reply, memory, read)
                pool.giveBack(number, after: job, reply.decoded)
            } catch {
                pool.lose(number, error)
                if error.isFromOutside { kills += 1 }
                if error == .unreached || (error.isFromOutside && kills < Self.maxKills) { continue }
                throw judge(job, error)
            }
            return try result.get()
        }
        throw .interrupted
    }

    private static func result<Answer>(
        _ reply: WorkerReply, _ memory: SealedMemory?, _ read: (WorkerReply.Outcome, SealedMemory?) -> Answer?
    ) throws(Conversation.Loss) -> Result<Answer, ImageProcessingError> {
        if case .failure(let error) = reply.outcome { return .failure(error.bounded) }
        guard let answer = read(reply.outcome, memory) else { throw .garbled }
        return .success(answer)
    }

    /// The error of a job that cost a worker, and what of it is refused from now on.
    private func judge(_ job: ImageJob, _ loss: Conversation.Loss) -> ImageProcessingError {
        guard !pool.isClosed else { return .interrupted }
        let verdict: ImageProcessingError
        var subject = job.workName.map { Quarantine.Subject.work($0) }
        switch loss {
        case .ended(let ending) where !loss.isFromOutside:
            verdict = .corrupt("decoding crashed a worker: \(ending)")
            subject = job.identity.map { .content($0) }
        case .unreached, .garbled:
            verdict = .corrupt("a worker did not know any more what it said")
            subject = job.identity.map { .content($0) }
        case .tooMuchMemory, .ended:
            verdict = .tooLarge(
                "The picture takes more memory than the \(pool.configuration.memoryBytes) bytes that a worker may have; "
                    + "ask for a smaller one.")
        case .unresponsive(let duration):
            verdict = .interrupted
            // Who has only gone away says nothing about the job.
            if duration < pool.configuration.jobTimeout / 2 { subject = nil }
        }
        pool.note(subject, verdict)
        return verdict
    }

    /// Also lifts the quarantine of these bytes.
    package func removeDecoded(identity: String) {
        pool.release(.content(identity))
        pool.tell(.removeDecoded(identity: identity)) { $0.mayKeep(identity) }
    }

    package func shrinkMemory(toFraction fraction: Double) {
        pool.tell(.shrink(fraction: fraction)) { _ in true }
        // It keeps no pictures, but this process has freed memory too.
        own.shrinkMemory(toFraction: fraction)
    }
}

extension WorkerPool {
    /// The worker has answered a job.
    fileprivate func giveBack(_ number: Roster.Number, after job: ImageJob, _ decoded: DecodedStatistics) {
        if job.cachesDecoded, let identity = job.identity {
            state.withLock { $0.roster.note(source: identity, of: number) }
        }
        giveBack(number, decoded)
    }
}
