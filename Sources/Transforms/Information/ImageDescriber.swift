import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore

/// Describes the chain's result in one of the text formats: a JSON document, a hash, a color, or a placeholder.
struct ImageDescriber {
    let job: ImageJob
    let header: SourceHeader
    let interrupt: Interrupt

    /// The job that produces the image to describe: for a text format, its chain also scales to the size that hashes
    /// and colors need, so that decoders can shrink on load.
    static func preparing(_ job: ImageJob) -> ImageJob {
        guard job.output.format?.isText ?? false, !job.output.details.contains(.wsrv) else { return job }
        var preparing = job
        let side = Thumbnail.maxSide
        // A reduction that great reads rows more than once.
        preparing.chain = TransformChain(
            job.chain.transforms + [Rendering(), Resize(box: Box(width: side, height: side))])
        return preparing
    }

    /// - Parameter image: the result of a job from `preparing`.
    func describe(_ image: ImageFrames, as format: OutputFormat) throws(ImageProcessingError) -> ByteBuffer {
        if format == .json, job.output.details.contains(.wsrv) {
            let document = try header.withFields(of: job.source) { WsrvDocument(header, $0, image) }
            return ByteBuffer(json: document, keys: .useDefaultKeys)
        }
        let document = format == .json ? try SourceDocument(of: job, header) : nil
        do {
            let frame = try image.first.convertedToSRGB().rendered(interrupt: interrupt)
            let thumbnail = try Thumbnail(frame, interrupt: interrupt)
            if var document {
                if job.output.details.contains(.faces) {
                    let upright = PixelSize(width: document.uprightWidth, height: document.uprightHeight)
                    document.faces = image.faces?.prefix(FaceDetector.maxFaces).map { .init($0, of: upright) }
                }
                return ByteBuffer(json: try completed(document, frame, thumbnail))
            }
            switch format {
            case .blurHash: return ByteBuffer(string: BlurHash.encode(thumbnail))
            case .thumbHash: return ByteBuffer(string: ThumbHash.encode(thumbnail))
            case .lqip: return ByteBuffer(string: try placeholder(of: frame))
            // The only other text is the color.
            default: return ByteBuffer(string: Palette(thumbnail).dominant.css)
            }
        } catch {
            throw interrupt() ? .interrupted : .encodingFailed(error.description)
        }
    }

    /// The document with the requested members about the result.
    private func completed(
        _ document: SourceDocument, _ frame: VipsImage, _ thumbnail: Thumbnail
    ) throws(VipsError) -> SourceDocument {
        var document = document
        let details = job.output.details
        let palette = Palette(thumbnail)
        if details.contains(.color) {
            document.dominantColor = palette.dominant.css
            document.averageColor = palette.average.css
        }
        if details.contains(.palette) { document.palette = palette.colors.map(\.css) }
        if details.contains(.blurHash) { document.blurhash = BlurHash.encode(thumbnail) }
        if details.contains(.thumbHash) { document.thumbhash = ThumbHash.encode(thumbnail) }
        if details.contains(.lqip) { document.lqip = try placeholder(of: frame) }
        return document
    }

    /// A low-quality image placeholder: a WebP of at most 16 pixels a side without metadata, as a `data:` URI.
    private func placeholder(of frame: VipsImage) throws(VipsError) -> String {
        let box = Box(width: 16, height: 16)
        let tiny = ResizeGeometry(source: frame.size, box: box, fit: .inside, enlarge: false).scaled
        let webp = try VipsSaver.webp.encode(
            frame.resampled(to: tiny).setting(removing: frame.fields).rendered(interrupt: interrupt),
            ["Q": 40, "effort": 6, "strip": true])
        let bytes = WebPContainer.removingEXIF(from: webp)
        return "data:image/webp;base64," + Data(bytes.readableBytesView).base64EncodedString()
    }
}
