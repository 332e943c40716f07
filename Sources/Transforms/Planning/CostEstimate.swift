import DarkroomRequests
import Foundation

/// The estimated peak memory and processor time of a job. A pure function of the header's facts; its constants were
/// measured with libvips 8.14 and the codecs of Debian 12, one process for each image.
struct CostEstimate: Hashable, Sendable {
    struct Facts: Hashable, Sendable {
        var sourceBytes: Int
        var format: SourceFormat
        /// Pixels of one frame as stored.
        var sourceArea: Int
        /// Frames that the decoder delivers.
        var frames: Int
        /// Frames that are decoded only because other frames are drawn on them.
        var skippedFrames = 0
        /// The part of the file's frames that is decoded, 0…1.
        var decodedShare = 1.0
        /// See ``SourceHeader/needsWholeSource``.
        var needsWholeSource: Bool
        /// See ``SourceHeader/isLossyAnimation``.
        var isLossyAnimation = false
        /// See ``SourceHeader/scans``.
        var scans = 1
        /// See ``SourceHeader/plainBytes``.
        var plainBytes = 0
        /// See ``SVGFilters/tags``.
        var tags = 0
        /// Pixels of the images in an SVG that are decoded and encoded again.
        var embeddedPixels = 0
        /// The part of ``plainBytes`` that is embedded images.
        var embeddedBytes = 0
        /// ``SVGFilters/nanosecondsPerPixel(rows:)``.
        var filterNanosecondsPerPixel = 0.0
        /// Pixels that the decoder delivers, all frames.
        var rasterArea: Int
        var rasterBytes: Int
        var rasterHasAlpha: Bool
        /// Pixels that are resampled, all frames; 0 = none.
        var resampledArea: Int
        /// Whether they are in linear light.
        var isLinear: Bool
        /// The sum of the chain's own costs, for each pixel of the result (``TransformChain/cost(at:)``).
        var steps: TransformCost
        var output: OutputOptions
        var outputFormat: OutputFormat
        var efforts = EncoderEfforts()
        /// See ``ImagePlan/choiceWork``.
        var choiceWork = 0.0
        /// See ``ImagePlan/webPChoiceWork``.
        var webPChoiceWork: Double?
        /// Bytes that the encoder of a WebP takes with which the result is compared, besides the pixels.
        var comparisonBytes = 0.0
        /// Pixels of the result, all frames.
        var resultArea: Int
        var resultFrames: Int
        /// Pixels of the result that were filled with one color, all frames.
        var plainArea = 0
        var resultHasAlpha: Bool
        /// Whether results have more than 8 bits, in a format that can hold them.
        var keepsDepth = false
        /// ``ChainPlan/isNoiseSaturated``.
        var isNoiseSaturated = false
        /// Whether it is a part of another job; the estimate of that job includes the fixed cost.
        var isPart = false
    }

    /// Peak memory in bytes.
    let bytes: Int
    /// Processor time, about in milliseconds on one core of a 2020 server.
    let work: Double
    /// The part of ``work`` that decoding takes, whatever the request.
    let decodingWork: Double
    /// The part of ``work`` that the chain takes.
    let transformingWork: Double
    /// The part of ``work`` that the encoder takes, without a choice by the pixels.
    let encodingWork: Double

    init(_ facts: Facts) {
        let result = Double(facts.resultArea) * facts.resultBands * facts.sampleBytes
        let raster = Double(facts.rasterBytes)
        let peak =
            max(
                raster + facts.format.row.bytes(facts),
                raster + result + max(facts.transforming, facts.outputFormat.row.bytes(facts)),
                raster + result + facts.comparisonBytes)
            + (facts.webPChoiceWork == nil ? 0 : result)
        // A source that may be passed on is copied.
        let source = Double(facts.sourceBytes) * (facts.output.passthrough == .off ? 1 : 2)
        bytes = Int(min(Self.maxBytes, source + (facts.isPart ? 0 : Self.fixedBytes) + peak))
        decodingWork = facts.format.row.nanoseconds(facts) / 1e6
        transformingWork = facts.transformingNanoseconds / 1e6
        encodingWork = facts.encodingNanoseconds / 1e6
        let fixed = facts.isPart ? 0 : Self.fixedNanoseconds / 1e6
        work = decodingWork + transformingWork + encodingWork + fixed + facts.choiceWork
    }

