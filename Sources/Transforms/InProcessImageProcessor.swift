public import Vips

/// Does the pixel work in this process, on the calling thread.
public struct InProcessImageProcessor: ImageProcessing {
    public init() {}

    public func process(
        _ job: ImageJob, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> ProcessedImage {
        let header = try SourceHeader(of: job.source)
        let several = job.output.format?.holdsSeveral ?? header.format.isAnimation
        let framesUsed = try job.pages.framesUsed(of: header, several: several)
        try job.limits.check(header, framesUsed: framesUsed)
        let plan = try planned(job, header)

        let decoder = Decoder(source: job.source, header: header, pages: job.pages, interrupt: interrupt)
        let decoded = try decoder.decode(
            framesUsed: framesUsed, as: plan.decode, headroom: job.resampling.headroom)
        let picture = try transformed(decoded, by: job, header: header, interrupt: interrupt)

        let format =
            job.output.format ?? .natural(for: header.format, hasAlpha: picture.first.hasAlpha)
        let body = try Encoder(job.output, format: format, interrupt: interrupt).encode(picture)
        return ProcessedImage(
            body: body, format: format, size: picture.size,
            frames: format.holdsSeveral ? picture.frames.count : 1, sourceFormat: header.format)
    }

    /// Everything that the header alone can refuse is refused here, before memory is spent on pixels.
    private func planned(_ job: ImageJob, _ header: SourceHeader) throws(ImageProcessingError) -> ChainPlan {
        let plan: ChainPlan
        do {
            plan = try job.chain.plan(header.plan)
        } catch {
            throw .badParameter(error)
        }
        try job.limits.check(output: plan.size)
        try job.limits.check(intermediate: plan.largest)
        return plan
    }

    private func transformed(
        _ picture: Picture, by job: ImageJob, header: SourceHeader, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> Picture {
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
