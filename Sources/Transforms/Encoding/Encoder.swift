import Crypto
public import DarkroomRequests
import DarkroomVips
import NIOCore

/// Encodes the chain's result: makes it fit for the format and chooses the saver's options.
struct Encoder {
    let format: OutputFormat
    let options: OutputOptions
    private(set) var efforts: EncoderEfforts
    /// See ``ImagePlan/choiceWork``.
    let choiceWork: Double
    /// See ``ImagePlan/encodingWork``; 0 = there is no plan.
    let encodingWork: Double
    /// What the pixels are like, as far as it matters to the format.
    private(set) var content = PixelContent()
    /// Whether this machine's encoder of the format can keep every pixel as it is.
    var hasLosslessMode: Bool
    /// Whether each row of a PNG is filtered by the filter that suits it.
    private(set) var filtersRows: Bool
    let interrupt: Interrupt

    init(
        _ options: OutputOptions, format: OutputFormat, efforts: EncoderEfforts = EncoderEfforts(),
        choiceWork: Double = 0, encodingWork: Double = 0, interrupt: @escaping Interrupt
    ) {
        self.format = format
        self.options = options.converted(to: format)
        self.efforts = efforts.with(self.options.compression, for: .png)
        hasLosslessMode = format.row.supportsLosslessMode()
        (self.choiceWork, self.encodingWork) = (choiceWork, encodingWork)
        filtersRows = self.options.filtersRows
        self.interrupt = interrupt
    }

    /// Computes pixels that are still lazy, so an error anywhere in the chain surfaces here at the latest.
    ///
    /// - Parameter timer: measures the stage of transforming until the pixels are computed.
    func encode(
        _ image: ImageFrames, _ timer: inout StageTimer
    ) throws(ImageProcessingError) -> EncodedImage {
        let saver = try requireWritable(image.size)
        do {
            let metadata = ResultMetadata(of: image, options.metadata, in: format)
            let opaque = try opaque(image).mapFrames { frame throws(VipsError) in try metadata.onlyMetadata(of: frame) }
            var pixels = try joinedFrames(of: opaque)
            if pixels.isShort, options.depth(in: format, hasAlpha: pixels.hasAlpha) == 8 {
                pixels = try pixels.roundedFromShorts().rendered(interrupt: interrupt)
            }
            if image.isFromGray, format.row.holdsGray { pixels = try pixels.withoutEqualColors() }
            timer.finishTransforming()
            let content = try examined(pixels)
            if mixesColors(of: image) { pixels = try pixels.continuingColors() }
            return try EncoderPass(
                encoder: adapted(to: pixels, content), saver: saver, pixels: pixels, metadata: metadata
            ).encode()
        } catch {
            throw interrupt() ? .interrupted : .encodingFailed(error.description)
        }
    }

    /// The format's saver. Throws if the format cannot hold an image of that size, or is not supported by this libvips.
    @discardableResult
    func requireWritable(_ size: PixelSize) throws(ImageProcessingError) -> VipsSaver {
        guard let saver = format.row.saver, format.isAvailable else {
            throw .badParameter("output", MissingCodec.encoder(format).reason)
        }
        guard keepsPixelsAsAsked else {
            throw .badParameter(
                "ll",
                "this server's encoder of \(format.rawValue) has no lossless mode; leave out ll, or ask for another "
                    + "format")
        }
        guard isWritable(size) else {
            throw .badParameter(
                "output",
                "\(format.rawValue) holds at most \(format.maxSide) pixels per side and the result has \(size); ask "
                    + "for a smaller w or h, or for another format")
        }
        return saver
    }

    /// Whether the format can hold an image of that size, and is supported by this libvips.
    func isWritable(_ size: PixelSize) -> Bool {
        format.isAvailable && keepsPixelsAsAsked && max(size.width, size.height) <= format.maxSide
    }

    private var keepsPixelsAsAsked: Bool { hasLosslessMode || !options.lossless }

    /// In a format without alpha, transparent pixels become white.
    private func opaque(_ image: ImageFrames) throws(VipsError) -> ImageFrames {
        guard image.first.hasAlpha, !format.supportsAlpha else { return image }
        return try image.mapFrames { frame throws(VipsError) in
            try frame.applying("flatten", ["background": .doubles(Color.white.rgb)])
        }
    }