    /// Estimates of several parts can be added, although `Double` rounds this up.
    private static let maxBytes = Double(Int.max / 4)
    /// The memory of the smallest job.
    private static let fixedBytes = 2.0 * 1024 * 1024
    /// The time of the smallest job.
    private static let fixedNanoseconds = 1.5e6
}

extension CostEstimate.Facts {
    /// Pixels of the frames that are decoded, as stored.
    var storedPixels: Double { Double(sourceArea) * Double(decodedFrames) }
    var decodedFrames: Int { frames + skippedFrames }
    var readBytes: Double { Double(sourceBytes) * decodedShare }
    /// Pixels that the decoder delivers, all frames.
    var rasterPixels: Double { Double(rasterArea) }
    var resultPixels: Double { Double(resultArea) }
    var framePixels: Double { Double(resultArea) / Double(max(resultFrames, 1)) }
    /// Bytes of the file for each pixel that is decoded, as stored.
    var bytesPerPixel: Double { format.isVector ? 1 : readBytes / max(storedPixels, 1) }
    /// Whether a lossless file is smaller than photographs usually are, not counting some metadata.
    var isCompact: Bool { readBytes < storedPixels * 0.7 + Self.metadataBytes }
    private static let metadataBytes = 16_384.0
    /// See ``SourceFormat/Row/mayBeDrawing``.
    var mayBeDrawing: Bool { format.row.mayBeDrawing(self) }
    /// How much there is to encode in a pixel, compared to a photograph of grass: 0.2 to 1. The bytes that the file
    /// takes for a pixel are what is known of it before the pixels are decoded; nothing is known after a step that
    /// draws. A small file may be noise that repeats, see ``PixelDetail``.
    fileprivate var detail: Double {
        // The mean frame of an animation says little about one of them.
        guard steps.change < .drawn, filterNanosecondsPerPixel == 0, embeddedPixels == 0, decodedShare == 1 else {
            return 1
        }
        // Shapes cover each other: the first ones add most. The root element draws nothing.
        let drawn = pow(Double(max(plainBytes - Self.rootBytes, 0)) / max(rasterPixels, 1), 0.13)
        return min(max(format.isVector ? drawn : format.row.detail(bytesPerPixel, self), 0.2), 1)
    }
    private static let rootBytes = 150
    private var isScaled: Bool { resampledArea > 0 }
    var resultBands: Double { resultHasAlpha ? 4 : 3 }
    /// The bits of a sample of the result.
    var depth: Int { keepsDepth ? output.depth(in: outputFormat, hasAlpha: resultHasAlpha) : 8 }
    /// Bytes of a sample of the result, before it is encoded.
    var sampleBytes: Double { depth > 8 ? 2 : 1 }

    // MARK: Bytes

    /// Strips of rows in the chain, with wider samples than source and result have. The strips of all frames are held
    /// until the last frame is computed.
    fileprivate var transforming: Double {
        let raster = Double(rasterBytes)
        let each = rasterHasAlpha ? (isLinear ? 2 : 1.5) : (isLinear ? 0.5 : 0.25)
        let premultiplying = rasterHasAlpha ? min(raster, 8e6) : 0
        let resampling =
            isScaled ? raster * (frames > 1 ? max(each, rasterHasAlpha ? 3.5 : 1.7) : each) + premultiplying : 0
        let held = rasterHasAlpha ? steps.bytesPerPixelWithAlpha : steps.bytesPerPixel
        let most = ImageFrames.maxLazyFrames
        return resampling + raster * steps.decodedCopies + Double(resultArea) * held + renderedFrames
            + Double(min(max(frames, 1), most)) * steps.keptBytesPerFrame
            + Double(frames > most ? 1 : max(frames, 1)) * steps.bytesPerFrame + steps.fixedBytes
    }

