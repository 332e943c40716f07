import DarkroomRequests

/// The cost of the copies on which a crop by content decides (``Overview``) and in which faces are looked for
/// (``FaceCopy``), with the searches.
struct CostOfCopies {
    var bytes = 0
    var work = 0.0
    var searches: [ImagePlan.FaceSearch] = []

    /// Adds a search, and making the copy for it.
    fileprivate mutating func add(
        _ purpose: ImagePlan.FaceSearch.Purpose, in size: PixelSize, copy: (bytes: Int, work: Double)
    ) {
        let area = FaceDetector.isBuiltIn ? FaceFinder.searchedArea(of: size) : 0
        let work = copy.work + Double(area) * FaceDetector.nanosecondsPerPixel / 1e6
        bytes = max(bytes, copy.bytes + area * FaceDetector.bytesPerPixel)
        self.work += work
        if area > 0 { searches.append(ImagePlan.FaceSearch(purpose: purpose, size: size, work: work)) }
    }
}

extension ImagePlan {
    static func costOfCopies(
        for job: ImageJob, by decoder: Decoder, besides parameters: DecodeParameters, _ facts: CostEstimate.Facts
    ) throws(ImageProcessingError) -> CostOfCopies {
        var sum = CostOfCopies()
        if let chain = job.chain.overview {
            (sum.bytes, sum.work) = try cost(of: chain, for: job, by: decoder, besides: parameters, facts)
        }
        for (purpose, chain) in FaceFinders.copies(for: job) {
            let copy = try cost(of: chain, for: job, by: decoder, besides: parameters, facts)
            sum.add(purpose, in: try plan(of: chain, decoder).size, copy: copy)
        }
        let images: [PixelSize]
        do { images = try job.chain.imagesToSearch(decoder.header.plan) } catch { throw .badParameter(error) }
        for size in images {
            let copy = Double(size.area) * Overview.nanosecondsPerPixel / 1e6
            sum.add(.show, in: FaceCopy.size(of: size), copy: (0, copy))
        }
        return sum
    }

    /// The cost of one copy: its own decode, or reducing the pixels that are decoded for the result, if these serve.
    private static func cost(
        of chain: TransformChain, for job: ImageJob, by decoder: Decoder, besides parameters: DecodeParameters,
        _ facts: CostEstimate.Facts
    ) throws(ImageProcessingError) -> (bytes: Int, work: Double) {
        let last = try plan(of: chain, decoder)
        let own = try decoder.parameters(of: job, framesUsed: parameters.frames, as: last.decode)
        guard own != parameters else {
            let area = Double(facts.rasterArea) / Double(max(facts.frames, 1))
            return (0, area * Overview.nanosecondsPerPixel / 1e6)
        }
        // About what the decoder delivers. To ask it would mean to read a drawing once more.
        let size = decoder.header.size.scaled(by: own.scale / Double(own.shrink))
        var facts = facts
        (facts.rasterArea, facts.rasterBytes) = (size.area, size.area.saturatingMultiply(by: 4))
        facts.filterNanosecondsPerPixel = decoder.header.filters.nanosecondsPerPixel(rows: size.height)
        // The decoder of drawings holds the pixels twice.
        return (facts.rasterBytes.saturatingMultiply(by: 2), CostEstimate(facts).decodingWork)
    }

    private static func plan(of chain: TransformChain, _ decoder: Decoder) throws(ImageProcessingError) -> ChainPlan {
        do { return try chain.plan(decoder.header.plan) } catch { throw .badParameter(error) }
    }
}