    /// Whether colors behind transparency matter to the visible ones. In frames below each other, they stay apart.
    private func mixesColors(of image: ImageFrames) -> Bool {
        format.row.mixesColors && !options.lossless && !options.nearLossless
            && !(image.isAnimated && format.writesFrames)
    }

    /// What the pixels are like, with the colors that they had behind transparency.
    private func examined(_ pixels: VipsImage) throws(VipsError) -> PixelContent {
        guard format != .png, !options.lossless, !options.nearLossless else { return PixelContent() }
        if choiceWork > 0 { return try PixelContent(of: pixels, maxArea: .max) }
        return format.samplesChroma ? try PixelContent(of: pixels) : PixelContent()
    }

    /// The encoder with the efforts and the filters that suit these pixels.
    private func adapted(to pixels: VipsImage, _ content: PixelContent) throws(VipsError) -> Encoder {
        var encoder = self
        encoder.efforts = try format.row.adaptedEfforts(self, pixels)
        encoder.content = content
        if format == .png, choiceWork > 0 {
            encoder.filtersRows = try RowFilters.arePreferable(
                for: pixels, level: encoder.efforts.png, interrupt: interrupt)
        }
        return encoder
    }

    /// Whether encoding without loss may take fewer bytes, and no more time than the plan has for it.
    var mayBeSmallerWithoutLoss: Bool {
        guard !options.lossless, !options.nearLossless, let nanoseconds = format.row.losslessNanoseconds else {
            return false
        }
        if content.isTiny, format == .webp { return true }
        return content.flatColors.map { format.choiceWork(nanoseconds($0), efforts) <= choiceWork } ?? false
    }

    /// Whether chroma is not halved, where that is decided: by the request, or since the image is a drawing.
    var keepsChroma: Bool? { options.chroma.map { $0 == .full } ?? (content.isDrawing ? true : nil) }

    /// libvips' name for ``keepsChroma``; by default, it halves chroma below quality 90.
    var subsampling: VipsValue { .string(keepsChroma.map { $0 ? "off" : "on" } ?? "auto") }

    /// The same encoder without loss.
    var withoutLoss: Encoder {
        var options = options
        options.lossless = true
        options.normalize()
        return Encoder(options, format: format, efforts: efforts, interrupt: interrupt)
    }

    /// All pixels in memory. libvips takes an animation as one tall image with `page-height`.
    private func joinedFrames(of image: ImageFrames) throws(VipsError) -> VipsImage {
        guard image.isAnimated, format.writesFrames else {
            return try image.first.rendered(interrupt: interrupt)
        }
        return try VipsImage.stacked(image.frames, interrupt: interrupt).setting(
            ints: ["page-height": image.size.height, "loop": image.loop],
            arrays: image.delays.isEmpty ? [:] : ["delay": image.delays])
    }

    /// The revision of the choices in `Color`, `Formats`, `GainMaps`, `Planning`, `Decoder`, `Resampling`,
    /// `ResultMetadata` and `ImageDescriber`. An estimate of time is such a choice: it decides how far efforts are
    /// lowered.
    /// Part of `EncoderEpoch`: increment it with every change that alters encoded bytes, so that stored variants get
    /// new keys. `EncoderDefaultsTests` has the defaults of each revision that keys leave out.
    static let defaultsRevision = "20"
}

extension VipsImage {
    /// An image of three equal color channels with only one of them. Any other image is returned as it is.
    fileprivate func withoutEqualColors() throws(VipsError) -> VipsImage {
        guard isByte || isShort, bands == 3 || bands == 4 else { return self }
        guard try isByte ? hasEqualColors(UInt8.self) : hasEqualColors(UInt16.self) else { return self }
        let gray = try band(0)
        return try (bands == 4 ? VipsImage.joiningBands([gray, band(3)]) : gray)
            .applying("copy", ["interpretation": isByte ? "b-w" : "grey16"]).rendered()
    }

