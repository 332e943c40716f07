import DarkroomRequests
import DarkroomVips
import NIOCore

/// An encoded image that a job draws: its mark, or a named one. It is decoded, made upright and converted to sRGB like
/// any source, under the same limits, and at the resolution that its size on the result requires.
struct MarkSource: Sendable {
    private let bytes: ByteBuffer
    private let header: SourceHeader
    private let reader: SourceReader
    private let limits: PixelLimits
    /// See ``ImageDrawing/imageName``.
    private var name: String

    init(_ bytes: ByteBuffer, name: String = "", limits: PixelLimits) throws(ImageProcessingError) {
        self.bytes = bytes
        self.name = name
        self.limits = limits
        (header, reader) = try Self.naming(name) { () throws(ImageProcessingError) in
            try SourceHeader.read(bytes, pages: PageSelection(), maxPages: 1)
        }
    }

    /// The same image under another name of the request.
    func named(_ name: String) -> MarkSource {
        var source = self
        source.name = name
        return source
    }

    var size: PixelSize { header.orientation >= 5 ? header.size.transposed : header.size }

    /// The number of frames, at most as many as the image has that they are drawn on.
    func frames(on image: Int) -> Int { header.format.isAnimation ? min(header.frames, image) : 1 }

    /// The first frames of the mark at exactly this size.
    func images(
        _ count: Int, scaledTo size: PixelSize, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> [VipsImage] {
        try images(count, by: chain(scalingTo: size), interrupt: interrupt)
    }

    /// The first frames of the image, made by a chain.
    func images(
        _ count: Int, by chain: TransformChain, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> [VipsImage] {
        try Self.naming(name) { () throws(ImageProcessingError) in
            var timer = StageTimer()
            return try InProcessImageProcessor()
                .image(for: job(chain, count), header, reader: reader, framesUsed: count, &timer, interrupt: interrupt)
                .frames
        }
    }

    /// The cost of drawing this many frames of the mark at this size.
    func cost(_ frames: Int, at size: PixelSize) throws(ImageProcessingError) -> (bytes: Int, work: Double) {
        try cost(frames, by: chain(scalingTo: size))
    }

    /// The cost of making this many frames by a chain.
    func cost(
        _ frames: Int, by chain: TransformChain
    ) throws(ImageProcessingError) -> (bytes: Int, work: Double) {
        try Self.naming(name) { () throws(ImageProcessingError) in
            let job = job(chain, frames)
            let last = try InProcessImageProcessor.planned(job, header, framesUsed: frames)
            let decoder = Decoder(source: bytes, header: header, headerReader: reader) { false }
            let parameters = try decoder.parameters(of: job, framesUsed: frames, as: last.decode)
            let raster = try decoder.raster(parameters)
            let plan = try ImagePlan.planned(job, decoder, parameters, raster, last: last, framesUsed: frames)
            var facts = CostEstimate.Facts(job, raster, header, plan, last)
            facts.resampledArea = last.size.area.saturatingMultiply(by: frames)
            facts.resultArea = facts.resampledArea
            (facts.resultFrames, facts.resultHasAlpha, facts.outputFormat) = (frames, true, .color)
            facts.isPart = true
            let copies = try ImagePlan.costOfCopies(for: job, by: decoder, besides: parameters, facts)
            let cost = CostEstimate(facts)
            return (cost.bytes + copies.bytes, cost.work + copies.work)
        }
    }

    private func chain(scalingTo size: PixelSize) -> TransformChain {
        let box = Box(width: size.width, height: size.height)
        return TransformChain([Orient(.auto), Resize(box: box, fit: .fill, enlarge: true), ColorConversion()])
    }

    private func job(_ chain: TransformChain, _ frames: Int) -> ImageJob {
        ImageJob(
            source: bytes, pages: PageSelection(count: frames), chain: chain,
            resampling: chain.recipe?.resampling ?? .fast, limits: limits)
    }

    /// Makes errors of the image distinguishable from errors of the source.
    private static func naming<Value>(
        _ name: String, _ body: () throws(ImageProcessingError) -> Value
    ) throws(ImageProcessingError) -> Value {
        do throws(ImageProcessingError) { return try body() } catch {
            throw error == .interrupted ? error : .mark(error, name: name)
        }
    }
}
