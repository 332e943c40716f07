import DarkroomVips
import NIOCore

/// Turns the chain's result into bytes.
struct Encoder {
    let format: OutputFormat
    let options: OutputOptions
    let interrupt: Interrupt

    init(_ options: OutputOptions, format: OutputFormat, interrupt: @escaping Interrupt) {
        self.format = format
        self.options = options.resolved(for: format)
        self.interrupt = interrupt
    }

    /// Pixels that are still lazy are computed on the way, so whatever can fail in the chain fails here at the latest.
    func encode(_ picture: ImageFrames) throws(ImageProcessingError) -> ByteBuffer {
        let saver = try requireWritable(picture.size)
        do {
            let notice = CopyrightNotice(of: picture.first)
            let opaque = try opaque(picture).mapFrames { frame throws(VipsError) in try notice.onlyMetadata(of: frame) }
            return try saver.encode(
                joinedFrames(of: opaque), arguments(strip: notice.isEmpty), interrupt: interrupt)
        } catch {
            throw interrupt() ? .interrupted : .encodingFailed(error.description)
        }
    }

    /// Throws where the format cannot hold a picture of that size, or cannot be written here at all.
    @discardableResult
    func requireWritable(_ size: PixelSize) throws(ImageProcessingError) -> VipsSaver {
        guard let saver = format.saver, format.isAvailable else {
            throw .badParameter(
                TransformError(
                    parameter: "output",
                    reason: "\(format.rawValue) cannot be written by this server's libvips; ask for another format"))
        }
        guard max(size.width, size.height) <= format.maxSide else {
            throw .badParameter(
                TransformError(
                    parameter: "output",
                    reason: "\(format.rawValue) holds at most \(format.maxSide) pixels a side and the result has "
                        + "\(size); ask for a smaller w or h, or for another format"))
        }
        return saver
    }

    /// A format without alpha shows white where nothing is.
    private func opaque(_ picture: ImageFrames) throws(VipsError) -> ImageFrames {
        guard picture.first.hasAlpha, !format.supportsAlpha else { return picture }
        return try picture.mapFrames { frame throws(VipsError) in
            try frame.applying("flatten", ["background": .doubles(Color.white.rgb)])
        }
    }

    /// All pixels in memory. libvips takes several frames as one tall image with `page-height`.
    private func joinedFrames(of picture: ImageFrames) throws(VipsError) -> VipsImage {
        guard picture.isAnimated, format.supportsMultipleFrames else { return try picture.first.rendered(interrupt: interrupt) }
        return try VipsImage.stacked(picture.frames, interrupt: interrupt).setting(
            ints: ["page-height": picture.size.height, "loop": picture.loop],
            arrays: picture.delays.isEmpty ? [:] : ["delay": picture.delays])
    }

    private func arguments(strip: Bool) -> KeyValuePairs<String, VipsValue> {
        let quality = VipsValue.int(options.quality ?? format.defaultQuality ?? 0)
        return switch format {
        case .jpeg:
            ["Q": quality, "optimize_coding": true, "interlace": .bool(options.interlaced), "strip": .bool(strip)]
        case .png:
            ["compression": 6, "interlace": .bool(options.interlaced), "strip": .bool(strip)]
        case .webp:
            [
                "Q": options.lossless ? 75 : quality, "lossless": .bool(options.lossless), "effort": 4,
                "strip": .bool(strip),
            ]
        case .avif:
            [
                "Q": quality, "lossless": .bool(options.lossless), "effort": 2, "compression": "av1", "bitdepth": 8,
                "strip": .bool(strip),
            ]
        case .gif:
            ["effort": 7, "interlace": .bool(options.interlaced), "strip": .bool(strip)]
        case .jxl:
            ["Q": quality, "lossless": .bool(options.lossless), "effort": 4, "strip": .bool(strip)]
        case .tiff:
            ["compression": "deflate", "strip": .bool(strip)]
        case .json, .blurHash, .thumbHash, .color, .lqip:
            [:]
        }
    }

    /// Names every choice above and those of `Decoder` and `ImageDescriber`, for `EncoderEpoch`: a change there must change stored variants' keys.
    static let defaultsRevision = "2"
}
