import DarkroomMachine
import DarkroomTransforms
import NIOCore

/// An `ImageJob` as it is sent to a worker, without its source: the recipe replaces the chain, since code cannot be
/// sent.
struct WireJob: Codable, Sendable {
    var identity: String?
    var cachesDecoded: Bool
    var isPartial: Bool
    var pages: PageSelection
    var recipe: Recipe
    var resampling: Resampling
    var format: OutputFormat?
    var quality: Int?
    var lossless: Bool
    var interlaced: Bool
    var details: Int
    var limits: PixelLimits

    /// Nil if the chain differs from the one that its recipe makes, as with custom transforms.
    init?(_ job: ImageJob) {
        guard let recipe = job.chain.recipe, TransformChain(recipe, limits: job.limits).key == job.chain.key else {
            return nil
        }
        identity = job.identity
        cachesDecoded = job.cachesDecoded
        isPartial = job.isPartial
        pages = job.pages
        self.recipe = recipe
        resampling = job.resampling
        format = job.output.format
        quality = job.output.quality
        lossless = job.output.lossless
        interlaced = job.output.interlaced
        details = job.output.details.rawValue
        limits = job.limits
    }

    /// The job with its source.
    func job(source: SharedBytes) -> ImageJob {
        var job = ImageJob(
            source: ByteBuffer(), identity: identity, cachesDecoded: cachesDecoded, pages: pages,
            chain: TransformChain(recipe, limits: limits), resampling: resampling,
            output: OutputOptions(
                format: format, quality: quality, lossless: lossless, interlaced: interlaced,
                details: ImageDetails(rawValue: details)),
            limits: limits)
        job.sharedSource = source
        job.isPartial = isPartial
        return job
    }
}
