public import DarkroomVips
public import NIOCore

/// The only door to pixels: bytes in, bytes out.
///
/// Calls are synchronous and may take seconds: they belong on a pixel thread, never on an event loop.
public protocol ImageProcessing: Sendable {
    /// Decodes the source to its last row, runs the chain, encodes the result. Where the source's header tells all that is
    /// wanted, it reads that only.
    ///
    /// `interrupt` is asked now and then; once it says true, the work ends with `.interrupted`.
    func process(
        _ job: ImageJob, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> ProcessedImage

    /// What ``process(_:interrupt:)`` would do about a job, told from the source's header. Throws whatever that would throw before
    /// it decodes. By default the header is read in this process.
    ///
    /// `interrupt` ends the wait for whoever reads it, with `.interrupted`.
    func plan(_ job: ImageJob, interrupt: @escaping Interrupt) throws(ImageProcessingError) -> ImagePlan

    /// Drops what is kept of these bytes for the sake of speed. By default there is nothing.
    ///
    /// - Parameter identity: `ImageJob.identity` of the jobs that had it kept.
    func removeDecoded(identity: String)

    /// Brings what is kept for the sake of speed down to this part, 0 to 1, of what it is now, and memory that was freed by
    /// whomever back to the system. May block for some hundred milliseconds.
    func shrinkMemory(toFraction fraction: Double)
}

extension ImageProcessing {
    public func plan(_ job: ImageJob, interrupt: @escaping Interrupt) throws(ImageProcessingError) -> ImagePlan {
        try ImagePlan(of: job)
    }
    /// A plan that is waited for to the end.
    public func plan(_ job: ImageJob) throws(ImageProcessingError) -> ImagePlan { try plan(job) { false } }
    public func removeDecoded(identity: String) {}
    public func shrinkMemory(toFraction fraction: Double) {}
}

/// One piece of pixel work.
public struct ImageJob: Sendable {
    /// The encoded bytes of the source.
    public var source: ByteBuffer
    /// Names the source's bytes by their SHA-256 in hexadecimal, so that a decode of them can be found again. Nil = it is neither
    /// looked for nor kept.
    public var identity: String?
    /// Whether a decode is worth keeping for further jobs on the same bytes. Needs `identity`.
    public var cachesDecoded: Bool
    /// Whether `source` is only the beginning of a JPEG: what is missing is left grey, and damage is overlooked. For looking at while
    /// the rest is on its way; the result is never proven. Any other format is `.unsupported`.
    public var isPartial = false
    /// Which frames or pages are kept.
    public var pages: PageSelection
    /// What is done to them.
    public var chain: TransformChain
    /// What the decoder leaves the resampler.
    public var resampling: Resampling
    /// How the result is encoded.
    public var output: OutputOptions
    /// What source and result may come to.
    public var limits: PixelLimits

    /// Work on these bytes that nothing is kept of.
    public init(
        source: ByteBuffer, identity: String? = nil, cachesDecoded: Bool = false,
        pages: PageSelection = PageSelection(), chain: TransformChain, resampling: Resampling = .fast,
        output: OutputOptions = OutputOptions(), limits: PixelLimits = PixelLimits()
    ) {
        self.source = source
        self.identity = identity
        self.cachesDecoded = cachesDecoded
        self.pages = pages
        self.chain = chain
        self.resampling = resampling
        self.output = output
        self.limits = limits
    }
}

/// An encoded result, or a text about it.
public struct ProcessedImage: Sendable {
    /// The encoded bytes.
    public var body: ByteBuffer
    /// The format of `body`.
    public var format: OutputFormat
    /// Of a text: the size of the picture that it was told from.
    public var size: PixelSize
    /// Frames in the result.
    public var frames: Int
    /// The format that the source was in.
    public var sourceFormat: SourceFormat
    /// Whether the source was decoded; false = only its header was read, so that the rest of it may be damaged.
    public var isProven: Bool

    /// A result of these facts.
    public init(
        body: ByteBuffer, format: OutputFormat, size: PixelSize, frames: Int, sourceFormat: SourceFormat,
        isProven: Bool = true
    ) {
        self.body = body
        self.format = format
        self.size = size
        self.frames = frames
        self.sourceFormat = sourceFormat
        self.isProven = isProven
    }
}

/// Why no picture came out. The texts of `badParameter` and `tooLarge` are for clients, all others for logs only.
public enum ImageProcessingError: Error, Codable, Sendable, Equatable {
    /// The bytes are none of the formats we decode.
    case unsupported
    /// The bytes are damaged, cut off, or not what they claim to be.
    case corrupt(String)
    /// Over a limit, told from the header.
    case tooLarge(String)
    /// The request cannot be done on this picture.
    case badParameter(TransformError)
    /// `interrupt` said so: out of time, or nobody waits.
    case interrupted
    /// A transform failed on pixels that decoded well.
    case transformFailed(String)
    /// The encoder refused.
    case encodingFailed(String)
}
