import DarkroomVips
import NIOCore

/// The encoded mark of a job. It is decoded, made upright and converted to sRGB like any source, under the same limits,
/// and at the resolution that its size on the image requires. For an animation, the first frame is used.
struct MarkSource: Sendable {
    private let bytes: ByteBuffer
    private let header: SourceHeader
    private let limits: PixelLimits

    /// Reads the header.
    init(_ bytes: ByteBuffer, limits: PixelLimits) throws(ImageProcessingError) {
        self.bytes = bytes
        self.limits = limits
        header = try Self.naming { () throws(ImageProcessingError) in try SourceHeader(of: bytes) }
    }

    /// The size of the upright mark.
    var size: PixelSize { header.orientation >= 5 ? header.size.transposed : header.size }

    /// The mark at exactly this size.
    func image(scaledTo size: PixelSize, interrupt: @escaping Interrupt) throws(ImageProcessingError) -> VipsImage {
        try Self.naming { () throws(ImageProcessingError) in
            var timer = StageTimer()
            return try InProcessImageProcessor()
                .image(for: job(size), header, framesUsed: 1, &timer, interrupt: interrupt).first
        }
    }

    /// The cost of drawing the mark at this size.
    func cost(at size: PixelSize) throws(ImageProcessingError) -> CostEstimate {
        try Self.naming { () throws(ImageProcessingError) in
            let job = job(size)
            let plan = try InProcessImageProcessor.planned(job, header, framesUsed: 1)
            let decoder = Decoder(source: bytes, header: header) { false }
            let parameters = try decoder.parameters(
                framesUsed: 1, as: plan.decode, headroom: job.resampling.headroom,
                maxPixels: limits.maxSourcePixels)
            let raster = try decoder.raster(parameters)
            return CostEstimate(
                CostEstimate.Facts(
                    sourceBytes: bytes.readableBytes, format: header.format, sourceArea: header.size.area, frames: 1,
                    needsWholeSource: header.needsWholeSource, rasterArea: raster.size.area,
                    rasterBytes: raster.byteCount, rasterHasAlpha: header.hasAlpha, resampledArea: size.area,
                    isLinear: false,
                    steps: header.conversionCost, output: job.output, outputFormat: .color, resultArea: size.area,
                    resultFrames: 1, resultHasAlpha: true, isPart: true))
        }
    }

    private func job(_ size: PixelSize) -> ImageJob {
        let box = Box(width: size.width, height: size.height)
        return ImageJob(
            source: bytes, pages: PageSelection(count: 1),
            chain: TransformChain([Orient(.auto), Resize(box: box, fit: .fill, enlarge: true), ToSRGB()]),
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
