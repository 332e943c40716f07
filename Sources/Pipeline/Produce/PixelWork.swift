import DarkroomCache
import DarkroomMachine
import DarkroomStore
import DarkroomTransforms
import NIOCore
import Synchronization

/// Runs image jobs on the pixel threads.
struct PixelWork: Sendable {
    let queue: WorkQueue
    let processing: any ImageProcessing
    let limits: PixelLimits
    let efforts: EncoderEfforts

    /// The job that makes a request's variant from an original.
    func job(for request: ResolvedRequest, from original: Original, mark: Original? = nil) -> ImageJob {
        let input = request.input
        var job = ImageJob(
            source: ByteBuffer(), identity: original.record.content.hex, cachesDecoded: original.tier != nil,
            pages: input.pages, chain: request.chain, resampling: input.recipe.resampling, output: input.output,
            efforts: efforts, limits: limits)
        job.sharedSource = original.body
        job.sharedMark = mark?.body
        return job
    }

    /// The job that makes a preview from the beginning of an original.
    func previewJob(for request: ResolvedRequest, from partial: ByteBuffer) -> ImageJob {
        let input = request.input
        var job = ImageJob(
            source: partial, pages: input.pages, chain: request.chain, resampling: input.recipe.resampling,
            output: input.output, efforts: efforts, limits: limits)
        job.isPartial = true
        return job
    }

    /// Runs a job, once a thread and the memory that it needs are free.
    ///
    /// - Parameter account: takes the time on the thread, also if the job fails.
    /// - Returns: the result, and the time on the thread.
    func process(
        _ job: ImageJob, _ urgency: Urgency, for account: (any WorkAccount)?
    ) async throws(PipelineError) -> (ProcessedImage, Duration) {
        let processing = processing
        let expectedWork = Mutex<Double?>(nil)
        let weigh = { @Sendable (interrupt: @escaping @Sendable () -> Bool) in
            let plan = try? processing.plan(job, interrupt: interrupt)
            expectedWork.withLock { $0 = plan?.expectedWork }
            return JobWeight(of: plan, sourceBytes: job.sharedSource.count)
        }
        let setAside = { @Sendable in processing.withdraw(job) }
        let spans = PixelSpans(urgency)
        do throws(PipelineError) {
            return try await queue.run(urgency: urgency, weigh: weigh, setAside: setAside) {
                interrupt throws(PipelineError) in
                spans?.startProcessing()
                var stopwatch = Stopwatch()
                var duration = Duration.zero
                defer { account?.charge(processing: duration) }
                do throws(ImageProcessingError) {
                    var job = job
                    job.expectedWork = expectedWork.withLock(\.self)
                    let image = try processing.process(job, interrupt: interrupt)
                    duration = stopwatch.lap()
                    spans?.finish(image)
                    return (image, duration)
                } catch {
                    duration = stopwatch.lap()
                    throw PipelineError(error)
                }
            }
        } catch {
            spans?.fail(error)
            throw error
        }
    }

    /// Plans a job, which reads the header of its source.
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
