import NIOCore

/// The steps and the cost of a job, derived from the source's header without decoding a pixel.
public struct ImagePlan: Hashable, Codable, Sendable {
    /// A step of the chain and the raster that it produces.
    public struct Step: Hashable, Codable, Sendable {
        /// `decode`, or the name that the transform's key begins with: `orient`, `resize`, …
        public var name: String
        /// The raster of one frame after the step.
        public var size: PixelSize
    }

    public var sourceFormat: SourceFormat
    /// One frame as stored, before orientation.
    public var sourceSize: PixelSize
    /// Frames or pages in the file.
    public var sourceFrames: Int
    /// The file's length in bytes.
    public var sourceBytes: Int
    /// Frames or pages that are decoded.
    public var framesUsed: Int
    /// The factor by which the decoder shrinks each side; less than 1 if a vector image is drawn larger.
    public var shrinkOnLoad: Double
    /// The decode and every transform, in order; empty if nothing is decoded.
    public var steps: [Step]
    /// The output format.
    public var format: OutputFormat
    /// The size of the result, or of the image that a text result describes.
    public var size: PixelSize
    /// Frames in the result.
    public var frames: Int
    /// Whether all sizes are exact. A step that learns its size from pixels, like `trim`, leaves upper bounds.
    public var isExact: Bool
    /// The largest intermediate raster, one frame.
    public var largest: PixelSize
    /// The job's estimated peak memory in bytes: source, pixels, result, and the buffers of decoder, chain and encoder.
    /// For large images the real peak is rarely above 1.25 times the estimate.
    public var estimatedMemoryBytes: Int
    /// The job's estimated processor time, about in milliseconds on one core of a 2020 server. It does not consider
    /// cached decodes.
    public var expectedWork = 0.0
}

/// How much of a configured limit a job uses.
public struct LimitUsage: Hashable, Sendable {
    /// The limit's command-line setting, such as `max-source-pixels`.
    public var setting: String
    public var value: Int
    public var limit: Int

    public init(setting: String, value: Int, limit: Int) {
        self.setting = setting
        self.value = value
        self.limit = limit
    }

    /// The used part of the limit; 1 = all of it, and more if a decoder shrinks an oversized source to the limit.
    public var share: Double { Double(value) / Double(max(limit, 1)) }
}

extension ImagePlan {
    /// The job's usage of every limit that applies to it. Times are in milliseconds.
    public func usage(of limits: PixelLimits) -> [LimitUsage] {
        guard !steps.isEmpty else { return [] }
        func usage(_ setting: String, _ value: Int, _ limit: Int) -> LimitUsage {
            LimitUsage(setting: setting, value: value, limit: limit)
        }
        let allFrames = sourceSize.area.saturatingMultiply(by: framesUsed)
        let animation = [
            usage("max-animation-pixels", allFrames, limits.maxAnimationPixels),
            usage("max-frames", framesUsed, limits.maxFrames),
        ]
        return [usage("max-source-pixels", sourceSize.area, limits.maxSourcePixels)]
            + (framesUsed > 1 ? animation : []) + [
                usage("max-output-side", max(size.width, size.height), limits.maxOutputSide),
                usage("max-output-pixels", max(size.area, largest.area), limits.maxOutputPixels),
                usage(
                    "max-processing-time", Int(min(expectedWork, 1e15).rounded(.up)),
                    limits.maxProcessingMilliseconds),
            ]
    }
}

extension ImagePlan {
    /// Plans what `InProcessImageProcessor` would do with a job. Throws the errors that processing would throw before
    /// it decodes.
    init(of prepared: PreparedJob) throws(ImageProcessingError) {
        let header = prepared.header
        let framesUsed = try prepared.job.framesUsed(of: header)
        guard !prepared.job.output.isHeaderOnly else {
            self.init(headerOnly: header, bytes: prepared.job.source.readableBytes)
            return
        }
        let job = ImageDescriber.preparing(prepared.job)
        let last = try InProcessImageProcessor.planned(job, header, framesUsed: framesUsed)
        let decoder = Decoder(source: job.source, header: header) { false }
        let parameters = try decoder.parameters(of: job, framesUsed: framesUsed, as: last.decode)
        let cost: CostEstimate
        (self, cost) = try Self.estimated(job, decoder, parameters, last: last, framesUsed: framesUsed)
        for step in job.chain.marks {
            guard let mark = prepared.mark else { break }
            let drawing = try mark.cost(
                step.framesUsed(of: mark, on: framesUsed), at: step.size(of: mark.size, on: last.size))
            estimatedMemoryBytes += drawing.bytes
            expectedWork += drawing.work
        }
        try job.limits.check(
            work: expectedWork, decoding: cost.decodingWork, frames: framesUsed, output: job.output)
    }