    private func hasEqualColors<Sample: FixedWidthInteger>(_ type: Sample.Type) throws(VipsError) -> Bool {
        let bands = bands
        return try withSamples { bytes in
            let samples = bytes.bindMemory(to: type)
            return stride(from: 0, to: samples.count - 2, by: bands).allSatisfy { pixel in
                samples[pixel] == samples[pixel + 1] && samples[pixel] == samples[pixel + 2]
            }
        }
    }
}

/// Identifies the encoders of this process: libvips, its codec libraries, and our own defaults.
///
/// Part of every variant key, so that after an upgrade no variant of the old encoders is served.
public enum EncoderEpoch {
    /// The identifier for the default efforts: sixteen hexadecimal digits, constant for the life of the process.
    public static let current = digest("")

    /// The identifier for these efforts, and for the limit on time that may lower them, in sixteen hexadecimal digits.
    public static func identifier(_ efforts: EncoderEfforts, limits: PixelLimits = PixelLimits()) -> String {
        let time = limits.maxProcessingMilliseconds
        let key = time == PixelLimits().maxProcessingMilliseconds ? "" : " within \(time)"
        return efforts == EncoderEfforts() && key.isEmpty ? current : digest(efforts.key + key)
    }

    /// - Parameter tunesAVIF: part of the epoch in addition to the codecs' versions, which are known on Linux only.
    static func digest(
        _ efforts: String, _ codecs: [String] = VipsRuntime.codecs, tunesAVIF: Bool = AVIFQuality.isTuned
    ) -> String {
        let parts =
            [VipsRuntime.version, Encoder.defaultsRevision] + codecs + [efforts] + (tunesAVIF ? ["tuned AVIF"] : [])
        let digest = SHA256.hash(data: Array(parts.joined(separator: "\n").utf8))
        return String(digest.description.suffix(64).prefix(16))
    }
}

/// How much time encoders spend on smaller files, format by format. Defaults were chosen by measurement
/// (docs/quality.md), with the codecs of Debian 12 on photographs of 200 and 800 pixels.
public struct EncoderEfforts: Hashable, Codable, Sendable {
    /// Lossy and lossless WebP, 0…6. Default: 4.
    public var webp: Int
    /// AVIF, 0…9. Default: 3.
    public var avif: Int
    /// JPEG XL, 3…9. Default: 4.
    public var jxl: Int
    /// The compression level of PNG, 1…9. Default: 6.
    public var png: Int

    /// Efforts, clamped to their ranges.
    public init(webp: Int = 4, avif: Int = 3, jxl: Int = 4, png: Int = 6) {
        self.webp = min(max(webp, Self.webpRange.lowerBound), Self.webpRange.upperBound)
        self.avif = min(max(avif, Self.avifRange.lowerBound), Self.avifRange.upperBound)
        self.jxl = min(max(jxl, Self.jxlRange.lowerBound), Self.jxlRange.upperBound)
        self.png = min(max(png, Self.pngRange.lowerBound), Self.pngRange.upperBound)
    }

    /// The effort of a format's encoder; nil for a format without efforts.
    subscript(format: OutputFormat) -> Int? { format.row.efforts.map { self[keyPath: $0.value] } }

    /// The same efforts, except this effort for one format; nil = the format keeps its effort.
    func with(_ effort: Int?, for format: OutputFormat) -> EncoderEfforts {
        var efforts = self
        if let effort, let scale = format.row.efforts {
            efforts[keyPath: scale.value] = min(max(effort, scale.range.lowerBound), scale.range.upperBound)
        }
        return efforts
    }

    /// These efforts, then the same with each lower effort for one format, in descending order.
    func descending(for format: OutputFormat) -> [EncoderEfforts] {
        guard let effort = self[format], let least = format.row.efforts?.range.lowerBound else { return [self] }
        return stride(from: effort, through: least, by: -1).map { with($0, for: format) }
    }

    package static let webpRange = 0...6
    package static let avifRange = 0...9
    package static let jxlRange = 3...9
    package static let pngRange = OutputOptions.compressionLevels

    /// The part of the encoders' epoch.
    var key: String { "\(webp),\(avif),\(jxl),\(png)" }
}
