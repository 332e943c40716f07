import DarkroomRequests
import DarkroomVips
import NIOCore

/// The encoded mark of a job. It is decoded, made upright and converted to sRGB like any source, under the same limits,
/// and at the resolution that its size on the image requires.
struct MarkSource: Sendable {
    private let bytes: ByteBuffer
    private let header: SourceHeader
    private let reader: SourceReader
    private let limits: PixelLimits

    init(_ bytes: ByteBuffer, limits: PixelLimits) throws(ImageProcessingError) {
        self.bytes = bytes
        self.limits = limits
        (header, reader) = try Self.naming { () throws(ImageProcessingError) in
            try SourceHeader.read(bytes, pages: PageSelection(), maxPages: 1)
        }
    }

    /// The size of the upright mark.
    var size: PixelSize { header.orientation >= 5 ? header.size.transposed : header.size }

    /// The number of frames, at most as many as the image has that they are drawn on.
    func frames(on image: Int) -> Int { header.format.isAnimation ? min(header.frames, image) : 1 }

    /// The first frames of the mark at exactly this size.
    func images(
        _ count: Int, scaledTo size: PixelSize, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> [VipsImage] {
        try Self.naming { () throws(ImageProcessingError) in
            var timer = StageTimer()
            return try InProcessImageProcessor()
                .image(for: job(size, count), header, reader: reader, framesUsed: count, &timer, interrupt: interrupt)
                .frames
        }
    }

    /// The cost of drawing this many frames of the mark at this size.
    func cost(_ frames: Int, at size: PixelSize) throws(ImageProcessingError) -> CostEstimate {
        try Self.naming { () throws(ImageProcessingError) in
            let job = job(size, frames)
            let plan = try InProcessImageProcessor.planned(job, header, framesUsed: frames)
            let decoder = Decoder(source: bytes, header: header, headerReader: reader) { false }
            let raster = try decoder.raster(decoder.parameters(of: job, framesUsed: frames, as: plan.decode))
            return CostEstimate(
                CostEstimate.Facts(
                    sourceBytes: bytes.readableBytes, format: header.format, sourceArea: header.size.area,
                    frames: frames, needsWholeSource: header.needsWholeSource, scans: header.scans,
                    plainBytes: header.plainBytes, tags: header.filters.tags,
                    embeddedPixels: header.embedded.pixels, embeddedBytes: header.embedded.textBytes,
                    filterNanosecondsPerPixel: header.filters.nanosecondsPerPixel(rows: raster.size.height),
                    rasterArea: raster.size.area.saturatingMultiply(by: frames),
                    rasterBytes: raster.byteCount, rasterHasAlpha: header.hasAlpha,
                    resampledArea: size.area.saturatingMultiply(by: frames), isLinear: false,
                    steps: header.conversionCost, output: job.output, outputFormat: .color,
                    resultArea: size.area.saturatingMultiply(by: frames), resultFrames: frames, resultHasAlpha: true,
                    isPart: true))
        }
    }

    private func job(_ size: PixelSize, _ frames: Int) -> ImageJob {
        let box = Box(width: size.width, height: size.height)
        return ImageJob(
            source: bytes, pages: PageSelection(count: frames),
            chain: TransformChain([Orient(.auto), Resize(box: box, fit: .fill, enlarge: true), ColorConversion()]),
            limits: limits)
    }

    /// Makes errors of the mark distinguishable from errors of the source.
    private static func naming<Value>(
        _ body: () throws(ImageProcessingError) -> Value
    ) throws(ImageProcessingError) -> Value {
        do throws(ImageProcessingError) { return try body() } catch {
            throw error == .interrupted ? error : .mark(error)
        }
    }
}
