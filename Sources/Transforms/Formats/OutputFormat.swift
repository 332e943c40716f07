import DarkroomVips
import NIOCore

/// The output formats: raster images, and texts that describe an image.
public enum OutputFormat: String, Codable, Sendable, CaseIterable {
    case jpeg = "jpg"
    case png, webp, avif, gif, jxl, tiff
    /// A JSON document about the source and, with `OutputOptions.details`, about the chain's result.
    case json
    /// The result as a BlurHash of 4 by 3 components.
    case blurHash = "blurhash"
    /// The result as a ThumbHash in base64.
    case thumbHash = "thumbhash"
    /// The dominant color of the result, as `#rrggbb`.
    case color
    /// A low-quality placeholder: the result at 16 pixels, as a `data:` URI.
    case lqip

    /// The facts about the format, in a separate file.
    var row: Row {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .avif: .avif
        case .gif: .gif
        case .jxl: .jxl
        case .tiff: .tiff
        case .json: .json
        case .blurHash, .thumbHash, .color, .lqip: .text
        }
    }
}

extension OutputFormat {
    /// A format's row: everything that differs from format to format.
    struct Row: Sendable {
        /// Where an effort is configured, and its values.
        struct Efforts: Sendable {
            let value: WritableKeyPath<EncoderEfforts, Int> & Sendable
            let range: ClosedRange<Int>
        }

        /// How a format holds the pixel data of another format in fewer bytes.
        struct Transcoding: Sendable {
            /// The format of the source.
            let source: OutputFormat
            /// Returns nil for a source that cannot be held.
            let transcode: @Sendable (ByteBuffer) -> ByteBuffer?
            /// The share of the source's bytes that remains at least, usually.
            let leastShare: Double
        }

        /// The frames that a file can hold.
        enum Frames { case one, animation, pages }

        var mediaType: String
        var aliases: [String] = []
        var extensions: [String]
        /// The libvips encoder; nil for texts.
        var saver: VipsSaver?
        /// The codec that libheif must be able to encode.
        var codec: HEIFCodec?
        /// The package that adds the encoder to Debian's libvips; nil = another libvips.
        var debianPackage: String?
        /// Whether every complete build of libvips encodes it.
        var isEssential = false
        /// Whether it is sent only to clients whose `Accept` names it, so that `output=auto` may choose it.
        var isNegotiated = false
        var hasAlpha = true
        /// Whether gray is written as one channel.
        var holdsGray = false
        var frames = Frames.one
        /// Whether a lossy format also has a lossless mode.
        var hasLosslessMode = false
        /// Whether this machine's encoder has that mode.
        var supportsLosslessMode: @Sendable () -> Bool = { true }
        /// Whether lossy images may have chroma at half the resolution.
        var samplesChroma = false
        /// Whether a lossy encoder mixes the colors of transparent and visible pixels.
        var mixesColors = false
        /// Whether it has a progressive or interlaced form.
        var isInterlaceable = false
        /// 1…100; nil = no quality setting.
        var defaultQuality: Int?
        /// The most encodes in which a quality for `max_bytes` is searched.
        var searchEncodes = 6
        /// The predicted number of encodes, including the first.
        var expectedEncodes = 2.5
        var maxSide = 1_000_000
        /// Removes the parts of a file that draw nothing, from a source that is the result; nil = such a source is
        /// always encoded again. Returns nil for a file in an unexpected form, and never a larger file.
        var stripped: (@Sendable (ByteBuffer) -> ByteBuffer?)?
        /// Inserts an XMP packet into a file without one; nil = the saver writes it. Returns nil for a file in an
        /// unexpected form.
        var addingXMP: (@Sendable (_ packet: ByteBuffer, _ file: ByteBuffer) -> ByteBuffer?)?
        /// Whether the saver writes EXIF. Into a PNG, libvips 8.14 writes it twice.
        var holdsEXIF = false
        /// How a file of this format holds the pixel data of another format; nil = it cannot.
        var transcoding: Transcoding?
        /// Predicts how an image looks at each quality; nil = no quality setting.
        var qualityModel: (@Sendable () -> QualityModel)?
        /// The saver's options for a quality of 1…100, without any metadata or with the remaining metadata.
        var arguments: @Sendable (Encoder, _ quality: Int, _ strip: Bool) -> KeyValuePairs<String, VipsValue> = {
            _, _, _ in [:]
        }
        /// The efforts for an image, given its pixels: at most the encoder's.
        var adaptedEfforts: @Sendable (Encoder, VipsImage) throws(VipsError) -> EncoderEfforts = {
            encoder, _ throws(VipsError) in encoder.efforts
        }
        /// Bytes that the encoder and its result take, in addition to the pixels.
        var bytes: @Sendable (CostEstimate.Facts) -> Double = { _ in 0 }
        /// Processor time of encoding one pixel once at the default effort, given the pixels of a frame, in
        /// nanoseconds.
        var nanosecondsPerPixel: @Sendable (OutputOptions, _ frameArea: Double) -> Double
        /// Processor time in nanoseconds, at the default effort, that choosing an encoding by the pixels takes in
        /// addition; nil = there is no choice. See ``ImagePlan/choiceWork``.
        var choiceNanoseconds: @Sendable (CostEstimate.Facts) -> Double? = { _ in nil }
        /// Predicts the time of encoding a drawing without loss at the default effort; nil = that is not tried.
        var losslessNanoseconds: (@Sendable (FlatColors) -> Double)?
        /// The factor of ``nanosecondsPerPixel`` for an image whose noise is black and white.
        var saturatedNoiseFactor = 1.0
        /// The factor of that time for an image of this detail, see ``CostEstimate/Facts/detail``.
        var detailFactor: @Sendable (_ detail: Double, CostEstimate.Facts) -> Double = { _, _ in 1 }
        /// Processor time in nanoseconds that a pixel of an alpha channel takes in addition, in plain areas too.
        var alphaNanosecondsPerPixel: @Sendable (OutputOptions) -> Double = { _ in 0 }
        /// The efforts of the encoder; nil = it has none.
        var efforts: Efforts?
        /// The factor of that time for an effort.
        var relativeTime: @Sendable (EncoderEfforts, OutputOptions) -> Double = { _, _ in 1 }
    }

