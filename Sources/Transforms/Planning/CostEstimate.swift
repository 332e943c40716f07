/// The estimated peak memory and processor time of a job. A pure function of the header's facts; its constants were
/// measured with libvips 8.14 and the codecs of Debian 12, one process for each image.
struct CostEstimate: Hashable, Sendable {
    /// The facts that decide the cost.
    struct Facts: Hashable, Sendable {
        var sourceBytes: Int
        var format: SourceFormat
        /// Pixels of one frame as stored.
        var sourceArea: Int
        var frames: Int
        /// The part of the file's frames that is decoded, 0…1.
        var decodedShare = 1.0
        /// Whether the decoder has to buffer a whole frame before it can deliver a row
        /// (`SourceHeader.needsWholeSource`).
        var needsWholeSource: Bool
        /// `SourceHeader.filterNanosecondsPerPixel`.
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
        /// Pixels of the result, all frames.
        var resultArea: Int
        var resultFrames: Int
        var resultHasAlpha: Bool
    }

    /// Peak memory in bytes.
    let bytes: Int
    /// Processor time, about in milliseconds on one core of a 2020 server.
    let work: Double
    /// The part of ``work`` that decoding takes, whatever is requested of the image.
    let decodingWork: Double

    init(_ facts: Facts) {
        let result = Double(facts.resultArea) * facts.resultBands
        let raster = Double(facts.rasterBytes)
        let peak = max(facts.decoding, raster + result + max(facts.transforming, facts.encoding))
        // A source that may be passed on is copied.
        let source = Double(facts.sourceBytes) * (facts.output.passthrough == .off ? 1 : 2)
        bytes = Int(clamping: source + Self.fixedBytes + peak)
        decodingWork = facts.decodingNanoseconds / 1e6
        let others = Self.fixedNanoseconds + facts.transformingNanoseconds + facts.encodingNanoseconds
        work = decodingWork + others / 1e6
    }

    /// The memory of the smallest job.
    private static let fixedBytes = 2.0 * 1024 * 1024
    /// The time of the smallest job.
    private static let fixedNanoseconds = 1.5e6
}

extension CostEstimate.Facts {
    private var isScaled: Bool { resampledArea > 0 }

    fileprivate var resultBands: Double { resultHasAlpha ? 4 : 3 }

    // MARK: Bytes

    /// The decoded pixels and the decoder's own buffers.
    fileprivate var decoding: Double {
        let (source, area) = (Double(sourceArea), Double(rasterArea))
        let raster = Double(rasterBytes)
        let held: Double =
            switch format {
            case .jpeg: needsWholeSource ? 3 * source : 0
            case .png: needsWholeSource ? raster : 0
            case .webp: max(frames == 1 ? 7.5 * area : 8 * source, needsWholeSource ? 4 * source : 0)
            case .gif: 6 * source
            case .avif, .heic: 5 * source
            case .jxl: 8 * source
            case .tiff: source
            case .svg: area
            case .bmp: 0
            case .ico: raster
            }
        return raster + held
    }

    /// Strips of rows on their way through the chain, in wider samples than those of source and result. The strips of
    /// all frames are held until the last one is computed.
    fileprivate var transforming: Double {
        let raster = Double(rasterBytes)
        let each = rasterHasAlpha ? (isLinear ? 2 : 1.5) : (isLinear ? 0.5 : 0.25)
        let premultiplying = rasterHasAlpha ? min(raster, 8e6) : 0
        let resampling =
            isScaled ? raster * (frames > 1 ? max(each, rasterHasAlpha ? 3.5 : 1.7) : each) + premultiplying : 0
        let held = rasterHasAlpha ? steps.bytesPerPixelWithAlpha : steps.bytesPerPixel
        return resampling + raster * steps.decodedCopies + Double(resultArea) * held
            + Double(max(frames, 1)) * steps.bytesPerFrame
    }

    /// The encoder's buffers and the encoded bytes, besides the result's pixels.
    fileprivate var encoding: Double {
        let (all, one) = (Double(resultArea), Double(resultArea) / Double(max(resultFrames, 1)))
        return switch outputFormat {
        case .jpeg: all * ((output.quality ?? 0) >= 90 ? 7 : 3.5)
        case .png: output.palette ? all * 40 : all * resultBands * (output.interlaced ? 2.5 : 1.5)
        case .webp where output.lossless || output.nearLossless:
            // The tables of repeated colors have a size of their own, except for small images.
            one * 34 + min(one * 100, 14e6) + (all - one) * 6
        case .webp: one * (resultHasAlpha ? 15 : (output.quality ?? 0) >= 90 ? 16 : 11) + (all - one) * 2
        case .avif: all * (resultHasAlpha ? 75 : 35) + min(all * 25, 10e6)
        case .gif: one * 35 + (all - one) * 2
        case .jxl: all * bytesPerPixelOfJXL
        case .tiff: all * resultBands * 2
        case .json, .blurHash, .thumbHash, .color, .lqip: 0
        }
    }

    private var bytesPerPixelOfJXL: Double {
        let isThorough = efforts.jxl >= 8
        return output.lossless ? (isThorough ? 150 : 80) : isThorough ? 300 : resultHasAlpha ? 70 : 52
    }

