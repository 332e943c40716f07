import DarkroomCache
import DarkroomHTTPCaching
import DarkroomMachine
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import DarkroomWaiting
import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import Tracing

/// Makes variants from originals and stores them, once for all requests that need the same variant at the same time.
struct VariantProducer: Sendable {
    let pixels: PixelWork
    let cache: ImageCache
    let speed: EncodingSpeed
    let now: @Sendable () -> Date
    let productions = Coalescer<Key, Produced>()

    /// The values that must be equal for requests to share one processing run.
    struct Key: Hashable, Sendable {
        let variant: EntryKey
        let content: StoreKey
        let store: TierSelection
        let waitsForDisk: Bool
        /// No request joins a processing run that started before a purge.
        let epoch: PurgeEpoch
    }

    struct Produced: Sendable {
        var body: ByteBuffer
        var record: VariantRecord
        var isStored: Bool
        var timings: Timings
        /// Whether it was produced for another request.
        var isShared = false
        /// Whether parts of the source could not be decoded.
        var isDamaged = false
    }

    /// - Parameter parts: finds the bytes of the images that the request draws.
    func produce(
        _ request: ResolvedRequest, from original: Original,
        parts: @escaping @Sendable () async throws(PipelineError) -> [DrawnOriginal] = { [] }
    ) async throws(PipelineError) -> Produced {
        let options = request.cache
        let key = Key(
            variant: request.keys.variant, content: original.record.content, store: options.store,
            waitsForDisk: options.waitsForDisk, epoch: request.access.epoch)
        var (produced, isShared) = try await productions.value(
            for: key, urgency: request.urgency, deadline: request.access.deadline
        ) { urgency throws(PipelineError) in
            if let produced = await recentlyProduced(request, original) { return produced }
            return try await run(request, original, parts: parts(), urgency)
        }
        if isShared { produced.isShared = true }
        return produced
    }

    /// The variant that another request produced after this request's lookup in the caches.
    private func recentlyProduced(_ request: ResolvedRequest, _ original: Original) async -> Produced? {
        guard !request.cache.waitsForDisk,
            let found = cache.recentVariant(request.keys.variant, of: original.record.content, for: request.access)
        else { return nil }
        original.record.markVerified()
        let isStored = await cache.store(found.entry, from: original, isShared: true, for: request.access)
        return Produced(body: found.body, record: found.record, isStored: isStored, timings: Timings(), isShared: true)
    }

    private func run(
        _ request: ResolvedRequest, _ original: Original, parts: [DrawnOriginal], _ urgency: Urgency
    ) async throws(PipelineError) -> Produced {
        var stopwatch = Stopwatch()
        var timings = Timings()
        let result = try await process(request, original, parts, urgency)
        let (image, digest) = (result.image, result.digest)
        timings.process = result.duration
        timings.queue = stopwatch.lap() - result.duration

        let record = VariantRecord(
            content: original.record.content, format: image.format, size: image.size, sourceBytes: original.body.count,
            digest: digest.hex, quality: image.quality, gaps: image.gaps, faces: image.faces)
        let entry = StoredEntry(body: image.body, metadata: record.bytes, bodyDigest: digest)
        // If only the header was read, the remaining bytes may be corrupt: neither the original nor the result is
        // stored. The same holds for a damaged original.
        let isVerified = (image.isProven || original.tier != nil) && !image.isDamaged
        if isVerified { original.record.markVerified() }
        let isStored = isVerified ? await cache.store(entry, from: original, for: request.access) : false
        timings.store = stopwatch.lap()
        return Produced(
            body: image.body, record: record, isStored: isStored, timings: timings, isDamaged: image.isDamaged)
    }

    private func process(
        _ request: ResolvedRequest, _ original: Original, _ parts: [DrawnOriginal], _ urgency: Urgency
    ) async throws(PipelineError) -> PixelWork.Result {
        do throws(PipelineError) {
            let job = pixels.job(for: request, from: original, parts: parts)
            let result = try await pixels.process(job, urgency, for: request.input.account)
            if original.tier == nil, result.image.isProven {
                cache.failures.recordDecoded(original.record.content, of: request.access)
            }
            speed.record(result.image, as: request.input.output)
            return result
        } catch {
            if error.isOfContent {
                let part = undecodablePart(of: original, for: request, error)
                let content = UndecodableContent(original.record, error, of: part, decodedAt: now())
                cache.reject(content, mayBeStored: original.mayBeStored, for: request.access)
            }
            throw error
        }
    }