    /// The plan of a job without its mark.
    private static func estimated(
        _ job: ImageJob, _ decoder: Decoder, _ parameters: DecodeParameters, last: ChainPlan, framesUsed: Int
    ) throws(ImageProcessingError) -> (ImagePlan, CostEstimate) {
        let (header, raster) = (decoder.header, try decoder.raster(parameters))
        let format = job.output.resultFormat(of: header.format, frames: framesUsed, hasAlpha: last.hasAlpha)
        if !format.isText {
            try Encoder(job.output, format: format) { false }.requireWritable(last.size)
        }
        let frames = format.supportsMultipleFrames ? framesUsed : 1
        var plan = ImagePlan(
            sourceFormat: header.format, sourceSize: header.size, sourceFrames: header.frames,
            sourceBytes: job.source.readableBytes, framesUsed: framesUsed,
            shrinkOnLoad: Double(parameters.shrink) / parameters.scale,
            steps: try steps(of: job.chain, header, raster), format: format, size: last.size, frames: frames,
            isExact: last.isSizeKnown, largest: last.largest, estimatedMemoryBytes: 0)
        let cost = CostEstimate(
            CostEstimate.Facts(
                sourceBytes: plan.sourceBytes, format: header.format, sourceArea: header.size.area, frames: framesUsed,
                decodedShare: Double(framesUsed) / Double(max(header.frames, 1)),
                needsWholeSource: header.needsWholeSource, scans: header.scans, plainBytes: header.plainBytes,
                tags: header.filters.tags,
                filterNanosecondsPerPixel: header.filters.nanosecondsPerPixel(rows: raster.size.height),
                rasterArea: raster.size.area.saturatingMultiply(by: framesUsed), rasterBytes: raster.byteCount,
                rasterHasAlpha: header.hasAlpha,
                resampledArea: last.resampledArea(of: raster.size).saturatingMultiply(by: framesUsed),
                isLinear: last.isLinear,
                steps: job.chain.cost(at: plan.steps.map(\.size), converting: header.conversionCost),
                output: job.output, outputFormat: format, efforts: job.efforts,
                resultArea: last.size.area.saturatingMultiply(by: frames), resultFrames: frames,
                plainArea: last.plainArea.saturatingMultiply(by: frames),
                resultHasAlpha: last.hasAlpha, isNoiseSaturated: last.isNoiseSaturated))
        plan.estimatedMemoryBytes = cost.bytes
        plan.expectedWork = cost.work
        return (plan, cost)
    }

    private init(headerOnly header: SourceHeader, bytes: Int) {
        self.init(
            sourceFormat: header.format, sourceSize: header.size, sourceFrames: header.frames, sourceBytes: bytes,
            framesUsed: 0, shrinkOnLoad: 1, steps: [], format: .json, size: header.size, frames: 1, isExact: true,
            largest: PixelSize(width: 1, height: 1), estimatedMemoryBytes: bytes)
    }

    /// The decode and each transform with the raster that it produces: until a resize the decoder's, which may have
    /// shrunk the image, and after it the plan's.
    private static func steps(
        of chain: TransformChain, _ header: SourceHeader, _ raster: Decoder.Raster
    ) throws(ImageProcessingError) -> [Step] {
        let plans: [ChainPlan]
        do { plans = try chain.plans(header.plan) } catch { throw .badParameter(error) }
        let isShrunk = raster.size != header.size
        return [Step(name: "decode", size: raster.size)]
            + zip(chain.transforms, plans).map { transform, plan in
                Step(
                    name: String(transform.key.prefix { $0 != "(" }),
                    size: isShrunk ? plan.raster(decoded: raster.size) : plan.size)
            }
    }
}

extension Int {
    /// The limits that bound the factors are configurable, so a product may overflow.
    func saturatingMultiply(by factor: Int) -> Int {
        let (product, isOverflow) = multipliedReportingOverflow(by: factor)
        return isOverflow ? .max : product
    }
}
