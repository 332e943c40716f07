public import DarkroomRequests
public import DarkroomVips
public import NIOCore

/// The only access to pixels: encoded bytes in, encoded bytes out.
///
/// Calls are synchronous and may take seconds. Make them on a pixel thread, never on an event loop.
public protocol ImageProcessing: Sendable {
    /// Decodes the source to its last row, runs the chain and encodes the result. If the source's header answers the
    /// request, only the header is read.
    ///
    /// `interrupt` is called regularly; once it returns true, the work ends with `.interrupted`.
    func process(
        _ job: ImageJob, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> ProcessedImage

    /// Plans the processing of a job from the source's header, and from the pixels of a gain map that is kept. Throws
    /// the errors that processing would throw before it decodes. By default the header is read in this process.
    ///
    /// `interrupt` ends the wait for another process that reads the header, with `.interrupted`.
    func plan(_ job: ImageJob, interrupt: @escaping Interrupt) throws(ImageProcessingError) -> ImagePlan

    /// Plans a job, and processes it at once if it stays within the allowance. Throws the errors of processing. By
    /// default ``plan(_:interrupt:)`` and ``process(_:interrupt:)`` are called, and a job that cannot be planned is
    /// processed to find out why.
    func attempt(
        _ job: ImageJob, within allowance: JobAllowance, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> JobAttempt

    /// Releases the preparations of planning for a job that will not be processed. By default there are none.
    func withdraw(_ job: ImageJob)

    /// Removes cached decodes of the source with this ``ImageJob/identity``. By default nothing is cached.
    func removeDecoded(identity: String)

    /// Shrinks caches to this fraction of their current size, 0…1, and returns freed memory to the system. May block
    /// for a few hundred milliseconds.
    func shrinkMemory(toFraction fraction: Double)
}

extension ImageProcessing {
    public func plan(_ job: ImageJob, interrupt: @escaping Interrupt) throws(ImageProcessingError) -> ImagePlan {
        try PreparedJob(job).planned().examinedPlan(interrupt: interrupt)
    }
    /// Plans a job without a way to interrupt it.
    public func plan(_ job: ImageJob) throws(ImageProcessingError) -> ImagePlan { try plan(job) { false } }
    public func attempt(
        _ job: ImageJob, within allowance: JobAllowance, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> JobAttempt {
        let plan = try? plan(job, interrupt: interrupt)
        if let plan, !allowance.permits(plan) { return JobAttempt(plan: plan) }
        return JobAttempt(plan: plan, image: try process(job, interrupt: interrupt))
    }
    public func withdraw(_ job: ImageJob) {}
    public func removeDecoded(identity: String) {}
    public func shrinkMemory(toFraction fraction: Double) {}
}

/// The most that a job may cost to be processed without a further decision.
public struct JobAllowance: Hashable, Codable, Sendable {
    /// See ``ImagePlan/estimatedMemoryBytes``.
    public var memoryBytes: Int
    /// See ``ImagePlan/expectedWork``.
    public var work: Double

    public init(memoryBytes: Int, work: Double) {
        self.memoryBytes = memoryBytes
        self.work = work
    }

    /// Whether a planned job stays within the allowance. A drawing never does: a short one may contain any work.
    public func permits(_ plan: ImagePlan) -> Bool {
        plan.estimatedMemoryBytes <= memoryBytes && plan.expectedWork <= work && !plan.sourceFormat.isVector
    }
}

/// The result of ``ImageProcessing/attempt(_:within:interrupt:)``.
public struct JobAttempt: Sendable {
    /// Nil if the job could be processed but not planned.
    public var plan: ImagePlan?
    /// Nil if the job would exceed the allowance.
    public var image: ProcessedImage?

    public init(plan: ImagePlan?, image: ProcessedImage? = nil) {
        self.plan = plan
        self.image = image
    }
}

/// An encoded image, or a text that describes an image. `Codable` except for its bytes.
public struct ProcessedImage: Codable, Sendable {
    /// The encoded bytes.
    public var body = ByteBuffer()
    /// The format of `body`.
    public var format: OutputFormat
    /// The size of the image, or of the image that a text describes.
    public var size: PixelSize
    /// Frames in the result.
    public var frames: Int
    public var sourceFormat: SourceFormat
    /// Whether the whole source was decoded; false = only its header was read, so the remaining bytes may be corrupt.
    public var isProven: Bool
    /// Whether parts of the source could not be decoded, see ``DamagePolicy/show``.
    public var isDamaged: Bool
    /// The quality of the result if the job left it to the image; nil if not.
    public var quality: ResultQuality?
    /// What of an SVG is not drawn as browsers draw it.
    public var gaps: SVGGaps
    /// The effort of the encoder; nil for formats without efforts.
    public var effort: Int?
    /// The number of faces that were found for the result; nil = none were looked for.
    public var faces: Int?
    /// The time that each stage took; nil if the stages were not run or not measured.
    public var stages: ProcessingStages?

    private enum CodingKeys: CodingKey {
        case format, size, frames, sourceFormat, isProven, isDamaged, quality, gaps, effort, faces, stages
    }

    public init(
        body: ByteBuffer, format: OutputFormat, size: PixelSize, frames: Int, sourceFormat: SourceFormat,
        isProven: Bool = true, isDamaged: Bool = false, quality: ResultQuality? = nil, gaps: SVGGaps = [],
        effort: Int? = nil, faces: Int? = nil, stages: ProcessingStages? = nil
    ) {
        self.body = body
        self.format = format
        self.size = size
        self.frames = frames
        self.sourceFormat = sourceFormat
        self.isProven = isProven
        self.isDamaged = isDamaged
        self.quality = quality
        self.gaps = gaps
        self.effort = effort
        self.faces = faces
        self.stages = stages
    }
}

/// Why processing failed. The texts of `badParameter` and `tooLarge` are for clients, all others for logs only.
public indirect enum ImageProcessingError: Error, Codable, Sendable, Equatable {
    /// The bytes are in none of the supported source formats.
    case unsupported
    /// The source is in a supported format for which this machine has no decoder.
    case missingDecoder(SourceFormat)
    /// The source is valid, but the version of this machine's decoder is too old for it.
    case outdatedDecoder(HEIFFeature)
    /// The source is corrupt or truncated, or is not what it claims to be.
    case corrupt(String)
    /// The source exceeds a limit, according to its header.
    case tooLarge(String)
    /// The request is impossible for this image.
    case badParameter(TransformError)
    /// `interrupt` returned true: the request timed out or was canceled.
    case interrupted
    /// A transform failed on correctly decoded pixels.
    case transformFailed(String)
    /// The encoder failed.
    case encodingFailed(String)
    /// The image that a ``Mark`` or a ``Layer`` of this name draws failed with this error, not the source.
    case mark(ImageProcessingError, name: String = "")
}

/// The time that each stage of processing an image took.
public struct ProcessingStages: Hashable, Codable, Sendable {
    /// Decoding every row; nil if the pixels came from the cache of decoded images.
    public var decode: Duration?
    /// Running the chain on the decoded pixels; nil for a text, where the chain runs while it is described.
    public var transform: Duration?
    /// Encoding, or describing the image as text.
    public var encode: Duration
    /// The part of ``encode`` in another format, with which the result was compared; nil = it was not compared.
    public var compare: Duration?

    public init(
        decode: Duration? = nil, transform: Duration? = nil, encode: Duration = .zero, compare: Duration? = nil
    ) {
        self.decode = decode
        self.transform = transform
        self.encode = encode
        self.compare = compare
    }
}

/// Measures the stages of a job one after the other.
struct StageTimer {
    private(set) var stages = ProcessingStages()
    private var stopwatch = Stopwatch()

    /// - Parameter isCached: whether the pixels came from the cache, so that nothing was decoded.
    mutating func finishDecoding(isCached: Bool) {
        let duration = stopwatch.lap()
        if !isCached { stages.decode = duration }
    }

    mutating func finishTransforming() { stages.transform = stopwatch.lap() }

    /// - Parameter comparison: the time that encoding in another format took; nil = there was no comparison.
    mutating func finishEncoding(_ comparison: Duration?) {
        (stages.encode, stages.compare) = (stopwatch.lap(), comparison)
    }
}

/// Measures consecutive intervals.
package struct Stopwatch {
    private var last = ContinuousClock.now

    package init() {}

    /// Returns the time since the last lap, or since creation.
    package mutating func lap() -> Duration {
        let now = ContinuousClock.now
        defer { last = now }
        return last.duration(to: now)
    }
}