    /// The part of an original to which an error applies, as far as the request needed it.
    private func undecodablePart(
        of original: Original, for request: ResolvedRequest, _ error: PipelineError
    ) -> SourcePart {
        let part = request.access.part
        // An unsupported format fails whichever frames or pages are requested.
        guard error == .corrupt else { return part.ofAllPages }
        // The image of an icon is chosen by the size of the result.
        return SourceFormat(sniffing: original.body.buffer) == .ico ? part : part.ofAllVariants
    }
}

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

/// The spans of a pixel job: `queue`, then `process` with `decode`, `transform` and `encode`.
///
/// The job runs on a thread without a task, so the spans are handed over.
final class PixelSpans: Sendable {
    private struct State {
        /// The span that has not ended.
        var current: (any Span)?
        var processingSince = DefaultTracerClock.now
    }

    private let tracer: any Tracer
    private let context: ServiceContext
    private let state: Mutex<State>

    /// Starts the wait for a thread. Nil if the trace is not recorded.
    init?(_ urgency: Urgency) {
        guard let queue = RecordedSpan("queue", urgency) else { return nil }
        tracer = queue.tracer
        context = ServiceContext.current ?? .topLevel
        state = Mutex(State(current: queue.span))
    }

    /// The time, for ``startProcessing(at:)``.
    var now: DefaultTracerClock.Timestamp { DefaultTracerClock.now }

    /// Ends the wait for a thread at that time, by default now.
    func startProcessing(at time: DefaultTracerClock.Timestamp? = nil) {
        let now = time ?? now
        let queue = state.withLock { state in
            let queue = state.current
            state = State(current: tracer.startSpan("process", context: context, at: now), processingSince: now)
            return queue
        }
        queue?.end(at: now)
    }

    func finish(_ image: ProcessedImage) {
        guard let (process, start) = take() else { return }
        let end = DefaultTracerClock.now
        process.updateAttributes { attributes in
            attributes["darkroom.source.format"] = image.sourceFormat.rawValue
            attributes["darkroom.format"] = image.format.rawValue
            attributes["darkroom.width"] = image.size.width
            attributes["darkroom.height"] = image.size.height
            attributes["darkroom.bytes"] = image.body.readableBytes
        }
        if let stages = image.stages { record(stages, in: process.context, from: start, to: end) }
        process.end(at: end)
    }

    /// Ends the span that the job failed in.
    func fail(_ error: PipelineError) {
        guard let (span, _) = take() else { return }
        span.fail(error)
        span.end()
    }

    /// Records the stages, whose durations a worker may have measured. The last stage ends with processing, each other
    /// stage when the next stage starts.
    private func record(
        _ stages: ProcessingStages, in context: ServiceContext, from first: DefaultTracerClock.Timestamp,
        to end: DefaultTracerClock.Timestamp
    ) {
        var instant = end.nanosecondsSinceEpoch
        let parts: [(String, Duration?)] = [
            ("encode", stages.encode), ("transform", stages.transform), ("decode", stages.decode),
        ]
        for case (let name, let duration?) in parts {
            // A worker's clock is not trusted, and the clock may have been set back.
            let most = instant - min(instant, first.nanosecondsSinceEpoch)
            let start = instant - min(most, UInt64(max(0, duration / .nanoseconds(1))))
            let span = tracer.startSpan(
                name, context: context, at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: start))
            span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: instant))
            instant = start
        }
    }

    /// The span that has not ended, and when processing started; nil if all have.
    private func take() -> (any Span, DefaultTracerClock.Timestamp)? {
        state.withLock { state in state.current.take().map { ($0, state.processingSince) } }
    }
}

extension Span {
    /// - Parameter message: a sentence without secrets; nil = the error's type says enough.
    func fail(_ error: PipelineError, message: String? = nil) {
        attributes["error.type"] = error.spanType
        setStatus(SpanStatus(code: .error, message: message))
    }
}
