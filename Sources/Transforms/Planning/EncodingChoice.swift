import DarkroomRequests

/// A format for the result of a job, and the efforts of its encoder.
struct EncodingChoice {
    let format: OutputFormat
    let efforts: EncoderEfforts
    /// Whether there is time to choose by the pixels, where the format has a choice.
    var choosesByPixels = false
    /// Whether the result is compared with a WebP (``WebPComparison``).
    var isComparedWithWebP = false
}

extension ImageJob {
    /// The encodings that the result may have, the preferred one first: each format that the output permits, at the
    /// configured effort with and then without a choice by the pixels, and then at lower efforts. An AVIF or an
    /// animated JPEG XL that may yield to a WebP is compared with it at every effort. Throws if no format can hold the
    /// result.
    ///
    /// - Parameter last: the plan after the chain.
    func encodings(
        of header: SourceHeader, framesUsed: Int, _ last: ChainPlan
    ) throws(ImageProcessingError) -> [EncodingChoice] {
        let formats = output.formats(of: header.format, frames: framesUsed, hasAlpha: last.hasAlpha)
        let fitting = formats.filter { $0.isText || Encoder(output, format: $0) { false }.isWritable(last.size) }
        if fitting.isEmpty, let format = formats.first {
            try Encoder(output, format: format) { false }.requireWritable(last.size)
        }
        return fitting.flatMap { format in
            let all = efforts.with(output.compression, for: .png).descending(for: format)
            let isDeep = keepsDepth(of: header) && output.depth(in: format, hasAlpha: last.hasAlpha) > 8
            let mayYield =
                format == .avif ? output.mayYieldToWebP : format == .jxl && framesUsed > 1 && output.isOpen
            if mayYield, !isDeep, fitting.contains(.webp) {
                return all.map { EncodingChoice(format: format, efforts: $0, isComparedWithWebP: true) }
            }
            return all.prefix(1).map { EncodingChoice(format: format, efforts: $0, choosesByPixels: true) }
                + all.map { EncodingChoice(format: format, efforts: $0) }
        }
    }

    /// Whether the result has more than 8 bits in a sample, in a format that can hold them.
    func keepsDepth(of header: SourceHeader) -> Bool { chain.depth == .source && header.isDeep }

    func following(_ plan: ImagePlan) -> ImageJob {
        var job = self
        if plan.preferredFormat != nil { job.output = output.converted(to: plan.format) }
        if !plan.format.holdsProfile { job.chain = chain.inSRGB }
        if plan.depth ?? 8 == 8 { job.chain = job.chain.inEightBits }
        if let effort = plan.effort {
            job.efforts = efforts.with(effort, for: plan.format)
            job.output.compression = nil
        }
        return job
    }

    /// The error of work that would take too long with every encoding. It names the parameter of the request that
    /// shortens the work most. If the request has none, the source is at fault.
    ///
    /// - Parameters:
    ///   - work: the least expected processor time in milliseconds.
    ///   - decoding: the part of it that only the number of frames shortens.
    ///   - transforming: the part of it that the chain takes.
    func refusal(
        _ cost: (work: Double, decoding: Double, transforming: Double), frames: Int, of source: SourceFormat
    ) -> ImageProcessingError {
        let (work, decoding, transforming) = cost
        let limit = Double(limits.maxProcessingMilliseconds)
        let seconds = { (milliseconds: Double) in
            milliseconds > 3_600_000 ? "hours" : "\((milliseconds / 100).rounded() / 10) s"
        }
        let allowed = "the setting max-processing-time allows at most \(seconds(limit))"
        guard decoding <= limit || frames > 1 else {
            return .tooLarge(
                "Decoding the source would take about \(seconds(decoding)) of processor time; \(allowed).")
        }
        let smaller = "ask for a smaller width or height"
        let (parameter, advice): (String?, String) =
            if frames > 1 {
                (
                    pages.count == nil ? chain.sizeParameter : "n",
                    "ask for fewer frames, for example with "
                        + "\(fewerFrames(than: frames, work, decoding, of: source)), or for a smaller width or height"
                )
            } else if chain.recipe?.steps.isEmpty == false, transforming > (work - decoding) / 2 {
                ("steps", "ask for fewer effects, or for a smaller width or height")
            } else if output.maxBytes != nil {
                ("max_bytes", "leave out max_bytes, or \(smaller)")
            } else if output.lossless || output.nearLossless {
                (output.lossless ? "ll" : "nl", "ask for a lossy image, or for a smaller width or height")
            } else {
                (chain.sizeParameter ?? (output.isOpen ? nil : "output"), "\(smaller), or for another format")
            }
        let time = "take about \(seconds(work)) of processor time, with the fastest encoding"
        return .tooLarge(parameter, "the image would \(time); \(allowed), so \(advice)")
    }