    // MARK: Time

    fileprivate var decodingNanoseconds: Double {
        let (all, area, bytes) = (
            Double(sourceArea) * Double(frames), Double(rasterArea), Double(sourceBytes) * decodedShare
        )
        return switch format {
        case .jpeg: area * 4 + (needsWholeSource ? all * 3.2 + bytes * 37 : all * 1.2 + bytes * 8.7)
        case .png: all * 14 + bytes * 4.5
        case .webp where needsWholeSource: all * (frames > 1 ? 34 : 20) + bytes * 7.5
        case .webp: all * 4.5 + bytes * 51 + area * 8
        case .gif: all * 15
        case .avif: all * 25 + bytes * 70
        case .heic: all * 41 + bytes * 100
        // Lossless ones are as slow as they are large.
        case .jxl: min(all * 135, all * 27 + bytes * 115)
        case .tiff: bytes < all * 3 ? all * 9 + bytes * 3.6 : all * 6
        case .svg: area * (15 + filterNanosecondsPerPixel) + bytes * 300
        case .bmp: all * 20
        case .ico: area * 20
        }
    }

    fileprivate var transformingNanoseconds: Double {
        let reducing = isScaled ? (rasterHasAlpha ? (isLinear ? 48.0 : 15) : isLinear ? 13 : 1) : 0
        let enlarging = resampledArea > rasterArea ? 12.0 : 0
        let resampling = 10 + enlarging + (rasterHasAlpha ? 50 : 0)
        let step = rasterHasAlpha ? steps.nanosecondsPerPixelWithAlpha : steps.nanosecondsPerPixel
        return Double(rasterArea) * (reducing + steps.nanosecondsPerDecodedPixel)
            + Double(resampledArea) * resampling + Double(resultArea) * (2 + step)
            + Double(max(frames, 1)) * (Self.nanosecondsPerFrame + steps.nanosecondsPerFrame)
    }

    private static let nanosecondsPerFrame = 0.3e6

    fileprivate var encodingNanoseconds: Double {
        let area = Double(resultArea)
        if outputFormat.isText { return Double(rasterArea) * 7 }
        // Frames that have a palette already are not reduced to one, and have few colors.
        let keepsPalette = format == .gif && !isScaled && steps == .none
        if outputFormat == .gif, keepsPalette { return area * 170 + Double(resultFrames) * 0.8e6 }
        if keepsPalette, outputFormat == .webp, output.lossless { return area * 400 }
        let each = outputFormat.encodingNanoseconds(
            for: output, efforts, frameArea: area / Double(max(resultFrames, 1)))
        // Alpha is encoded as a second image.
        let planes = outputFormat == .avif && resultHasAlpha ? 1.7 : 1
        return area * each * planes
    }
}

extension OutputFormat {
    /// The processor time of encoding one pixel, on one core of a 2020 server, with all encodes that the options take.
    ///
    /// - Parameter frameArea: the pixels of a frame.
    package func encodingNanoseconds(
        for options: OutputOptions, _ efforts: EncoderEfforts, frameArea: Double = 500_000
    ) -> Double {
        let options = options.resolved(for: self)
        let effort = efforts.with(png: options.compression).relativeTime(of: self, lossless: options.lossless)
        return nanosecondsPerEncode(options, max(frameArea, 1)) * (self == .png && options.palette ? 1 : effort)
            * encodes(options)
    }

    private func nanosecondsPerEncode(_ options: OutputOptions, _ area: Double) -> Double {
        let isFine = (options.quality ?? 0) >= 90
        return switch self {
        case .jpeg: (isFine ? 25 : 15) + (options.interlaced ? 13 : 0)
        case .png where options.palette: 20e6 / area + Self.falling(from: 2200, to: 900, area)
        case .png: options.filtersRows ? 200 : 88
        case .webp where options.nearLossless: 1050
        case .webp: options.lossless ? Self.falling(from: 830, to: 375, area) : isFine ? 150 : 120
        case .avif: isFine && !options.lossless ? 1000 : 500
        case .gif: 5e6 / area + 420
        case .jxl: options.lossless ? 1200 : 60
        case .tiff: 150
        case .json, .blurHash, .thumbHash, .color, .lqip: 5
        }
    }

    /// The mean time of a pixel where the first ones of a frame take longer.
    private static func falling(from first: Double, to further: Double, _ area: Double) -> Double {
        further + (first - further) * min(1, 80_000 / area)
    }

    /// The encodes of the result on average.
    private func encodes(_ options: OutputOptions) -> Double {
        // Choosing a quality takes about as long for each pixel in all formats, and JPEG is encoded fastest.
        let first = options.target == nil ? 1.0 : self == .jpeg ? 1.4 : 1.1
        let isSearched = options.maxBytes != nil && isLossy && !options.lossless && !options.nearLossless
        return isSearched ? first + 1.5 : first
    }
}

extension Int {
    /// The nearest integer, at most half of the largest one.
    fileprivate init(clamping value: Double) {
        self = value < Double(Int.max / 2) ? Int(value) : Int.max / 2
    }
}