    /// Frames that each step renders: before the step, and after it.
    private var renderedFrames: Double {
        guard frames > ImageFrames.maxLazyFrames else { return 0 }
        return Double(rasterBytes) + resultPixels * resultBands + Double(frames) * Self.bytesPerRenderedFrame
    }

    private static let bytesPerRenderedFrame = 20_000.0

    // MARK: Time

    fileprivate var transformingNanoseconds: Double {
        let light = rasterBytes > rasterArea * 4 ? 13.0 : 3
        let reducing = isScaled ? (rasterHasAlpha ? (isLinear ? 48.0 : 18) : isLinear ? light : 1) : 0
        let enlarging = resampledArea > rasterArea ? 12.0 : 0
        let resampling = 10 + enlarging + (rasterHasAlpha ? 50 : 0)
        let step = rasterHasAlpha ? steps.nanosecondsPerPixelWithAlpha : steps.nanosecondsPerPixel
        return Double(rasterArea) * (reducing + steps.nanosecondsPerDecodedPixel)
            + Double(resampledArea) * resampling + Double(resultArea) * (2 + step)
            + Double(max(frames, 1)) * (Self.nanosecondsPerFrame + steps.nanosecondsPerFrame)
    }

    private static let nanosecondsPerFrame = 0.3e6

    /// The share of the usual time that encoders take for a pixel of a plain area, at most.
    private static let plainShare = 0.35

    fileprivate var encodingNanoseconds: Double {
        let area = Double(resultArea)
        if outputFormat.isText { return Double(rasterArea) * 7 }
        // Frames that already have a palette are not reduced to a palette, and have few colors.
        let keepsPalette = format == .gif && !isScaled && steps.change == .moved
        if outputFormat == .gif, keepsPalette, !output.reducesColors {
            return area * 170 + Double(resultFrames) * 0.8e6
        }
        if keepsPalette, outputFormat == .webp, output.lossless { return area * 400 }
        let color =
            outputFormat.encodingNanoseconds(for: output, efforts, frameArea: framePixels)
            * outputFormat.row.detailFactor(detail, self)
            * (isNoiseSaturated ? outputFormat.row.saturatedNoiseFactor : 1)
            * (depth > 8 ? outputFormat.row.deepFactor : 1)
        let plain = min(Double(plainArea), area)
        let busy = area - plain + plain * Self.plainShare
        guard resultHasAlpha else { return busy * color }
        return busy * color
            + area * outputFormat.alphaNanoseconds(for: output, efforts)
    }
}

extension OutputFormat {
    /// The processor time of encoding one pixel of a frame of `frameArea` pixels, with all encodes of the options.
    func encodingNanoseconds(
        for options: OutputOptions, _ efforts: EncoderEfforts, frameArea: Double = 500_000
    ) -> Double {
        let options = options.converted(to: self)
        return row.nanosecondsPerPixel(options, max(frameArea, 1)) * factor(options, efforts)
    }

    /// The processor time of encoding one pixel of an alpha channel, in addition.
    func alphaNanoseconds(for options: OutputOptions, _ efforts: EncoderEfforts) -> Double {
        let options = options.converted(to: self)
        return row.alphaNanosecondsPerPixel(options) * factor(options, efforts)
    }

    /// Processor time in milliseconds of lossless encoding that takes so many nanoseconds at the default effort.
    func choiceWork(_ nanoseconds: Double, _ efforts: EncoderEfforts) -> Double {
        nanoseconds * row.relativeTime(efforts, OutputOptions(format: self, lossless: true)) / 1e6
    }

