import DarkroomRequests
import DarkroomVips
import NIOCore

/// Decodes source bytes into memory, every row of every frame used (force-decoding).
struct Decoder {
    let source: ByteBuffer
    let header: SourceHeader
    /// The reader that the header was read by; nil = another one is made.
    var headerReader: SourceReader?
    /// Whether the source is only the beginning of a file, or damaged: what is missing becomes gray.
    var isPartial = false
    let interrupt: Interrupt

    func decode(_ parameters: DecodeParameters) throws(ImageProcessingError) -> DecodedPixels {
        let reader = try reader(parameters)
        if header.format == .gif, !isPartial, GIFContainer.isTruncated(reader.bytes) {
            throw .corrupt("GIF ends inside a block")
        }
        let image = try reader.pixels(
            options(parameters, reader), frames: parameters.frameIndices, toleratesErrors: isPartial,
            interrupt: interrupt)
        return DecodedPixels(image: image, extent: extent(of: image, parameters), orientation: header.orientation)
    }

    /// An icon has a reader for each of its images.
    private func reader(_ parameters: DecodeParameters) throws(ImageProcessingError) -> SourceReader {
        if header.format != .ico, let headerReader { return headerReader }
        return try SourceReader(of: source, header.format, entry: parameters.entry)
    }

    /// The pixels of a single frame with its orientation applied, rendered into memory.
    func upright(_ pixels: DecodedPixels) throws(ImageProcessingError) -> DecodedPixels {
        let stored = ImageFrames(frames: [pixels.image], extent: pixels.extent, orientation: pixels.orientation)
        do {
            let upright = try Orient(.auto).upright(stored)
            return DecodedPixels(
                image: try upright.first.rendered(interrupt: interrupt), extent: upright.extent, orientation: 1)
        } catch {
            throw interrupt() ? .interrupted : .transformFailed(error.description)
        }
    }

    /// The frames in these pixels, with the animation's timing.
    func frames(
        of pixels: DecodedPixels, _ parameters: DecodeParameters
    ) throws(ImageProcessingError) -> ImageFrames {
        // A PNG whose frames are damaged is its default image.
        let isStill = header.format == .png && pixels.image.height == header.size.height
        do {
            return ImageFrames(
                frames: try pixels.frames(isStill ? 1 : parameters.frames), extent: pixels.extent,
                decoded: ImageFrames.Decoded(image: pixels.image, shrink: parameters.shrink),
                orientation: pixels.orientation,
                delays: isStill ? [] : delays(of: parameters), loop: header.loop)
        } catch {
            throw .corrupt(error.description)
        }
    }

    /// The loader's parameters: `framesUsed` frames from the header's, shrunk as far as the plan allows, and as far as
    /// a source larger than the job's limit requires.
    func parameters(
        of job: ImageJob, framesUsed: Int, as request: ChainPlan.Decode
    ) throws(ImageProcessingError) -> DecodeParameters {
        let (headroom, maxPixels) = (job.resampling.headroom, job.limits.maxSourcePixels)
        var parameters = DecodeParameters(
            firstPage: header.page, frames: framesUsed, span: job.pages.span(of: header, framesUsed: framesUsed))
        switch header.format {
        case .jpeg:
            parameters.shrink = try shrink(for: request, headroom: headroom, maxPixels: maxPixels)
        case .webp where framesUsed == 1:
            let most = header.shrinking.largestSize(of: header.size, within: maxPixels).map { scale(covering: $0) } ?? 1
            // Rounded up to an eighth, so that one cached decode serves several sizes.
            parameters.scale = min((scale(for: request, headroom: headroom) * 8).rounded(.up) / 8, most)
        case .svg:
            parameters.scale = scale(for: request, headroom: 1)
        case .ico:
            let directory = try IconDirectory(of: source)
            var entry = header.entry
            if entry == nil, case .covering(let target) = request { entry = directory.index(covering: target) }
            guard let entry, entry != directory.largest else { break }
            parameters.entry = entry
            parameters.scale = Double(directory.entries[entry].size.width) / Double(header.size.width)
        default: break
        }
        return parameters
    }

    func options(_ parameters: DecodeParameters, _ reader: SourceReader) -> KeyValuePairs<String, VipsValue> {
        let pages = reader.pages(of: parameters.frameIndices)
        return switch header.format {
        case .jpeg:
            ["access": "sequential", "shrink": .int(parameters.shrink)]
        case .webp where parameters.frames == 1:
            [
                "access": "sequential", "page": .int(parameters.firstPage - 1), "scale": .double(parameters.scale),
            ]
        case .svg:
            ["scale": .double(parameters.scale)]
        case let format where format == .gif || format == .webp || format.row.hasPages:
            ["access": "sequential", "page": .int(pages[0]), "n": .int(SourceReader.span(of: pages))]
        default:
            ["access": "sequential"]
        }
    }

