import NIOCore
import Store
import Transforms

/// Makes a variant that no cache has: original, pixel thread, caches.
struct ProduceVariant: Sendable {
    let fetch: FetchOriginal
    let originals: Coalescer<StoreKey, Original>
    let inUse: OriginalsInUse
    let queue: WorkQueue
    let processing: any ImageProcessing
    let memory: MemoryStore
    let disk: (any Storing)?
    let limits: PixelLimits

    struct Produced: Sendable {
        var body: ByteBuffer
        var record: VariantRecord
        var originalLayer: CacheReport.Layer?
        var timings: Timings
    }

    func callAsFunction(
        _ request: ImageRequest, chain: TransformChain, keys: RequestKeys, urgency: Urgency
    ) async throws(PipelineError) -> Produced {
        var watch = Stopwatch()
        var timings = Timings()
        let original = try await original(request, keys: keys, urgency: urgency)
        timings.fetch = watch.lap()

        let job = ImageJob(
            source: original.body, pages: request.pages, chain: chain, resampling: request.recipe.resampling,
            output: request.output, limits: limits)
        let (image, took) = try await process(job, urgency: urgency)
        timings.process = took
        timings.queue = watch.lap() - took

        let digest = StoreKey(hashing: image.body.readableBytesView).hex
        let record = VariantRecord(original: original.record, format: image.format, digest: digest)
        store(StoredEntry(body: image.body, metadata: record.bytes), from: original, keys: keys)
        timings.store = watch.lap()
        return Produced(body: image.body, record: record, originalLayer: original.layer, timings: timings)
    }

    /// All variants of one source that are wanted now share one download.
    private func original(
        _ request: ImageRequest, keys: RequestKeys, urgency: Urgency
    ) async throws(PipelineError) -> Original {
        if let original = inUse[keys.source] { return original }
        let fetch = fetch
        return try await originals.value(for: keys.source, urgency: urgency) { urgency throws(PipelineError) in
            try await fetch(request, keys: keys, urgency: urgency)
        }.value
    }

    private func process(
        _ job: ImageJob, urgency: Urgency
    ) async throws(PipelineError) -> (ProcessedImage, Duration) {
        let processing = processing
        return try await queue.run(urgency: urgency) { interrupt throws(PipelineError) in
            var watch = Stopwatch()
            do throws(ImageProcessingError) {
                let image = try processing.process(job, interrupt: interrupt)
                return (image, watch.lap())
            } catch {
                throw PipelineError(error)
            }
        }
    }

    private func store(_ variant: StoredEntry, from original: Original, keys: RequestKeys) {
        if original.layer == nil { fetch.store(original, for: keys.original) }
        memory.store(variant, for: keys.variant)
        disk?.store(variant, for: keys.variant)
    }
}

/// Measures one part after the other.
struct Stopwatch {
    private var last = ContinuousClock.now

    /// The time since the last lap.
    mutating func lap() -> Duration {
        let now = ContinuousClock.now
        defer { last = now }
        return last.duration(to: now)
    }
}
