public import DarkroomRequests
import NIOCore

/// The steps and the cost of a job, derived from the source's header without decoding a pixel.
public struct ImagePlan: Hashable, Codable, Sendable {
    /// A step of the chain and the raster that it produces.
    public struct Step: Hashable, Codable, Sendable {
        /// `decode`, or the name that the transform's key begins with: `orient`, `resize`, …
        public var name: String
        /// The raster of one frame after the step.
        public var size: PixelSize
        var hasAlpha = false
    }

    /// A search for faces in the image.
    public struct FaceSearch: Hashable, Codable, Sendable {
        public enum Purpose: String, Codable, Sendable, CaseIterable {
            /// `redact=face`.
            case hide
            /// `a=face`.
            case show
            /// `fields=faces`.
            case describe
        }

        public var purpose: Purpose
        /// The copy of the image that is searched.
        public var size: PixelSize
        /// The processor time of making the copy and of searching it, in the unit of ``ImagePlan/expectedWork``.
        public var work: Double
    }

    public var sourceFormat: SourceFormat
    /// One frame as stored, before orientation.
    public var sourceSize: PixelSize
    /// Frames or pages in the file.
    public var sourceFrames: Int
    /// The file's length in bytes.
    public var sourceBytes: Int
    /// Frames or pages that are decoded.
    public var framesUsed: Int
    /// The factor by which the decoder shrinks each side; less than 1 if a vector image is drawn larger.
    public var shrinkOnLoad: Double
    /// The decode and every transform, in order; empty if nothing is decoded.
    public var steps: [Step]
    public var format: OutputFormat
    /// The effort of its encoder, which is lower than configured if the image would take too long; nil for formats
    /// without efforts.
    public var effort: Int?
    /// The format that ``format`` replaces, because encoding in it would take too long or too much memory; nil = none.
    public var preferredFormat: OutputFormat?
    /// The size of the result, or of the image that a text result describes.
    public var size: PixelSize
    /// Frames in the result.
    public var frames: Int
    /// Whether all sizes are exact. A step that learns its size from pixels, like `trim`, leaves upper bounds.
    public var isExact: Bool
    /// The largest intermediate raster, one frame.
    public var largest: PixelSize
    /// The job's estimated peak memory in bytes: source, pixels, result, and the buffers of decoder, chain and encoder.
    /// For large images the real peak is rarely above 1.25 times the estimate.
    public var estimatedMemoryBytes: Int
    /// The job's estimated processor time, about in milliseconds on one core of a 2020 server. It does not consider
    /// cached decodes.
    public var expectedWork = 0.0
    /// The part of ``expectedWork`` for choosing an encoding by the pixels: whether rows of a PNG are filtered, and
    /// whether a drawing is smaller without loss, a JPEG as JPEG XL, or an AVIF as WebP. 0 = there is no choice, or not
    /// enough time.
    public var choiceWork = 0.0
    /// The part of ``choiceWork`` in which the WebP is chosen that an AVIF is compared with; nil = the result is not
    /// compared.
    public var webPChoiceWork: Double?
    /// The part of ``expectedWork`` for encoding, without ``choiceWork``.
    public var encodingWork = 0.0
    /// The searches for faces, whose time is a part of ``expectedWork``.
    public var faceSearches: [FaceSearch] = []
    /// The bits of a sample of the result: 8, 10 or 16; nil for texts.
    public var depth: Int?
    /// What becomes of the gain map of the source; nil = it has none.
    public var gainMap: GainMapOutcome?
    /// What becomes of the data of a JPEG; nil = pixels are encoded.
    public var jpegData: JPEGDataOutcome?
    /// What of an SVG is not drawn as browsers draw it.
    public var gaps = SVGGaps()
}

/// How much of a configured limit a job uses.
public struct LimitUsage: Hashable, Sendable {
    /// The limit's command-line setting, such as `max-source-pixels`.
    public var setting: String
    public var value: Int
    public var limit: Int

    public init(setting: String, value: Int, limit: Int) {
        self.setting = setting
        self.value = value
        self.limit = limit
    }

    /// The used part of the limit; 1 = all of it, and more if a decoder shrinks an oversized source to the limit.
    public var share: Double { Double(value) / Double(max(limit, 1)) }
}

extension ImagePlan {
    /// The job's usage of every limit that applies to it. Times are in milliseconds.
    public func usage(of limits: PixelLimits) -> [LimitUsage] {
        guard !steps.isEmpty else { return [] }
        func usage(_ setting: String, _ value: Int, _ limit: Int) -> LimitUsage {
            LimitUsage(setting: setting, value: value, limit: limit)
        }
        let allFrames = sourceSize.area.saturatingMultiply(by: framesUsed)
        let animation = [usage("max-animation-pixels", allFrames, limits.maxAnimationPixels)]
        return [usage("max-source-pixels", sourceSize.area, limits.maxSourcePixels)]
            + (framesUsed > 1 ? animation : []) + [
                usage("max-output-side", max(size.width, size.height), limits.maxOutputSide),
                usage("max-output-pixels", max(size.area, largest.area), limits.maxOutputPixels),
                usage(
                    "max-processing-time", Int(min(expectedWork, 1e15).rounded(.up)),
                    limits.maxProcessingMilliseconds),
            ]
    }
}

