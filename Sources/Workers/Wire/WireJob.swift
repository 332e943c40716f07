import DarkroomMachine
import DarkroomTransforms
import NIOCore

/// An `ImageJob` as it is sent to a worker, without its source: the recipe replaces the chain, since code cannot be
/// sent.
struct WireJob: WireValue, Equatable {
    var identity: String?
    var cachesDecoded = false
    var isPartial = false
    var pages = PageSelection()
    var recipe = Recipe()
    /// The key of the job's chain. The worker makes its chain of the recipe and compares.
    var chainKey = ""
    var resampling = Resampling.fast
    var format: OutputFormat?
    var quality: Int?
    var maxQuality: Int?
    var target: QualityTarget?
    var maxBytes: Int?
    var lossless = false
    var nearLossless = false
    var interlaced = false
    var palette = false
    var passthrough = Passthrough.off
    var compression: Int?
    var filtersRows = false
    var efforts = EncoderEfforts()
    var details = 0
    var animation = AnimationOutput.firstFrame
    var limits = PixelLimits()

    static let blank = WireJob()

    private init() {}

    /// Nil if the chain was not made of a recipe, as with custom transforms.
    init?(_ job: ImageJob) {
        guard let recipe = job.chain.recipe else { return nil }
        identity = job.identity
        cachesDecoded = job.cachesDecoded
        isPartial = job.isPartial
        pages = job.pages
        self.recipe = recipe
        chainKey = job.chain.key
        resampling = job.resampling
        format = job.output.format
        quality = job.output.quality
        maxQuality = job.output.maxQuality
        target = job.output.target
        maxBytes = job.output.maxBytes
        lossless = job.output.lossless
        nearLossless = job.output.nearLossless
        interlaced = job.output.interlaced
        palette = job.output.palette
        passthrough = job.output.passthrough
        compression = job.output.compression
        filtersRows = job.output.filtersRows
        efforts = job.efforts
        details = job.output.details.rawValue
        animation = job.output.animation
        limits = job.limits
    }

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&identity)
        try coder.code(&cachesDecoded)
        try coder.code(&isPartial)
        try coder.code(&pages)
        try coder.code(&recipe)
        try coder.code(&chainKey)
        try coder.code(choice: &resampling)
        try coder.code(choice: &format)
        try coder.code(&quality)
        try coder.code(&maxQuality)
        try coder.code(choice: &target)
        try coder.code(&maxBytes)
        try coder.code(&lossless)
        try coder.code(&nearLossless)
        try coder.code(&interlaced)
        try coder.code(&palette)
        try coder.code(choice: &passthrough)
        try coder.code(&compression)
        try coder.code(&filtersRows)
        try coder.code(&efforts)
        try coder.code(&details)
        try coder.code(choice: &animation)
        try coder.code(&limits)
    }

    /// The job with its source; nil if its chain differs from the one that its recipe makes.
    func job(source: SharedBytes, mark: SharedBytes? = nil) -> ImageJob? {
        let chain = TransformChain(recipe, limits: limits)
        guard chain.key == chainKey else { return nil }
        var job = ImageJob(
            source: ByteBuffer(), identity: identity, cachesDecoded: cachesDecoded, pages: pages, chain: chain,
            resampling: resampling,
            output: OutputOptions(
                format: format, quality: quality, maxQuality: maxQuality, target: target, maxBytes: maxBytes,
                lossless: lossless, nearLossless: nearLossless, interlaced: interlaced, palette: palette,
                compression: compression, filtersRows: filtersRows, passthrough: passthrough,
                details: ImageDetails(rawValue: details), animation: animation),
            efforts: efforts, limits: limits)
        job.sharedSource = source
        job.sharedMark = mark
        job.isPartial = isPartial
        return job
    }
}

extension PageSelection: WireValue {
    static let blank = PageSelection()

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&first)
        try coder.code(&count)
    }
}

extension EncoderEfforts: WireValue {
    static let blank = EncoderEfforts()

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        var (webp, avif, jxl, png) = (webp, avif, jxl, png)
        try coder.code(&webp)
        try coder.code(&avif)
        try coder.code(&jxl)
        try coder.code(&png)
        self = EncoderEfforts(webp: webp, avif: avif, jxl: jxl, png: png)
    }
}

extension PixelLimits: WireValue {
    static let blank = PixelLimits()

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&maxSourcePixels)
        try coder.code(&maxAnimationPixels)
        try coder.code(&maxFrames)
        try coder.code(&maxOutputSide)
        try coder.code(&maxOutputPixels)
        try coder.code(&maxProcessingMilliseconds)
    }
}
