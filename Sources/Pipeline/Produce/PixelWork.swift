import DarkroomCache
import DarkroomMachine
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import NIOCore
import Synchronization

/// Runs image jobs on the pixel threads.
struct PixelWork: Sendable {
    /// A processed image.
    struct Result: Sendable {
        let image: ProcessedImage
        /// The SHA-256 of its body.
        let digest: StoreKey
        /// The time that the job took on its thread.
        let duration: Duration

        fileprivate init(_ image: ProcessedImage, took duration: Duration) {
            self.image = image
            self.duration = duration
            digest = StoreKey(hashing: image.body.readableBytesView)
        }
    }

    let queue: WorkQueue
    let processing: any ImageProcessing
    let limits: PixelLimits
    let efforts: EncoderEfforts

    /// The job that makes a request's variant from an original.
    ///
    /// - Parameter parts: the images that are drawn.
    func job(for request: ResolvedRequest, from original: Original, parts: [DrawnOriginal] = []) -> ImageJob {
        let input = request.input
        var job = ImageJob(
            source: ByteBuffer(), identity: original.record.content.hex, cachesDecoded: original.tier != nil,
            pages: input.pages, chain: request.chain, resampling: input.recipe.resampling, output: input.output,
            efforts: efforts, limits: limits)
        job.sharedSource = original.body
        for part in parts {
            let content = part.original.record.content.hex
            let isTrusted = part.isTrusted && job.images[content]?.isTrusted != false
            job.images[content] = DrawnImage(part.original.body, isTrusted: isTrusted)
        }
        job.webPBytes = request.webPBytes
        return job
    }

    /// Runs a job, once a thread and the memory that it needs are free.
    ///
    /// - Parameter account: takes the time on the thread, also if the job fails.
    func process(
        _ job: ImageJob, _ urgency: Urgency, for account: (any WorkAccount)?
    ) async throws(PipelineError) -> Result {
        let run = PixelRun(
            job: job, processing: processing, urgency: urgency, spans: PixelSpans(urgency), account: account)
        do throws(PipelineError) {
            return try await queue.run(
                urgency: urgency, weigh: run.weigh, setAside: { run.processing.withdraw(job) }, run.process)
        } catch {
            run.spans?.fail(error)
            throw error
        }
    }

    /// Plans a job, which reads the header of its source. Does not process it.
    func plan(_ job: ImageJob, _ urgency: Urgency) async throws(PipelineError) -> ImagePlan {
        let processing = processing
        return try await queue.run(urgency: urgency) { interrupt throws(PipelineError) in
            defer { processing.withdraw(job) }
            do throws(ImageProcessingError) {
                return try processing.plan(job, interrupt: interrupt)
            } catch {
                throw PipelineError(error)
            }
        }
    }
}

/// One job on its way through the queue. Its methods are called on pixel threads, one at a time.
private final class PixelRun: Sendable {
    private let unnamedJob: ImageJob
    let processing: any ImageProcessing
    private let urgency: Urgency
    let spans: PixelSpans?
    private let account: (any WorkAccount)?
    private let expectedWork = Mutex<Double?>(nil)

    init(
        job: ImageJob, processing: any ImageProcessing, urgency: Urgency, spans: PixelSpans?,
        account: (any WorkAccount)?
    ) {
        unnamedJob = job
        self.processing = processing
        self.urgency = urgency
        self.spans = spans
        self.account = account
    }

    /// The job with its client, if it has only one.
    private var job: ImageJob {
        var job = unnamedJob
        let clients = urgency.clients
        if clients.count == 1, clients != [""] { job.client = clients[0] }
        return job
    }

    /// Weighs the job, and processes it at once if it is usual and the memory reserved for it suffices.
    func weigh(
        _ allowedBytes: Int, _ interrupt: @escaping @Sendable () -> Bool
    ) throws(PipelineError) -> (JobWeight, PixelWork.Result?) {
        let job = job
        guard allowedBytes > 0, allowedBytes >= job.sharedSource.count else {
            return (weight(of: try? processing.plan(job, interrupt: interrupt)), nil)
        }
        let start = spans?.now
        var stopwatch = Stopwatch()
        do throws(ImageProcessingError) {
            let allowance = JobAllowance(memoryBytes: allowedBytes, work: JobWeight.maxUsualWork)
            let attempt = try processing.attempt(job, within: allowance, interrupt: interrupt)
            guard let image = attempt.image else { return (weight(of: attempt.plan), nil) }
            let duration = stopwatch.lap()
            account?.charge(processing: duration)
            spans?.startProcessing(at: start)
            spans?.finish(image)
            return (weight(of: attempt.plan), PixelWork.Result(image, took: duration))
        } catch {
            account?.charge(processing: stopwatch.lap())
            spans?.startProcessing(at: start)
            throw PipelineError(error)
        }
    }

    func process(_ interrupt: @escaping @Sendable () -> Bool) throws(PipelineError) -> PixelWork.Result {
        spans?.startProcessing()
        var stopwatch = Stopwatch()
        do throws(ImageProcessingError) {
            var job = job
            job.expectedWork = expectedWork.withLock(\.self)
            let image = try processing.process(job, interrupt: interrupt)
            let duration = stopwatch.lap()
            account?.charge(processing: duration)
            spans?.finish(image)
            return PixelWork.Result(image, took: duration)
        } catch {
            account?.charge(processing: stopwatch.lap())
            throw PipelineError(error)
        }
    }

    private func weight(of plan: ImagePlan?) -> JobWeight {
        expectedWork.withLock { $0 = plan?.expectedWork }
        return JobWeight(of: plan, sourceBytes: unnamedJob.sharedSource.count)
    }
}
