import DarkroomVips
import Foundation
import NIOCore

/// Turns the chain's result into one of the text formats.
struct ImageDescriber {
    let job: ImageJob
    let header: SourceHeader
    let interrupt: Interrupt

    /// The job's chain, and then down to what hashes and colours need: decoders that can shrink do so.
    static func chain(of job: ImageJob) -> TransformChain {
        let side = Thumbnail.maxSide
        return TransformChain(job.chain.transforms + [Resize(box: Box(width: side, height: side))])
    }

    /// - Parameter picture: what `chain` gave.
    func tell(_ picture: ImageFrames, as format: OutputFormat) throws(ImageProcessingError) -> ByteBuffer {
        var document = format == .json ? try SourceDocument(of: job, header) : nil
        do {
            let frame = try picture.first.convertedToSRGB().rendered(interrupt: interrupt)
            let text = try text(of: frame, as: format, document: &document)
            return document?.json ?? ByteBuffer(string: text)
        } catch {
            throw interrupt() ? .interrupted : .encodingFailed(error.description)
        }
    }

    private func text(
        of frame: VipsImage, as format: OutputFormat, document: inout SourceDocument?
    ) throws(VipsError) -> String {
        let small = try Thumbnail(frame, interrupt: interrupt)
        switch format {
        case .blurHash: return BlurHash.encode(small)
        case .thumbHash: return ThumbHash.encode(small)
        case .color: return Palette(small).dominant.css
        case .lqip: return try dataURI(of: frame)
        default:
            try complete(&document, frame, small)
            return ""
        }
    }

    private func complete(
        _ document: inout SourceDocument?, _ frame: VipsImage, _ small: Thumbnail
    ) throws(VipsError) {
        let details = job.output.details
        let palette = Palette(small)
        if details.contains(.color) {
            document?.dominantColor = palette.dominant.css
            document?.averageColor = palette.average.css
        }
        if details.contains(.palette) { document?.palette = palette.colors.map(\.css) }
        if details.contains(.blurHash) { document?.blurHash = BlurHash.encode(small) }
        if details.contains(.thumbHash) { document?.thumbHash = ThumbHash.encode(small) }
        if details.contains(.lqip) { document?.lqip = try dataURI(of: frame) }
    }

    /// A WebP of 16 pixels, without any metadata.
    private func dataURI(of frame: VipsImage) throws(VipsError) -> String {
        let size = PixelSize(width: frame.width, height: frame.height)
        let tiny = ResizeGeometry(
            source: size, box: Box(width: Self.tinySide, height: Self.tinySide), fit: .inside, enlarge: false
        ).scaled
        let sampler = ExactSampler(extent: Extent(size), target: tiny, linearLight: false)
        let webp = try VipsSaver.webp.encode(
            sampler.sample(frame).setting(removing: frame.fields).rendered(interrupt: interrupt),
            ["Q": 40, "effort": 6, "strip": true])
        return "data:image/webp;base64," + Data(webp.readableBytesView).base64EncodedString()
    }

    private static let tinySide = 16
}