    /// The time of all encodes relative to one encode at the default effort.
    private func factor(_ options: OutputOptions, _ efforts: EncoderEfforts) -> Double {
        row.relativeTime(efforts.with(options.compression, for: .png), options) * encodes(options)
    }

    /// The encodes of the result on average.
    private func encodes(_ options: OutputOptions) -> Double {
        // Choosing a quality takes about as long for each pixel in all formats, and JPEG is encoded fastest.
        let first = options.target == nil ? 1.0 : self == .jpeg ? 1.4 : 1.1
        let isSearched = options.maxBytes != nil && isLossy && !options.lossless && !options.nearLossless
        return isSearched ? first + row.expectedEncodes - 1 : first
    }
}

extension OutputOptions {
    /// Whether the quality is so high that encoders take longer.
    var isFine: Bool { chroma == .full || (quality ?? 0) >= 90 && chroma != .half }
    /// Whether a GIF may have fewer colors than its source.
    fileprivate var reducesColors: Bool {
        maxBytes != nil || OutputFormat.Row.colorBits(quality ?? 100) < 8
    }
}

extension CostEstimate {
    /// The mean time of a pixel if the first pixels of a frame take longer.
    static func falling(from first: Double, to further: Double, _ area: Double) -> Double {
        further + (first - further) * min(1, 80_000 / area)
    }
}

/// The estimated cost of a pixel job.
package struct JobWeight: Hashable, Sendable {
    /// Peak memory.
    package var bytes: Int
    /// Time, in the units of `ImagePlan.expectedWork`.
    package var work: Double
    /// Whether it may take far longer than estimated.
    package var isUnpredictable: Bool

    package init(bytes: Int, work: Double, isUnpredictable: Bool = false) {
        self.bytes = bytes
        self.work = work
        self.isUnpredictable = isUnpredictable
    }

    /// The cost of reading a header.
    package static let header = JobWeight(bytes: 0, work: 0.1)

    /// The maximum work of a job that runs as soon as it is weighed. Such a job starts before its work is known; the
    /// maximum is so small that its processor budget is hardly more than the budget of a short job.
    package static let maxUsualWork = 100.0

    /// Whether the job may take long enough to delay others noticeably: about a second.
    package var isLong: Bool { work >= 1000 || isUnpredictable }
}

extension JobWeight {
    /// The weight of a planned job. A job that cannot be planned is given the least weight: it fails for the same
    /// reason as soon as it runs.
    package init(of plan: ImagePlan?, sourceBytes: Int) {
        // The upper bounds are beyond any machine but keep sums within an `Int`.
        self.init(
            bytes: min(max(plan?.estimatedMemoryBytes ?? 0, sourceBytes), 1 << 48),
            work: min(max(plan?.expectedWork ?? 0, JobWeight.header.work), 1e9),
            // A short drawing may contain any amount of work.
            isUnpredictable: plan?.sourceFormat.isVector ?? false)
    }
}

/// The recent speed of pixel work, as exponential moving averages, to estimate how long a job will take.
package struct ThroughputEstimate {
    private var secondsPerWork = 0.002
    private var meanWork = 50.0

    package init() {}

    /// The estimated seconds of a job. A job whose weight is unknown counts as the mean.
    package func seconds(_ weight: JobWeight?) -> Double { (weight?.work ?? meanWork) * secondsPerWork }

    package mutating func record(_ weight: JobWeight, tookSeconds seconds: Double) {
        // The time of a header, and of a job that failed with it, says nothing about pixels.
        guard weight.work > JobWeight.header.work else { return }
        // Weighted by time: among many small images and one large image, the large one determines the wait.
        let share = 0.1
        let total = (1 - share) * meanWork + share * weight.work
        secondsPerWork = ((1 - share) * meanWork * secondsPerWork + share * seconds) / total
        meanWork = total
    }
}
