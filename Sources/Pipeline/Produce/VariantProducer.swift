import DarkroomCache
import DarkroomMachine
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import DarkroomWaiting
import Foundation
import NIOCore

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