    private func shrink(
        for request: ChainPlan.Decode, headroom: Double, maxPixels: Int
    ) throws(ImageProcessingError) -> Int {
        guard case .covering(let target) = request else { return 1 }
        let least = JPEGShrink.factor(source: header.size, within: maxPixels) ?? 1
        let factor = max(least, JPEGShrink.factor(source: header.size, covering: target, headroom: headroom))
        if isPartial || JPEGShrink.detectsTruncation(of: source, height: header.size.height, factor: factor) {
            return factor
        }
        guard least == 1 else { throw .corrupt("JPEG has no end and is too large to be decoded without shrinking") }
        return 1
    }

    /// The scale at which the image covers the target with headroom. The decoder maps the whole source to whole pixels,
    /// so it is exact.
    private func scale(for request: ChainPlan.Decode, headroom: Double) -> Double {
        guard case .covering(let target) = request else { return 1 }
        let scale = scale(covering: target) * headroom
        return header.format.isVector ? scale : min(scale, 1)
    }

    private func scale(covering target: PixelSize) -> Double {
        max(Double(target.width) / Double(header.size.width), Double(target.height) / Double(header.size.height))
    }

    /// A shrunk JPEG loses partial pixels at its far edges; every other decoder shows the whole image.
    private func extent(of image: VipsImage, _ parameters: DecodeParameters) -> Extent {
        let shrink = Double(parameters.shrink)
        guard shrink > 1 else {
            return Extent(
                header.format == .png
                    ? header.size : PixelSize(width: image.width, height: image.height / parameters.frames))
        }
        return Extent(width: Double(header.size.width) / shrink, height: Double(header.size.height) / shrink)
    }

    /// The delays of the frames used, each with the delays of the frames left out after it.
    private func delays(of parameters: DecodeParameters) -> [Int] {
        guard parameters.frames > 1, header.format.isAnimation else { return [] }
        let indices = parameters.frameIndices
        let ends = indices.dropFirst() + [parameters.firstPage - 1 + parameters.span]
        return zip(indices, ends).map { start, end in (start..<end).reduce(0) { $0 + shownDelay(of: $1) } }
    }

    /// The time that browsers show a frame for: 100 ms for a frame without a delay, or with one of up to 10 ms.
    private func shownDelay(of frame: Int) -> Int {
        guard frame < header.delays.count, header.delays[frame] > 10 else { return 100 }
        return header.delays[frame]
    }

    /// The pixels that a decode would deliver.
    struct Raster {
        /// The size of one frame.
        var size: PixelSize
        /// Bytes of all frames.
        var byteCount: Int
    }

    /// Asks the loader, which reports its size before it decodes.
    func raster(_ parameters: DecodeParameters) throws(ImageProcessingError) -> Raster {
        let reader = try reader(parameters)
        // The frames of a PNG are not loaded together.
        let isComposed = header.format == .png
        let loaded = isComposed ? 1 : SourceReader.span(of: reader.pages(of: parameters.frameIndices))
        return try reader.withFields(options(parameters, reader)) { lazy in
            Raster(
                size: PixelSize(width: lazy.width, height: lazy.height / loaded),
                byteCount: (lazy.byteCount / loaded).saturatingMultiply(by: parameters.frames))
        }
    }
}

/// Decoded pixels, in memory to the last row. The frames of an animation lie one below the other.
struct DecodedPixels: Sendable {
    let image: VipsImage
    /// The position of the whole image on the raster of one frame.
    let extent: Extent
    /// EXIF orientation 1…8; 1 once it is applied.
    let orientation: Int

    /// Memory of pixels and metadata in bytes.
    var byteCount: Int { image.byteCount + image.fieldByteCount }

    /// Each frame as a separate image. Only the first has all of the file's metadata: every rendering copies it.
    func frames(_ count: Int) throws(VipsError) -> [VipsImage] {
        guard count > 1 else { return [image] }
        let size = PixelSize(width: image.width, height: image.height / count)
        let unread = fieldsOfFirstFrame
        // libvips walks all images that were taken of one at each further one, so they are taken of parts of it.
        var part = image
        return try (0..<count).map { index throws(VipsError) in
            if count > Self.framesOfPart, index.isMultiple(of: Self.framesOfPart) {
                let rows = min(Self.framesOfPart, count - index) * size.height
                part = try image.extracting(
                    x: 0, y: index * size.height, size: PixelSize(width: size.width, height: rows))
            }
            let place = count > Self.framesOfPart ? index % Self.framesOfPart : index
            let frame = try part.extracting(x: 0, y: place * size.height, size: size)
            return try index == 0 || unread.isEmpty ? frame : frame.setting(removing: unread)
        }
    }