    /// Parameters with which the work of so many frames stays within the limit, with a margin.
    private func fewerFrames(
        than frames: Int, _ work: Double, _ decoding: Double, of source: SourceFormat
    ) -> String {
        let limit = Double(limits.maxProcessingMilliseconds)
        // Frames that are not picked are decoded all the same, and frames after the last one are not.
        let picks = decoding < limit / 2
        let share = picks ? (limit - decoding) / max(work - decoding, 1) : limit / max(work, 1)
        let fitting = share.isFinite ? Int(Double(frames) * min(share, 1) * 0.8) : 1
        return picks || fitting < 2 ? source.parameters(forFrames: fitting) : "n=\(fitting)"
    }
}

extension TransformChain {
    /// The query parameter that sets the size of the result; nil = the source does.
    var sizeParameter: String? {
        let resize = transforms.lazy.compactMap { $0 as? Resize }.first
        guard let box = recipe?.box ?? resize?.box, !box.isEmpty else { return recipe?.padding == nil ? nil : "pad" }
        if box.horizontal != nil { return "w" }
        return box.vertical != nil ? "h" : box.minWidth != nil ? "min-w" : box.minHeight != nil ? "min-h" : "ar"
    }
}

extension CostEstimate.Facts {
    /// The facts of a job whose encoding is not chosen yet.
    init(
        _ job: ImageJob, _ raster: Decoder.Raster, _ header: SourceHeader, _ plan: ImagePlan, _ last: ChainPlan
    ) {
        let frames = plan.framesUsed
        let isAnimation = header.format.isAnimation
        let decoded = (isAnimation ? header.page - 1 : 0) + job.pages.span(of: header, framesUsed: frames)
        self.init(
            sourceBytes: plan.sourceBytes, format: header.format, sourceArea: header.size.area, frames: frames,
            skippedFrames: decoded - frames, decodedShare: Double(decoded) / Double(max(header.frames, 1)),
            needsWholeSource: header.needsWholeSource, isLossyAnimation: header.isLossyAnimation, scans: header.scans,
            plainBytes: header.plainBytes, tags: header.filters.tags, embeddedPixels: header.embedded.pixels,
            embeddedBytes: header.embedded.textBytes,
            filterNanosecondsPerPixel: header.filters.nanosecondsPerPixel(rows: raster.size.height),
            rasterArea: raster.size.area.saturatingMultiply(by: frames), rasterBytes: raster.byteCount,
            rasterHasAlpha: header.hasAlpha,
            resampledArea: last.resampledArea(of: raster.size).saturatingMultiply(by: frames),
            isLinear: last.isLinear,
            steps: job.chain.cost(
                at: plan.steps.map(\.size), alphas: plan.steps.map(\.hasAlpha), converting: header.conversionCost),
            output: job.output, outputFormat: plan.format, efforts: job.efforts, resultArea: last.size.area,
            resultFrames: 1, plainArea: last.plainArea, resultHasAlpha: last.hasAlpha,
            keepsDepth: job.keepsDepth(of: header), isNoiseSaturated: last.isNoiseSaturated)
    }

    /// The facts of the same job with this encoding.
    func encoded(by choice: EncodingChoice) -> CostEstimate.Facts {
        var facts = self
        (facts.outputFormat, facts.efforts, facts.output.compression) = (choice.format, choice.efforts, nil)
        facts.resultFrames = choice.format.writesFrames ? frames : 1
        facts.resultArea = resultArea.saturatingMultiply(by: facts.resultFrames)
        facts.plainArea = plainArea.saturatingMultiply(by: facts.resultFrames)
        if choice.choosesByPixels, let nanoseconds = choice.format.row.choiceNanoseconds(facts) {
            facts.choiceWork = choice.format.choiceWork(nanoseconds, choice.efforts)
        }
        if choice.isComparedWithWebP {
            let webP = encoded(by: EncodingChoice(format: .webp, efforts: choice.efforts, choosesByPixels: true))
            facts.webPChoiceWork = webP.choiceWork
            facts.choiceWork = CostEstimate(webP).encodingWork + webP.choiceWork
            facts.comparisonBytes = OutputFormat.webp.row.bytes(webP)
        }
        return facts
    }
}
