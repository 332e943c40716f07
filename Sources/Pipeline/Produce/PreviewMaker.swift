import DarkroomCache
import DarkroomOrigin
import DarkroomStore
public import DarkroomTransforms
import DarkroomWaiting
public import Foundation
public import NIOCore

/// Makes previews from the beginning of a JPEG, at background priority. Previews are not cached.
struct PreviewMaker: Sendable {
    let pixels: PixelWork
    let previews = Coalescer<Key, ImagePreview>()

    /// The values that must be equal for requests to share a preview.
    struct Key: Hashable, Sendable {
        let variant: EntryKey
        let download: SharedDownload
        let receivedBytes: Int
    }

    /// Whether a preview can be made: the source is a JPEG, the output is an image rather than a text about one, and it
    /// shows no mark.
    func supports(_ partial: PartialOriginal, _ request: ResolvedRequest) -> Bool {
        SourceFormat(signatureOf: partial.body) == .jpeg && request.input.output.format?.isText != true
            && request.input.mark == nil
    }

    /// - Parameter download: the download that the bytes belong to.
    func preview(
        of partial: PartialOriginal, download: SharedDownload, for request: ResolvedRequest
    ) async throws(PipelineError) -> ImagePreview {
        let received = partial.receivedBytes
        let key = Key(variant: request.keys.variant, download: download, receivedBytes: received)
        let job = pixels.previewJob(for: request, from: partial.body)
        let urgency = Urgency(.background, client: request.input.client)
        return try await previews.value(for: key, urgency: urgency) { urgency throws(PipelineError) in
            let image = try await pixels.process(job, urgency, for: request.input.account).image
            return ImagePreview(body: image.body, format: image.format, size: image.size, receivedBytes: received)
        }.value
    }
}

/// An image made from the beginning of an original: gray where bytes are missing or, for a progressive JPEG, complete
/// and blurred. Previews are not cached.
public struct ImagePreview: Sendable {
    /// The encoded preview.
    public var body: ByteBuffer
    /// The format of ``body``, which is also the format of the final image.
    public var format: OutputFormat
    public var size: PixelSize
    /// The bytes of the original that the preview was made from.
    public var receivedBytes: Int

    /// A copy of ``body`` as `Data`.
    public var data: Data { Data(body.readableBytesView) }
}