    /// The media type of a response in this format.
    public var mediaType: String { row.mediaType }
    /// Other names in queries, such as `jpeg`.
    package var aliases: [String] { row.aliases }
    /// The file extensions, the extension of results first.
    package var extensions: [String] { row.extensions }
    /// Whether it is a text that describes an image.
    public var isText: Bool { row.saver == nil }
    /// Whether it has an alpha channel.
    public var supportsAlpha: Bool { row.hasAlpha }
    /// Whether it can be animated.
    public var supportsAnimation: Bool { row.frames == .animation }
    /// Whether a file can hold several frames or pages.
    public var supportsMultipleFrames: Bool { row.frames != .one }
    /// Whether it has a quality setting.
    public var isLossy: Bool { defaultQuality != nil }
    /// The default quality, 1…100; nil for formats without one. Photographs look about equally good at all defaults: at
    /// 400 pixels, their mean SSIMULACRA2 scores are within 1.5 points.
    public var defaultQuality: Int? { row.defaultQuality }
    /// The longest side in pixels that the format can hold.
    public var maxSide: Int { row.maxSide }
    /// Whether `ll` has an effect.
    package var hasLosslessMode: Bool { row.hasLosslessMode }
    /// Whether `chroma` has an effect.
    package var samplesChroma: Bool { row.samplesChroma }
    /// Whether `il` has an effect.
    package var isInterlaceable: Bool { row.isInterlaceable }
    /// Whether this machine can encode it.
    public var isAvailable: Bool { isText || InstalledCodecs.current.writable.contains(self) }

    /// The image formats.
    package static let images = allCases.filter { !$0.isText }
    /// The formats that are sent only to clients whose `Accept` names them.
    package static let negotiated = allCases.filter(\.row.isNegotiated)
    /// The formats that a result can have because its source has them, and those that replace them.
    package static let chosen: [OutputFormat] = [.jpeg, .png, .gif, .webp, .avif]
    /// The names of the image formats for which that is true, as in a sentence.
    package static func names(_ word: String, where isMeant: (OutputFormat) -> Bool) -> String {
        images.filter(isMeant).map(\.name).listed(word)
    }

    private var name: String { (self == .jpeg ? .jpeg : SourceFormat(rawValue: rawValue))?.name ?? rawValue }

    /// The image formats, the most widely supported first.
    package static let imagesByReach =
        images.filter(\.row.isEssential) + images.filter { !$0.row.isEssential && !$0.row.isNegotiated }
        + images.filter { !$0.row.isEssential && $0.row.isNegotiated }
}

extension [String] {
    /// The names as in a sentence, such as `a, b and c`.
    package func listed(_ word: String) -> String {
        count < 2 ? joined() : "\(dropLast().joined(separator: ", ")) \(word) \(self[count - 1])"
    }
}
