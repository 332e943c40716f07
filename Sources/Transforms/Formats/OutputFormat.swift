public import DarkroomRequests
import DarkroomVips
import NIOCore

extension OutputFormat {
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
        case .json, .blurHash, .thumbHash, .color, .lqip: .text
        }
    }

    /// A format's row: everything that differs from format to format when images are encoded. ``Traits`` has what
    /// requests depend on.
    struct Row: Sendable {
        /// Where an effort is configured, and its values.
        struct Efforts: Sendable {
            let value: WritableKeyPath<EncoderEfforts, Int> & Sendable
            let range: ClosedRange<Int>
        }

        /// How a format holds the pixel data of another format in fewer bytes.
        struct Transcoding: Sendable {
            let source: OutputFormat
            /// Returns nil for a source that cannot be held.
            let transcode: @Sendable (ByteBuffer) -> ByteBuffer?
            /// The share of the source's bytes that remains at least, usually.
            let leastShare: Double
        }

        /// The libvips encoder; nil for texts.
        var saver: VipsSaver?
        /// The codec that libheif must be able to encode.
        var codec: HEIFCodec?
        /// Whether gray is written as one channel.
        var holdsGray = false
        /// Whether this machine's encoder has a lossless mode, in a format with such a mode.
        var supportsLosslessMode: @Sendable () -> Bool = { true }
        /// Whether a lossy encoder mixes the colors of transparent and visible pixels.
        var mixesColors = false
        /// The most encodes in which a quality for `max_bytes` is searched.
        var searchEncodes = 6
        /// The predicted number of encodes, including the first.
        var expectedEncodes = 2.5
        /// Removes the parts of a file that draw nothing, from a source that is the result; nil = such a source is
        /// always encoded again. Returns nil for a file in an unexpected form, and never a larger file.
        var stripped: (@Sendable (ByteBuffer) -> ByteBuffer?)?
        /// Inserts an XMP packet into a file without one; nil = the saver writes it. Returns nil for a file in an
        /// unexpected form.
        var addingXMP: (@Sendable (_ packet: ByteBuffer, _ file: ByteBuffer) -> ByteBuffer?)?
        /// Inserts an ICC profile into a file without one; nil = the saver writes it. Returns nil for a file in an
        /// unexpected form.
        var addingProfile: (@Sendable (_ profile: ByteBuffer, _ file: ByteBuffer) -> ByteBuffer?)?
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
        /// The factor of that time for samples of more than 8 bits.
        var deepFactor = 1.0
        /// The factor of that time for an image of this detail, see ``CostEstimate/Facts/detail``.
        var detailFactor: @Sendable (_ detail: Double, CostEstimate.Facts) -> Double = { _, _ in 1 }
        /// Processor time in nanoseconds that a pixel of an alpha channel takes in addition, in plain areas too.
        var alphaNanosecondsPerPixel: @Sendable (OutputOptions) -> Double = { _ in 0 }
        /// The efforts of the encoder; nil = it has none.
        var efforts: Efforts?
        /// The factor of that time for an effort.
        var relativeTime: @Sendable (EncoderEfforts, OutputOptions) -> Double = { _, _ in 1 }
    }

    /// Whether this machine's encoder writes all frames or pages of a result.
    var writesFrames: Bool { supportsMultipleFrames && row.saver?.writesFrames ?? false }

    /// Whether this machine can encode it.
    public var isAvailable: Bool { isText || InstalledCodecs.current.writable.contains(self) }
}
