/// What a job is expected to take: memory at its peak, and time in comparison with other jobs. A pure function of the header's
/// facts; its constants were measured with libvips 8.14 and the codecs of Debian 12, one process a picture.
struct JobCost: Hashable, Sendable {
    /// What decides it.
    struct Facts: Hashable, Sendable {
        var sourceBytes: Int
        var format: SourceFormat
        /// Pixels of one frame as stored.
        var sourceArea: Int
        var frames: Int
        /// Whether the decoder must have all of the file before it can give a row (progressive JPEG, interlaced PNG), or all of a
        /// frame (WebP with lossless parts).
        var isHeldWhole: Bool
        /// What the decoder gives, all frames.
        var rasterArea: Int
        var rasterBytes: Int
        var rasterHasAlpha: Bool
        /// Whether it is scaled after that, and whether in linear light.
        var isScaled: Bool
        var isLinear: Bool
        /// Whether it is turned by other than quarter turns.
        var isTilted: Bool
        /// Steps that compute every pixel of the result anew, such as a blur.
        var filters: Int
        /// Whether borders are looked for.
        var isTrimmed: Bool
        var output: OutputOptions
        var outputFormat: OutputFormat
        /// All frames.
        var resultArea: Int
        var resultFrames: Int
        var resultHasAlpha: Bool
    }

    /// Memory at the peak.
    let bytes: Int
    /// Time, in about the milliseconds that one core of 2020 takes.
    let work: Double

    init(_ facts: Facts) {
        let result = Double(facts.resultArea) * facts.resultBands
        let raster = Double(facts.rasterBytes)
        let peak = max(facts.decoding, raster + result + max(facts.transforming, facts.encoding))
        bytes = Int(clamping: Double(facts.sourceBytes) + Self.fixedBytes + peak)
        work = (facts.decodingNanoseconds + facts.transformingNanoseconds + facts.encodingNanoseconds) / 1e6
    }

    /// What the smallest job takes.
    private static let fixedBytes = 2.0 * 1024 * 1024
}

extension JobCost.Facts {
    fileprivate var resultBands: Double { resultHasAlpha ? 4 : 3 }

    // MARK: Bytes

    /// The pixels, and what the decoder holds beside them.
    fileprivate var decoding: Double {
        let (source, area) = (Double(sourceArea), Double(rasterArea))
        let raster = Double(rasterBytes)
        let held: Double =
            switch format {
            case .jpeg: isHeldWhole ? 3 * source : 0
            case .png: isHeldWhole ? raster : 0
            case .webp: max(frames == 1 ? 7.5 * area : 8 * source, isHeldWhole ? 4 * source : 0)
            case .gif: 12 * source
            case .avif, .heic: 5 * source
            case .jxl: 8 * source
            case .tiff: source
            case .svg: area
            }
        return raster + held
    }

    /// Strips of rows on their way through the chain, in wider samples than they begin and end with.
    fileprivate var transforming: Double {
        let raster = Double(rasterBytes) / Double(max(frames, 1))
        let each = rasterHasAlpha ? (isLinear ? 2 : 1.5) : (isLinear ? 0.5 : 0.25)
        var bytes = isScaled ? raster * each : 0
        if isTilted { bytes += raster / 2 + Double(resultArea) * (rasterHasAlpha ? 130 : 50) }
        return bytes
    }

    /// What the encoder holds beside the result's pixels, with the encoded bytes.
    fileprivate var encoding: Double {
        let (all, one) = (Double(resultArea), Double(resultArea) / Double(max(resultFrames, 1)))
        return switch outputFormat {
        case .jpeg: all * ((output.quality ?? 0) >= 90 ? 7 : 3.5)
        case .png: all * resultBands * (output.interlaced ? 2.5 : 1.5)
        case .webp: one * (output.lossless ? 32 : resultHasAlpha ? 15 : 6) + (all - one) * 2
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
        case .jpeg: all * (isHeldWhole ? 6 : 3) + area * 6
        case .png: all * 20
        case .webp: all * (isHeldWhole ? 22 : 5) + area * 6
        case .gif: all * 8
        case .avif, .heic: all * 25
        case .jxl: all * 60
        case .tiff: all * 10
        case .svg: area * 50
        }
    }

    fileprivate var transformingNanoseconds: Double {
        var each = isScaled ? (rasterHasAlpha ? 40.0 : isLinear ? 20 : 6) : 0
        if isTrimmed { each += 80 }
        return Double(rasterArea) * each + Double(resultArea) * (10 + Double(filters) * 150 + (isTilted ? 1500 : 0))
    }

    fileprivate var encodingNanoseconds: Double {
        let each: Double =
            switch outputFormat {
            case .jpeg: 15
            case .png: 110
            case .webp: output.lossless ? 800 : 85
            case .avif: output.lossless ? 1500 : 450
            case .gif: 650
            case .jxl: output.lossless ? 800 : 110
            case .tiff: 180
            case .json, .blurHash, .thumbHash, .color, .lqip: 5
            }
        return Double(resultArea) * each
    }
}

extension Int {
    /// The nearest that there is.
    fileprivate init(clamping value: Double) {
        self = value < Double(Int.max / 2) ? Int(value) : Int.max / 2
    }
}
