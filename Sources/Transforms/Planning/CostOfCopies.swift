import DarkroomRequests

extension ImagePlan {
    /// The cost of the copies on which a crop by content decides (``Overview``) and in which faces are looked for
    /// (``FaceCopy``), with the search.
    static func costOfCopies(
        for job: ImageJob, by decoder: Decoder, besides parameters: DecodeParameters, _ facts: CostEstimate.Facts
    ) throws(ImageProcessingError) -> (bytes: Int, work: Double) {
        var (bytes, work) = (0, 0.0)
        if let chain = job.chain.overview {
            (bytes, work) = try cost(of: chain, for: job, by: decoder, besides: parameters, facts)
        }
        for chain in FaceFinders.copies(for: job) {
            let copy = try cost(of: chain, for: job, by: decoder, besides: parameters, facts)
            let size = try plan(of: chain, decoder).size
            let search = FaceDetector.isBuiltIn ? FaceFinder.searchedArea(of: size) : 0
            bytes = max(bytes, copy.bytes + search * FaceDetector.bytesPerPixel)
            work += copy.work + Double(search) * FaceDetector.nanosecondsPerPixel / 1e6
        }
        return (bytes, work)
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
