package import DarkroomMachine
public import DarkroomRequests
public import NIOCore

/// One piece of pixel work: a source, the changes to make, and the form of the result.
///
/// `Codable` except for the bytes of source and images, unless its chain has custom transforms.
public struct ImageJob: Codable, Sendable {
    /// The encoded bytes of the source.
    public var source: ByteBuffer {
        get { sharedSource.buffer }
        set { sharedSource = SharedBytes(newValue) }
    }
    /// The same bytes in the form in which another process reads them without a copy.
    package var sharedSource = SharedBytes(ByteBuffer())
    /// The encoded bytes of the image that a ``Mark`` without ``Mark/content`` draws; nil = none.
    public var mark: ByteBuffer? {
        get { images[""]?.bytes.buffer }
        set { images[""] = newValue.map { DrawnImage(SharedBytes($0)) } }
    }
    /// The images that the chain draws, by their ``Mark/content`` or ``Picture/content``.
    package var images: [String: DrawnImage] = [:]
    /// The SHA-256 of the source's bytes in hexadecimal, by which a cached decode is found; nil = no cache is used.
    public var identity: String?
    /// Whether the decoded image is cached for further jobs on the same source. Needs `identity`.
    public var cachesDecoded: Bool
    /// The frames or pages to use.
    public var pages: PageSelection
    /// The changes to make.
    public var chain: TransformChain
    /// The resampling profile, which decides how far the decoder may shrink.
    public var resampling: Resampling
    /// The format of the result and its encoding options.
    public var output: OutputOptions
    /// How much time the encoders spend.
    public var efforts: EncoderEfforts
    /// The limits on source and result.
    public var limits: PixelLimits
    /// The length of the result as WebP, if it was encoded before; nil = unknown. A comparison with an AVIF then need
    /// not encode it again.
    package var webPBytes: Int?
    /// The ``ImagePlan/expectedWork`` of the plan; nil = unknown. A worker that takes far longer is stopped.
    package var expectedWork: Double?
    /// The client that the job is for; nil = unknown, or several.
    package var client: String?

    package enum CodingKeys: CodingKey, CaseIterable {
        case identity, cachesDecoded, pages, chain, resampling, output, efforts, limits, webPBytes
    }

    /// A job that by default uses no cache, default pages, fast resampling, the source's own format and default limits.
    public init(
        source: ByteBuffer, identity: String? = nil, cachesDecoded: Bool = false,
        pages: PageSelection = PageSelection(), chain: TransformChain, resampling: Resampling = .fast,
        output: OutputOptions = OutputOptions(), efforts: EncoderEfforts = EncoderEfforts(),
        limits: PixelLimits = PixelLimits()
    ) {
        sharedSource = SharedBytes(source)
        self.identity = identity
        self.cachesDecoded = cachesDecoded
        self.pages = pages
        self.chain = chain
        self.resampling = resampling
        self.output = output
        self.efforts = efforts
        self.limits = limits
    }

    /// The image that the chain draws under a name; nil if it draws none.
    package func drawnImage(_ name: String) -> DrawnImage? {
        chain.drawings.first { $0.imageName == name }.flatMap { images[$0.content] }
    }

    /// The number of frames or pages that the job decodes; 1 if the output holds a single frame only.
    func framesUsed(of header: SourceHeader) throws(ImageProcessingError) -> Int {
        guard header.page <= header.frames else {
            throw .badParameter(
                TransformError(
                    parameter: "page",
                    reason: "there is no frame or page \(header.page); the source has \(header.frames)"))
        }
        let all = header.format.isAnimation ? header.frames : 1
        let requested = output.holdsSeveralFrames(of: header.format) ? pages.count ?? all : 1
        let used = min(requested, header.frames - header.page + 1)
        let last = header.page - 1 + pages.span(of: header, framesUsed: used)
        guard header.format != .gif || last <= HeaderLimits.maxFrames else {
            throw .tooLarge(
                "The GIF has \(header.frames) frames; the first \(HeaderLimits.maxFrames) can be read. Ask for "
                    + "fewer, for example with n=\(max(1, HeaderLimits.maxFrames - header.page + 1)).")
        }
        return used
    }
}

/// An image that a job draws onto its source.
package struct DrawnImage: Sendable {
    /// The encoded bytes.
    package var bytes: SharedBytes
    /// Whether this server's operator chose the image, so that a drawing is no reason for caution.
    package var isTrusted = false

    package init(_ bytes: SharedBytes, isTrusted: Bool = false) {
        self.bytes = bytes
        self.isTrusted = isTrusted
    }
}

extension PageSelection {
    /// The frames or pages from which so many are chosen.
    func span(of header: SourceHeader, framesUsed: Int) -> Int {
        isThinned && framesUsed > 1 && header.format.isAnimation ? header.frames - header.page + 1 : framesUsed
    }
}
