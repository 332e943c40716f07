import DarkroomVips
import NIOCore

extension ImagePlan {
    /// Reads the source's header, and works out what `InProcessImageProcessor` would do about the job.
    ///
    /// Throws whatever that would throw before it decodes.
    init(of job: ImageJob) throws(ImageProcessingError) {
        let header = try SourceHeader(of: job.source)
        let several = job.output.format?.supportsMultipleFrames ?? header.format.isAnimation
        let framesUsed = try job.pages.framesUsed(of: header, several: several)
        guard !job.output.isHeaderOnly else {
            self.init(headerOnly: header, bytes: job.source.readableBytes)
            return
        }
        var making = job
        if job.output.format?.isText ?? false { making.chain = ImageDescriber.chain(of: job) }
        let last = try InProcessImageProcessor.planned(making, header, framesUsed: framesUsed)
        let decoder = Decoder(source: job.source, header: header) { false }
        let parameters = try decoder.parameters(
            job.pages, framesUsed: framesUsed, as: last.decode, headroom: job.resampling.headroom,
            maxPixels: job.limits.maxSourcePixels)
        try self.init(making, decoder, parameters, last: last, framesUsed: framesUsed)
    }

    private init(
        _ job: ImageJob, _ decoder: Decoder, _ parameters: DecodeParameters, last: ChainPlan, framesUsed: Int
    ) throws(ImageProcessingError) {
        let (header, raster) = (decoder.header, try decoder.raster(parameters))
        let format = job.output.format ?? .natural(for: header.format, hasAlpha: last.hasAlpha)
        if !format.isText {
            try Encoder(job.output, format: format) { false }.requireWritable(last.size)
        }
        sourceFormat = header.format
        sourceSize = header.size
        sourceFrames = header.frames
        sourceBytes = job.source.readableBytes
        self.framesUsed = framesUsed
        shrinkOnLoad = Double(parameters.shrink) / parameters.scale
        steps = try job.steps(from: header, raster)
        self.format = format
        size = last.size
        frames = format.supportsMultipleFrames ? framesUsed : 1
        isExact = last.isSizeKnown
        largest = last.largest
        let cost = JobCost(
            JobCost.Facts(job, header, raster, last: last, format: format, framesUsed: framesUsed, frames: frames))
        estimatedMemoryBytes = cost.bytes
        expectedWork = cost.work
    }

    private init(headerOnly header: SourceHeader, bytes: Int) {
        self.init(
            sourceFormat: header.format, sourceSize: header.size, sourceFrames: header.frames, sourceBytes: bytes,
            framesUsed: 0, shrinkOnLoad: 1, steps: [], format: .json, size: header.size, frames: 1, isExact: true,
            largest: PixelSize(width: 1, height: 1), estimatedMemoryBytes: bytes)
    }
}

extension JobCost.Facts {
    fileprivate init(
        _ job: ImageJob, _ header: SourceHeader, _ raster: Decoder.Raster, last: ChainPlan, format: OutputFormat,
        framesUsed: Int, frames: Int
    ) {
        let steps = job.chain.transforms
        self.init(
            sourceBytes: job.source.readableBytes, format: header.format, sourceArea: header.size.area,
            frames: framesUsed, isHeldWhole: header.isHeldWhole, rasterArea: raster.size.area.times(framesUsed),
            rasterBytes: raster.byteCount, rasterHasAlpha: header.hasAlpha,
            isScaled: last.decode != .undecided && last.size != raster.size,
            isLinear: steps.contains { ($0 as? Resize)?.resampling == .linear },
            isTilted: steps.contains { ($0 as? Rotate).map { !$0.degrees.isMultiple(of: 90) } ?? false },
            filters: steps.count { $0 is Blur || $0 is Sharpen || $0 is Filter || $0 is Tint || $0 is Hue },
            isTrimmed: steps.contains { $0 is Trim }, output: job.output, outputFormat: format,
            resultArea: last.size.area.times(frames), resultFrames: frames, resultHasAlpha: last.hasAlpha)
    }
}

extension Int {
    /// Both are bounded by limits, but those are anybody's to set.
    fileprivate func times(_ factor: Int) -> Int {
        let (product, isOverflow) = multipliedReportingOverflow(by: factor)
        return isOverflow ? .max : product
    }
}

extension ImageJob {
    /// The decode, and each transform with the raster that it gives. Until a resize the raster is that of the decoder, which may
    /// have shrunk the picture, and after it that of the plan.
    fileprivate func steps(
        from header: SourceHeader, _ raster: Decoder.Raster
    ) throws(ImageProcessingError) -> [ImagePlan.Step] {
        let plans: [ChainPlan]
        do { plans = try chain.plans(header.plan) } catch { throw .badParameter(error) }
        let isShrunk = raster.size != header.size
        return [ImagePlan.Step(name: "decode", size: raster.size)]
            + zip(chain.transforms, plans).map { transform, plan in
                ImagePlan.Step(
                    name: String(transform.key.prefix { $0 != "(" }),
                    size: isShrunk ? plan.raster(decoded: raster.size) : plan.size)
            }
    }
}

extension Decoder {
    /// What a decode would give.
    struct Raster {
        /// One frame.
        var size: PixelSize
        /// All frames.
        var byteCount: Int
    }

    /// Asks the loader itself, which tells the size before it decodes.
    func raster(_ parameters: DecodeParameters) throws(ImageProcessingError) -> Raster {
        let readable = header.format == .svg ? try SVGSource.plain(source) : source
        do {
            return try header.format.loader.withImage(of: readable, options(parameters)) { lazy in
                Raster(
                    size: PixelSize(width: lazy.width, height: lazy.height / parameters.frames),
                    byteCount: lazy.byteCount)
            }
        } catch {
            throw .corrupt(error.description)
        }
    }
}
