import DarkroomMachine
import DarkroomRequests
public import DarkroomVips
import NIOCore

/// Processes images in this process, on the calling thread.
public struct InProcessImageProcessor: ImageProcessing {
    private let decoded: DecodedCache

    /// - Parameter decoded: a cache of decoded images that jobs share; the default caches nothing.
    public init(decoded: DecodedCache = DecodedCache(budgetBytes: 0)) {
        self.decoded = decoded
    }

    public func process(
        _ job: ImageJob, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> ProcessedImage {
        try process(PreparedJob(job).planned(), interrupt: interrupt)
    }

    public func attempt(
        _ job: ImageJob, within allowance: JobAllowance, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> JobAttempt {
        let planned = try PreparedJob(job).planned()
        guard allowance.permits(planned.plan) else { return JobAttempt(plan: planned.plan) }
        return JobAttempt(plan: planned.plan, image: try process(planned, interrupt: interrupt))
    }

    /// Processes a job as planned.
    package func process(
        _ planned: PlannedJob, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> ProcessedImage {
        let prepared = planned.prepared
        let (job, header) = (prepared.job.following(planned.plan), prepared.header)
        let framesUsed = try job.framesUsed(of: header)
        if job.output.isHeaderOnly {
            return ProcessedImage(
                body: ByteBuffer(json: try SourceDocument(of: job, header)), format: .json, size: header.size,
                frames: 1,
                sourceFormat: header.format, isProven: false, gaps: header.gaps)
        }
        var timer = StageTimer()
        var image = try image(
            for: ImageDescriber.preparing(job), header, reader: prepared.reader, images: prepared.images,
            framesUsed: framesUsed, &timer, interrupt: interrupt)
        let format = job.output.resultFormat(of: header.format, frames: framesUsed, hasAlpha: image.first.hasAlpha)
        image.gainMap = planned.gainMap(for: image, as: format, interrupt: interrupt)
        let encoded =
            format.isText
            ? EncodedImage(
                body: try ImageDescriber(job: job, header: header, interrupt: interrupt).describe(image, as: format),
                format: format)
            : try preferred(
                image, by: job, header, framesUsed: framesUsed, as: format, planned.plan, &timer, interrupt: interrupt)
        timer.finishEncoding(encoded.comparison)
        return ProcessedImage(
            body: encoded.body, format: encoded.format, size: image.size,
            frames: encoded.format.writesFrames ? image.frames.count : 1, sourceFormat: header.format,
            isProven: !image.isDamaged, isDamaged: image.isDamaged, quality: encoded.quality,
            gaps: header.gaps, effort: encoded.format == format ? planned.plan.effort : job.efforts[encoded.format],
            faces: image.faces.map { min($0.count, FaceDetector.maxFaces) }, stages: timer.stages)
    }

    /// The chain's result in a format, or as WebP if that is preferable and the plan compares them.
    private func preferred(
        _ image: ImageFrames, by job: ImageJob, _ header: SourceHeader, framesUsed: Int, as format: OutputFormat,
        _ plan: ImagePlan, _ timer: inout StageTimer, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> EncodedImage {
        guard plan.webPChoiceWork != nil, plan.format == format else {
            return try encoded(
                image, by: job, header, framesUsed: framesUsed, as: format, plan, &timer, interrupt: interrupt)
        }
        let pixels: ImageFrames
        do throws(VipsError) {
            pixels = try image.mapFrames { frame throws(VipsError) in try frame.rendered(interrupt: interrupt) }
        } catch {
            throw interrupt() ? .interrupted : .encodingFailed(error.description)
        }
        timer.finishTransforming()
        func encode(as format: OutputFormat) throws(ImageProcessingError) -> EncodedImage {
            var (job, unused) = (job, StageTimer())
            job.output = job.output.converted(to: format)
            return try encoded(
                pixels, by: job, header, framesUsed: framesUsed, as: format, plan.compared(as: format), &unused,
                interrupt: interrupt)
        }
        return try WebPComparison(output: job.output, knownBytes: job.webPBytes).result(
            for: pixels,
            preferred: { () throws(ImageProcessingError) in try encode(as: format) },
            webP: { () throws(ImageProcessingError) in try encode(as: .webp) })
    }

    /// The chain's result in a format, or the pixel data of the source.
    private func encoded(
        _ image: ImageFrames, by job: ImageJob, _ header: SourceHeader, framesUsed: Int, as format: OutputFormat,
        _ plan: ImagePlan, _ timer: inout StageTimer, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> EncodedImage {
        let isTranscodable = format.transcodes(header.format)
        let (choiceWork, encodingWork) = format == plan.format ? (plan.choiceWork, plan.encodingWork) : (0, 0)
        func unchanged(mostBytes: Int) -> EncodedImage? {
            job.unchangedSource(
                header, framesUsed: framesUsed, as: format, transcodes: choiceWork > 0, image, mostBytes: mostBytes)
        }
        let keepsPixels = isTranscodable && job.output.keepsPixels
        if keepsPixels, let source = unchanged(mostBytes: .max) { return source }
        let encoder = Encoder(
            job.output, format: format, efforts: job.efforts, choiceWork: isTranscodable ? 0 : choiceWork,
            encodingWork: encodingWork, interrupt: interrupt)
        let encoded = try encoder.encode(image, &timer)
        return keepsPixels ? encoded : unchanged(mostBytes: encoded.body.readableBytes) ?? encoded
    }

    public func removeDecoded(identity: String) { decoded.removeAll(identity: identity) }

    public func shrinkMemory(toFraction fraction: Double) {
        decoded.shrink(toBytes: Int(Double(decoded.statistics.bytes) * fraction))
        VipsRuntime.returnFreedPages()
    }

    /// Plans the chain and checks every limit that the header can violate, before memory is spent on pixels.
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
        try job.limits.check(output: plan.size, setBy: job.chain.sizeParameter)
        try job.limits.check(intermediate: plan.largest, setBy: job.chain.sizeParameter)
        return plan
    }

    /// Decodes and runs the chain.
    ///
    /// - Parameter reader: the reader that the header was read by.
    func image(
        for job: ImageJob, _ header: SourceHeader, reader: SourceReader, images: [String: MarkSource] = [:],
        framesUsed: Int, _ timer: inout StageTimer, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> ImageFrames {
        let plan = try Self.planned(job, header, framesUsed: framesUsed)
        var decoder = Decoder(source: job.source, header: header, headerReader: reader, interrupt: interrupt)
        do throws(ImageProcessingError) {
            return try image(for: job, by: decoder, plan, images, framesUsed: framesUsed, &timer)
        } catch {
            guard case .corrupt = error, job.output.damaged == .show else { throw error }
            decoder.isPartial = true
            var image = try image(for: job, by: decoder, plan, images, framesUsed: framesUsed, &timer)
            image.isDamaged = true
            return image
        }
    }

    private func image(
        for job: ImageJob, by decoder: Decoder, _ plan: ChainPlan, _ images: [String: MarkSource], framesUsed: Int,
        _ timer: inout StageTimer
    ) throws(ImageProcessingError) -> ImageFrames {
        let parameters = try decoder.parameters(of: job, framesUsed: framesUsed, as: plan.decode)
        let (pixels, isCached) = try pixels(of: job, parameters, by: decoder)
        timer.finishDecoding(isCached: isCached)
        let overview = job.chain.overview.map { chain in
            OverviewSource { try makeOverview(by: chain, of: job, decoder, pixels, parameters) }
        }
        let faces = FaceFinders(of: job) { chain in try makeOverview(by: chain, of: job, decoder, pixels, parameters) }
        let frames = try decoder.frames(of: pixels, parameters)
        var result = try transformed(
            frames, by: job, decoder.header, images, overview, faces, interrupt: decoder.interrupt)
        do { _ = try faces.described?.faces(of: frames, interrupt: decoder.interrupt) } catch {
            throw decoder.interrupt() ? .interrupted : .transformFailed("\(error)")
        }
        result.faces = faces.known
        return result
    }

    /// The copy on which a crop decides, or in which faces are looked for. The pixels of the result serve if the
    /// decoder would deliver the same ones.
    private func makeOverview(
        by chain: TransformChain, of job: ImageJob, _ decoder: Decoder, _ pixels: DecodedPixels,
        _ parameters: DecodeParameters
    ) throws -> VipsImage {
        let start = decoder.header.plan
        let own = try decoder.parameters(of: job, framesUsed: parameters.frames, as: chain.plan(start).decode)
        let ready = own == parameters ? pixels : try self.pixels(of: job, own, by: decoder).0
        return try chain.apply(to: decoder.frames(of: ready, own), start: start, interrupt: decoder.interrupt)
            .first.rendered(interrupt: decoder.interrupt)
    }

    /// The decoded pixels, from the cache if the same bytes were decoded in the same way before.
    private func pixels(
        of job: ImageJob, _ parameters: DecodeParameters, by decoder: Decoder
    ) throws(ImageProcessingError) -> (DecodedPixels, isCached: Bool) {
        guard let identity = job.identity, !decoder.isPartial else { return (try decoder.decode(parameters), false) }
        // Upright pixels are worth caching only if the chain would begin by orienting them.
        let isUpright =
            job.chain.startsWithAutoOrientation && parameters.frames == 1 && decoder.header.orientation != 1
        let key = DecodedCache.Key(identity: identity, parameters: parameters, isUpright: isUpright)
        if let cached = decoded.pixels(for: key) { return (cached, true) }
        let pixels = try decoder.decode(parameters)
        guard job.cachesDecoded, decoded.accepts(pixels) else { return (pixels, false) }
        let cached = isUpright ? try decoder.upright(pixels) : pixels
        decoded.store(cached, for: key)
        return (cached, false)
    }

    private func transformed(
        _ image: ImageFrames, by job: ImageJob, _ header: SourceHeader, _ images: [String: MarkSource],
        _ overview: OverviewSource?, _ faces: FaceFinders, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> ImageFrames {
        var result: ImageFrames
        do {
            result = try job.chain.apply(
                to: image, start: header.plan, images: images, overview: overview, faces: faces, limits: job.limits,
                interrupt: interrupt)
        } catch let error as TransformError {
            throw .badParameter(error)
        } catch let error as ImageProcessingError {
            throw error
        } catch {
            throw interrupt() ? .interrupted : .transformFailed("\(error)")
        }
        try job.limits.check(output: result.size, setBy: job.chain.sizeParameter)
        result.decoded = nil
        result.isFromGray = image.first.bands <= 2
        result.isP3 = job.chain.gamut.makesP3(of: image.first)
        if job.output.mayKeepPixels(of: header.format), !job.chain.hidesFaces {
            result.isUnchanged = job.chain.hasLeft(image, in: result, start: header.plan, interrupt: interrupt)
        }
        return result
    }
}

/// A job with the header of its source, so that planning and processing need not read it twice.
package struct PreparedJob: Sendable {
    let job: ImageJob
    let header: SourceHeader
    let reader: SourceReader
    /// The images that the chain draws, by their content.
    private(set) var images: [String: MarkSource] = [:]
    /// Nil if the source has none that can be applied.
    let gainMap: GainMapSource?

    /// Reads the headers of the source and of the images that are drawn. Throws if a header cannot be read.
    package init(_ job: ImageJob) throws(ImageProcessingError) {
        self.job = job
        if let digest = job.chain.digest { try digest.check(job.source) }
        (header, reader) = try SourceHeader.read(
            job.source, pages: job.pages, maxPages: min(job.limits.maxFrames, HeaderLimits.maxComparedPages))
        gainMap = job.output.isHeaderOnly ? nil : GainMapSource(of: job.source, header)
        for drawing in job.chain.drawings where images[drawing.content] == nil {
            // Never an image without its mark.
            guard let image = job.images[drawing.content] else {
                throw .transformFailed("the job has no bytes for its mark")
            }
            images[drawing.content] = try MarkSource(image.bytes.buffer, name: drawing.imageName, limits: job.limits)
        }
    }

    /// See ``ImageProcessing/plan(_:interrupt:)``.
    package func plan() throws(ImageProcessingError) -> ImagePlan { try ImagePlan(of: self) }

    package func planned() throws(ImageProcessingError) -> PlannedJob { PlannedJob(prepared: self, plan: try plan()) }

    /// The cost of drawing the images of the chain on a result of this size, and what shadows of texts add to the cost
    /// of their steps.
    func costOfImages(
        framesUsed: Int, on size: PixelSize
    ) throws(ImageProcessingError) -> (bytes: Int, work: Double) {
        var (bytes, work) = (0, 0.0)
        for drawing in job.chain.drawings {
            guard let image = images[drawing.content] else { continue }
            let cost = try drawing.cost(of: image, framesUsed: framesUsed, on: size)
            bytes += cost.bytes
            work += cost.work + drawing.compositingWork(framesUsed: framesUsed, on: size)
        }
        for case let text as TextLayer in job.chain.transforms {
            let margin = text.box.costOfShadowMargin(on: size)
            bytes += margin.bytes
            work += margin.work
        }
        return (bytes, work)
    }
}

/// A job that may be processed: planning refuses jobs that are too expensive.
package struct PlannedJob: Sendable {
    let prepared: PreparedJob
    package let plan: ImagePlan

    /// The plan, which says of a gain map that cannot be decoded that it is dropped. Takes the time to decode the map.
    package func examinedPlan(interrupt: @escaping Interrupt) -> ImagePlan {
        guard plan.gainMap == .kept, (try? prepared.gainMap?.samples(interrupt: interrupt)) == nil else { return plan }
        var plan = plan
        plan.gainMap = .droppedAsCorrupt
        return plan
    }
}
