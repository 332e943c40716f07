import DarkroomStore
import DarkroomTransforms
import Foundation
import NIOCore

/// Makes a variant that no cache has: pixel thread, then caches. What several want at once is made once.
struct ProduceVariant: Sendable {
    let queue: WorkQueue
    let processing: any ImageProcessing
    let keep: KeepResults
    let failures: FailureMemory
    let limits: PixelLimits
    let productions: Coalescer<Production, Produced>
    let now: @Sendable () -> Date

    /// What has to be equal for a production to be shared.
    struct Production: Hashable, Sendable {
        let variant: EntryKey
        let content: StoreKey
        let store: TierSelection
        let waitsForDisk: Bool
        /// Nobody joins what began before a purge.
        let moment: Generations.Moment
    }

    struct Produced: Sendable {
        var body: ByteBuffer
        var record: VariantRecord
        var isStored: Bool
        var timings: Timings
    }

    func callAsFunction(
        _ wanted: Wanted, from original: Original
    ) async throws(PipelineError) -> (value: Produced, isShared: Bool) {
        let use = wanted.request.cache
        let production = Production(
            variant: wanted.keys.variant, content: original.record.content, store: use.store,
            waitsForDisk: use.waitsForDisk, moment: wanted.moment)
        return try await productions.value(for: production, urgency: wanted.urgency) { urgency throws(PipelineError) in
            if let made = await madeMeanwhile(wanted, original) { return made }
            return try await produce(wanted, original, urgency)
        }
    }

    /// What another request has made between our look into the caches and our turn.
    private func madeMeanwhile(_ wanted: Wanted, _ original: Original) async -> Produced? {
        guard !wanted.request.cache.waitsForDisk,
            let found = FindVariant(keep: keep).inMemory(wanted, of: original.record.content)
        else { return nil }
        original.record.prove()
        let isStored = await keep.keep(found.entry, from: original, wanted)
        return Produced(body: found.body, record: found.record, isStored: isStored, timings: Timings())
    }

    private func produce(
        _ wanted: Wanted, _ original: Original, _ urgency: Urgency
    ) async throws(PipelineError) -> Produced {
        var watch = Stopwatch()
        var timings = Timings()
        let (image, took) = try await process(job(wanted, original), wanted, original, urgency)
        timings.process = took
        timings.queue = watch.lap() - took

        let digest = StoreKey(hashing: image.body.readableBytesView)
        let record = VariantRecord(content: original.record.content, format: image.format, digest: digest.hex)
        let entry = StoredEntry(body: image.body, metadata: record.bytes, bodyDigest: digest)
        // What only a header was read of may be damaged: neither it nor what was told of it is kept.
        let isProven = image.isProven || original.layer != nil
        if isProven { original.record.prove() }
        let isStored = isProven ? await keep.keep(entry, from: original, wanted) : false
        timings.store = watch.lap()
        return Produced(body: image.body, record: record, isStored: isStored, timings: timings)
    }

    func job(_ wanted: Wanted, _ original: Original) -> ImageJob {
        let request = wanted.request
        return ImageJob(
            source: original.body, identity: original.record.content.hex, cachesDecoded: original.layer != nil,
            pages: request.pages, chain: wanted.chain, resampling: request.recipe.resampling,
            output: request.output, limits: limits)
    }

    private func process(
        _ job: ImageJob, _ wanted: Wanted, _ original: Original, _ urgency: Urgency
    ) async throws(PipelineError) -> (ProcessedImage, Duration) {
        let processing = processing
        do throws(PipelineError) {
            let weigh = { @Sendable in processing.weight(of: job, interrupt: $0) }
            let result = try await queue.run(urgency: urgency, weigh: weigh) {
                interrupt throws(PipelineError) in
                var watch = Stopwatch()
                do throws(ImageProcessingError) {
                    let image = try processing.process(job, interrupt: interrupt)
                    return (image, watch.lap())
                } catch {
                    throw PipelineError(error)
                }
            }
            if original.layer == nil, result.0.isProven { failures.forget([wanted.keys.source]) }
            return result
        } catch {
            if error == .corrupt || error == .unsupported {
                let content = UndecodableContent(
                    original.record, error, pages: wanted.request.pages, decodedAt: now())
                // A purge since then forgets this too; what may not be kept has had its generation end already.
                if keep.isCurrent(wanted) || !original.mayBeStored {
                    failures.note(undecodable: content, of: wanted, now: now())
                }
                keep.inUse.forget([wanted.keys.source])
            }
            throw error
        }
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
