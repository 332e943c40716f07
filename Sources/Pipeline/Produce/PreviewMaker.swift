import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import NIOCore

/// Makes a picture of the beginning of a JPEG, on a pixel thread that has nothing better to do. Nothing of it is kept.
struct MakePreview: Sendable {
    let queue: WorkQueue
    let processing: any ImageProcessing
    let limits: PixelLimits
    let previews: Coalescer<Preview, ImagePreview>

    /// What has to be equal for a preview to be shared.
    struct Preview: Hashable, Sendable {
        let variant: EntryKey
        let transfer: Int
        let receivedBytes: Int
    }

    /// Whether there can be one: of a JPEG, where a picture is wanted and not a text about it.
    func suits(_ partial: PartialOriginal, _ wanted: Wanted) -> Bool {
        SourceFormat(sniffing: partial.body) == .jpeg && wanted.request.output.format?.isText != true
    }

    /// - Parameter transfer: the download that the bytes are of.
    func callAsFunction(
        _ partial: PartialOriginal, in transfer: Int, of wanted: Wanted
    ) async throws(PipelineError) -> ImagePreview {
        let received = partial.body.readableBytes
        let preview = Preview(variant: wanted.keys.variant, transfer: transfer, receivedBytes: received)
        let job = job(partial, wanted)
        return try await previews.value(for: preview, urgency: Urgency(.background, client: wanted.request.client)) {
            urgency throws(PipelineError) in
            let image = try await process(job, urgency)
            return ImagePreview(body: image.body, format: image.format, size: image.size, receivedBytes: received)
        }.value
    }

    private func job(_ partial: PartialOriginal, _ wanted: Wanted) -> ImageJob {
        let request = wanted.request
        var job = ImageJob(
            source: partial.body, pages: request.pages, chain: wanted.chain, resampling: request.recipe.resampling,
            output: request.output, limits: limits)
        job.isPartial = true
        return job
    }

    private func process(_ job: ImageJob, _ urgency: Urgency) async throws(PipelineError) -> ProcessedImage {
        let processing = processing
        let weigh = { @Sendable in processing.weight(of: job, interrupt: $0) }
        return try await queue.run(urgency: urgency, weigh: weigh) {
            interrupt throws(PipelineError) in
            do throws(ImageProcessingError) {
                return try processing.process(job, interrupt: interrupt)
            } catch {
                throw PipelineError(error)
            }
        }
    }
}