    private static let framesOfPart = 64

    /// The binary fields that are read from the first frame only. A profile is read from all if it converts colors.
    private var fieldsOfFirstFrame: [String] {
        let profile = image.needsProfile ? [] : ["icc-profile-data"]
        return (["exif-data", "xmp-data", "iptc-data", "photoshop-data"] + profile).filter { image.has($0) }
    }
}

/// The parameters of a loader. Equal bytes and equal parameters give equal pixels, which is what makes a cached decode
/// usable.
struct DecodeParameters: Hashable, Sendable {
    /// The first frame or page, counted from 1.
    var firstPage = 1
    /// The number of frames or pages that are delivered, at least 1.
    var frames = 1
    /// The number of frames or pages from which they are chosen evenly, at least ``frames``.
    var span = 1
    /// The factor by which a JPEG is shrunk on load: 1, 2, 4 or 8.
    var shrink = 1
    /// The scale at which a WebP is decoded or an SVG is drawn. For an icon, the scale of the image at ``entry``.
    var scale = 1.0
    /// The index of an icon's image; nil = the largest.
    var entry: Int?

    init(firstPage: Int = 1, frames: Int = 1, span: Int? = nil) {
        (self.firstPage, self.frames, self.span) = (firstPage, frames, span ?? frames)
    }

    /// The frames or pages that are delivered, counted from 0.
    var frameIndices: [Int] { (0..<frames).map { firstPage - 1 + $0 * span / frames } }
}

extension VipsImage {
    /// The samples as unsigned integers of 8 or 16 bits, the only samples that later steps support. TIFF has other
    /// samples too: signed samples are shifted to start at 0, 32-bit samples lose their lower half, floating point and
    /// Lab are converted to sRGB.
    func withUnsignedSamples(interrupt: Interrupt? = nil) throws(VipsError) -> VipsImage {
        if isWideLab { return try convertedFromLab(interrupt: interrupt) }
        return switch sampleFormat {
        case "uchar", "ushort": self
        case "char": try converted(to: "uchar", scale: 1, offset: 128)
        case "short": try converted(to: "ushort", scale: 1, offset: 32768)
        case "uint": try converted(to: "ushort", scale: 1 / 65536, offset: 0)
        case "int": try converted(to: "ushort", scale: 1 / 65536, offset: 32768)
        case "float", "double": try convertedFromFloats(interrupt: interrupt)
        default: try convertedToSRGB()
        }
    }

    private func convertedFromLab(interrupt: Interrupt?) throws(VipsError) -> VipsImage {
        // Color and alpha are computed apart.
        let samples = hasAlpha ? try rendered(interrupt: interrupt) : self
        let converted = try samples.splittingAlpha(
            color: { color throws(VipsError) in try color.convertedToSRGB() },
            alpha: { alpha throws(VipsError) in
                guard alpha.sampleFormat == "short" else { return try alpha.bytes(times: 255) }
                // libvips keeps the bits of an unsigned alpha in signed samples.
                return try alpha.applying("copy", ["format": "ushort"]).bytes(times: 1 / 257)
            })
        return try converted.applying("copy", ["interpretation": "srgb"])
    }

    /// No file states what its white is, so the largest sample decides: up to 16, samples are light of which 1 is
    /// white; up to 255 or 65,535, they are integers in another format; beyond, the largest is white.
    private func convertedFromFloats(interrupt: Interrupt?) throws(VipsError) -> VipsImage {
        let samples = try rendered(interrupt: interrupt)
        let largest = try samples.maximum()
        let white = largest <= 16 ? 1 : largest <= 255 ? 255 : max(largest, 65535)
        let bytes = try samples.splittingAlpha(
            color: { color throws(VipsError) in
                guard white == 1 else { return try color.bytes(times: 255 / white) }
                guard color.bands == 1 else { return try color.convertedToSRGB() }
                let light = try VipsImage.joiningBands([color, color, color])
                return try light.applying("copy", ["interpretation": "scrgb"]).convertedToSRGB().band(0)
            }, alpha: { alpha throws(VipsError) in try alpha.bytes(times: 255 / white) })
        return try bytes.applying("copy", ["interpretation": bytes.bands < 3 ? "b-w" : "srgb"])
    }

    private func converted(to format: String, scale: Double, offset: Double) throws(VipsError) -> VipsImage {
        let isGrey = interpretation == "b-w" || interpretation == "grey16"
        let space = format == "uchar" ? (isGrey ? "b-w" : "srgb") : (isGrey ? "grey16" : "rgb16")
        return try applying("linear", ["a": .doubles([scale]), "b": .doubles([offset])])
            .applying("cast", ["format": .string(format)])
            .applying("copy", ["interpretation": .string(space)])
    }
}