extension ImagePlan {
    /// Plans what `InProcessImageProcessor` would do with a job. Throws the errors that processing would throw before
    /// it decodes.
    ///
    /// The first of the job's encodings that takes no longer than the limits allow, and not too much memory, is chosen.
    /// It depends on the header and the job alone: equal requests get equal images.
    init(of prepared: PreparedJob) throws(ImageProcessingError) {
        let header = prepared.header
        let framesUsed = try prepared.job.framesUsed(of: header)
        guard !prepared.job.output.isHeaderOnly else {
            self.init(headerOnly: header, bytes: prepared.job.source.readableBytes)
            return
        }
        let job = ImageDescriber.preparing(prepared.job)
        let last = try InProcessImageProcessor.planned(job, header, framesUsed: framesUsed)
        let decoder = Decoder(source: job.source, header: header, headerReader: prepared.reader) { false }
        let parameters = try decoder.parameters(of: job, framesUsed: framesUsed, as: last.decode)
        let raster = try decoder.raster(parameters)
        let images = try prepared.costOfImages(framesUsed: framesUsed, on: last.size)
        let encodings = try job.encodings(of: header, framesUsed: framesUsed, last)
        self = try Self.planned(job, decoder, parameters, raster, last: last, framesUsed: framesUsed)
        let facts = CostEstimate.Facts(job, raster, header, self, last)
        let overview = try Self.costOfCopies(for: job, by: decoder, besides: parameters, facts)
        var fastest: (work: Double, decoding: Double, transforming: Double)?
        var chosen: (encoding: EncodingChoice, cost: CostEstimate, facts: CostEstimate.Facts, bytes: Int, work: Double)?
        for encoding in encodings {
            let encoded = facts.encoded(by: encoding)
            let cost = CostEstimate(encoded)
            let gainMap = prepared.costOfGainMap(as: encoding.format, last)
            let work = cost.work + images.work + overview.work + gainMap.work
            if fastest.map({ work < $0.work }) ?? true {
                fastest = (work, cost.decodingWork + overview.work, cost.transformingWork)
            }
            // Whatever is no number is refused too.
            guard work <= Double(job.limits.maxProcessingMilliseconds) else { continue }
            let bytes = cost.bytes + images.bytes + overview.bytes + gainMap.bytes
            let isLean = bytes <= Self.maxNegotiatedBytes
            if chosen == nil || isLean { chosen = (encoding, cost, encoded, bytes, work) }
            if isLean || encoding.format == encodings.last?.format { break }
        }
        guard let chosen else {
            throw job.refusal(fastest ?? (.infinity, 0, 0), frames: framesUsed, of: header.format)
        }
        format = chosen.encoding.format
        (effort, gainMap) = (chosen.encoding.efforts[format], prepared.outcomeOfGainMap(as: format))
        (preferredFormat, faceSearches) = (encodings[0].format == format ? nil : encodings[0].format, overview.searches)
        jpegData = job.outcomeOfJPEGData(header, facts.encoded(by: chosen.encoding))
        (frames, depth) = (format.writesFrames ? framesUsed : 1, format.isText ? nil : chosen.facts.depth)
        (choiceWork, webPChoiceWork) = (chosen.facts.choiceWork, chosen.facts.webPChoiceWork)
        (estimatedMemoryBytes, expectedWork, encodingWork) = (chosen.bytes, chosen.work, chosen.cost.encodingWork)
    }

    /// The most memory of a format, where another may replace it. It is half of what a worker has by default, and no
    /// setting, so that all nodes choose the same format.
    static let maxNegotiatedBytes = 1 << 30

    /// The plan of a job before its encoding is chosen.
    static func planned(
        _ job: ImageJob, _ decoder: Decoder, _ parameters: DecodeParameters, _ raster: Decoder.Raster,
        last: ChainPlan, framesUsed: Int
    ) throws(ImageProcessingError) -> ImagePlan {
        let header = decoder.header
        return ImagePlan(
            sourceFormat: header.format, sourceSize: header.size, sourceFrames: header.frames,
            sourceBytes: job.source.readableBytes, framesUsed: framesUsed,
            shrinkOnLoad: Double(parameters.shrink) / parameters.scale,
            steps: try steps(of: job.chain, header, raster), format: .json, size: last.size,
            frames: 1, isExact: last.isSizeKnown, largest: last.largest, estimatedMemoryBytes: 0, gaps: header.gaps)
    }

    private init(headerOnly header: SourceHeader, bytes: Int) {
        self.init(
            sourceFormat: header.format, sourceSize: header.size, sourceFrames: header.frames, sourceBytes: bytes,
            framesUsed: 0, shrinkOnLoad: 1, steps: [], format: .json, size: header.size, frames: 1, isExact: true,
            largest: PixelSize(width: 1, height: 1), estimatedMemoryBytes: bytes, gaps: header.gaps)
    }

    /// The decode and each transform with the raster that it produces: until a resize the decoder's, which may have
    /// shrunk the image, and after it the plan's.
    private static func steps(
        of chain: TransformChain, _ header: SourceHeader, _ raster: Decoder.Raster
    ) throws(ImageProcessingError) -> [Step] {
        let plans: [ChainPlan]
        do { plans = try chain.plans(header.plan) } catch { throw .badParameter(error) }
        let isShrunk = raster.size != header.size
        return [Step(name: "decode", size: raster.size, hasAlpha: header.hasAlpha)]
            + zip(chain.transforms, plans).map { transform, plan in
                Step(
                    name: String(transform.key.prefix { $0 != "(" }),
                    size: isShrunk ? plan.raster(decoded: raster.size) : plan.size, hasAlpha: plan.hasAlpha)
            }
    }
}
