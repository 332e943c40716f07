public import DarkroomVips

/// Does the pixel work in this process, on the calling thread.
public struct InProcessImageProcessor: ImageProcessing {
    private let decoded: DecodedCache

    /// - Parameter decoded: where pictures are kept between jobs; the default keeps none.
    public init(decoded: DecodedCache = DecodedCache(budgetBytes: 0)) {
        self.decoded = decoded
    }

    public func process(
        _ job: ImageJob, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> ProcessedImage {
        let header = try SourceHeader(of: job.source)
        guard !job.isPartial || header.format == .jpeg else { throw .unsupported }
        let several = job.output.format?.supportsMultipleFrames ?? header.format.isAnimation
        let framesUsed = try job.pages.framesUsed(of: header, several: several)
        if job.output.isHeaderOnly {
            return ProcessedImage(
                body: try SourceDocument(of: job, header).json, format: .json, size: header.size, frames: 1,
                sourceFormat: header.format, isProven: false)
        }
        let isTold = job.output.format?.isText ?? false
        var making = job
        if isTold { making.chain = ImageDescriber.chain(of: job) }
        let picture = try picture(for: making, header, framesUsed: framesUsed, interrupt: interrupt)
        let format =
            job.output.format ?? .natural(for: header.format, hasAlpha: picture.first.hasAlpha)
        let body =
            isTold
            ? try ImageDescriber(job: job, header: header, interrupt: interrupt).tell(picture, as: format)
            : try Encoder(job.output, format: format, interrupt: interrupt).encode(picture)
        return ProcessedImage(
            body: body, format: format, size: picture.size,
            frames: format.supportsMultipleFrames ? picture.frames.count : 1, sourceFormat: header.format,
            isProven: !job.isPartial)
    }

    /// Decodes and runs the chain.
    private func picture(
        for job: ImageJob, _ header: SourceHeader, framesUsed: Int, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> ImageFrames {
        let plan = try Self.planned(job, header, framesUsed: framesUsed)
        let decoder = Decoder(source: job.source, header: header, isPartial: job.isPartial, interrupt: interrupt)
        let parameters = try decoder.parameters(
            job.pages, framesUsed: framesUsed, as: plan.decode, headroom: job.resampling.headroom,
            maxPixels: job.limits.maxSourcePixels)
        let pixels = try pixels(of: job, parameters, by: decoder)
        return try transformed(
            decoder.picture(pixels, parameters), by: job, header: header, interrupt: interrupt)
    }

    public func removeDecoded(identity: String) { decoded.removeAll(identity: identity) }

    public func shrinkMemory(toFraction fraction: Double) {
        decoded.shrink(toBytes: Int(Double(decoded.statistics.bytes) * fraction))
        VipsRuntime.returnFreedPages()
    }

    /// Everything that the header alone can refuse is refused here, before memory is spent on pixels.
    static func planned(
        _ job: ImageJob, _ header: SourceHeader, framesUsed: Int
    ) throws(ImageProcessingError) -> ChainPlan {
        let plan: ChainPlan
        do {
            plan = try job.chain.plan(header.plan)
        } catch {
            try job.limits.check(header, framesUsed: framesUsed)
            throw .badParameter(error)
        }
        try job.limits.check(header, framesUsed: framesUsed, shrinks: plan.isReduced)
        try job.limits.check(output: plan.size)
        try job.limits.check(intermediate: plan.largest)
        return plan
    }

    /// Decoded now, or before from the same bytes in the same way.
    private func pixels(
        of job: ImageJob, _ parameters: DecodeParameters, by decoder: Decoder
    ) throws(ImageProcessingError) -> DecodedPixels {
        guard let identity = job.identity, !job.isPartial else { return try decoder.decode(parameters) }
        // Turning it once is worth it only where the chain would begin with just that.
        let turns = job.chain.beginsUpright && parameters.frames == 1 && decoder.header.orientation != 1
        let key = DecodedCache.Key(identity: identity, parameters: parameters, isUpright: turns)
        if let kept = decoded.pixels(for: key) { return kept }
        let pixels = try decoder.decode(parameters)
        guard job.cachesDecoded, decoded.accepts(pixels) else { return pixels }
        let kept = turns ? try decoder.upright(pixels) : pixels
        decoded.keep(kept, for: key)
        return kept
    }

    private func transformed(
        _ picture: ImageFrames, by job: ImageJob, header: SourceHeader, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> ImageFrames {
        let result: Picture
        do {
            result = try job.chain.apply(to: picture, start: header.plan, interrupt: interrupt)
        } catch let error as TransformError {
            throw .badParameter(error)
        } catch {
            throw interrupt() ? .interrupted : .transformFailed("\(error)")
        }
        try job.limits.check(output: result.size)
        return result
    }
}
