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
        /// Whether the decoder has to buffer a whole frame before it can deliver a row
        /// (`SourceHeader.needsWholeSource`).
        var needsWholeSource: Bool
        /// Pixels that the decoder delivers, all frames.
        var rasterArea: Int
        var rasterBytes: Int
        var rasterHasAlpha: Bool
        /// Whether the decoded image is resampled, and whether in linear light.
        var isScaled: Bool
        var isLinear: Bool
        /// The sum of the chain's own costs.
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

    init(_ facts: Facts) {
        let result = Double(facts.resultArea) * facts.resultBands
        let raster = Double(facts.rasterBytes)
        let peak = max(facts.decoding, raster + result + max(facts.transforming, facts.encoding))
        // A source that may be passed on is copied.
        let source = Double(facts.sourceBytes) * (facts.output.passthrough == .off ? 1 : 2)
        bytes = Int(clamping: source + Self.fixedBytes + peak)
        work = (facts.decodingNanoseconds + facts.transformingNanoseconds + facts.encodingNanoseconds) / 1e6
    }

    /// The memory of the smallest job.
    private static let fixedBytes = 2.0 * 1024 * 1024
}

extension CostEstimate.Facts {
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
            case .gif: 12 * source
            case .avif, .heic: 5 * source
            case .jxl: 8 * source
            case .tiff: source
            case .svg: area
            case .bmp: 0
            case .ico: raster
            }
        return raster + held
    }

    /// Strips of rows on their way through the chain, in wider samples than those of source and result.
    fileprivate var transforming: Double {
        let raster = Double(rasterBytes) / Double(max(frames, 1))
        let each = rasterHasAlpha ? (isLinear ? 2 : 1.5) : (isLinear ? 0.5 : 0.25)
        let resampling = isScaled ? raster * each : 0
        let held = rasterHasAlpha ? steps.bytesPerPixelWithAlpha : steps.bytesPerPixel
        return resampling + raster * steps.decodedCopies + Double(resultArea) * held
    }

    /// The encoder's buffers and the encoded bytes, besides the result's pixels.
    fileprivate var encoding: Double {
        let (all, one) = (Double(resultArea), Double(resultArea) / Double(max(resultFrames, 1)))
        return switch outputFormat {
        case .jpeg: all * ((output.quality ?? 0) >= 90 ? 7 : 3.5)
        case .png: all * resultBands * (output.interlaced ? 2.5 : 1.5)
        case .webp: one * (output.lossless || output.nearLossless ? 32 : resultHasAlpha ? 15 : 6) + (all - one) * 2
        case .avif: all * 30
        case .gif: one * 35 + (all - one) * 2
        case .jxl: all * (resultHasAlpha ? 70 : 50)
        case .tiff: all * resultBands * 2
        case .json, .blurHash, .thumbHash, .color, .lqip: 0
        }
    }

    // MARK: Time

    fileprivate var decodingNanoseconds: Double {
        let (all, area) = (Double(sourceArea) * Double(frames), Double(rasterArea))
        return switch format {
        case .jpeg: all * (needsWholeSource ? 6 : 3) + area * 6
        case .png: all * 20
        case .webp: all * (needsWholeSource ? 22 : 5) + area * 6
        case .gif: all * 8
        case .avif, .heic: all * 25
        case .jxl: all * 60
        case .tiff: all * 10
        case .svg: area * 50
        case .bmp: all * 8
        case .ico: area * 20
        }
    }

    fileprivate var transformingNanoseconds: Double {
        let resampling = isScaled ? (rasterHasAlpha ? 40.0 : isLinear ? 20 : 6) : 0
        return Double(rasterArea) * (resampling + steps.nanosecondsPerDecodedPixel)
            + Double(resultArea) * (10 + steps.nanosecondsPerPixel)
    }

    fileprivate var encodingNanoseconds: Double {
        Double(resultArea) * outputFormat.encodingNanoseconds(for: output, efforts)
    }
}

extension OutputFormat {
    /// The processor time of encoding one pixel, on one core of a 2020 server, with all encodes that the options take.
    package func encodingNanoseconds(for options: OutputOptions, _ efforts: EncoderEfforts) -> Double {
        let options = options.resolved(for: self)
        return nanosecondsPerEncode(options) * efforts.with(png: options.compression).relativeTime(of: self)
            * encodes(options)
    }

    private func nanosecondsPerEncode(_ options: OutputOptions) -> Double {
        switch self {
        case .jpeg: 15
        case .png: options.palette ? 600 : 110
        case .webp: options.lossless || options.nearLossless ? 800 : 85
        case .avif: options.lossless ? 1500 : 450
        case .gif: 650
        case .jxl: options.lossless ? 800 : 110
        case .tiff: 180
        case .json, .blurHash, .thumbHash, .color, .lqip: 5
        }
    }

    /// The encodes of the result on average.
    private func encodes(_ options: OutputOptions) -> Double {
        // Choosing a quality takes about as long for each pixel in all formats, and JPEG is encoded fastest.
        let first = options.target == nil ? 1.0 : self == .jpeg ? 1.4 : 1.1
        let isSearched = options.maxBytes != nil && isLossy && !options.lossless && !options.nearLossless
        return isSearched ? first + 3 : first
    }
}

extension Int {
    /// The nearest integer, at most half of the largest one.
    fileprivate init(clamping value: Double) {
        self = value < Double(Int.max / 2) ? Int(value) : Int.max / 2
    }
}
