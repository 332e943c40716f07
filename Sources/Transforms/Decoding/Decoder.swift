import DarkroomVips
import NIOCore

/// Turns source bytes into pixels in memory, every row of every frame used: force-decoding.
struct Decoder {
    let source: ByteBuffer
    let header: SourceHeader
    /// Whether the end of the source is still to come.
    var isPartial = false
    let interrupt: Interrupt

    /// All pixels that `parameters` name.
    func decode(_ parameters: DecodeParameters) throws(ImageProcessingError) -> DecodedPixels {
        if header.format == .gif, GIFBlocks.isTruncated(source) { throw .corrupt("GIF: ends inside a block") }
        let readable = header.format == .svg ? try SVGSource.plain(source) : source
        do {
            let image = try header.format.loader.withImage(
                of: readable, options(parameters), toleratesDamage: isPartial
            ) {
                lazy throws(VipsError) in try lazy.withUnsignedSamples().rendered(interrupt: interrupt)
            }
            return DecodedPixels(
                image: image, extent: extent(of: image, parameters), orientation: header.orientation)
        } catch {
            throw interrupt() ? .interrupted : .corrupt(error.description)
        }
    }

    /// The pixels of a single frame, turned as `Orient` would turn them.
    func upright(_ pixels: DecodedPixels) throws(ImageProcessingError) -> DecodedPixels {
        do {
            return try pixels.upright(interrupt: interrupt)
        } catch {
            throw interrupt() ? .interrupted : .transformFailed(error.description)
        }
    }

    /// The picture that these pixels, decoded now or before, are.
    func picture(
        _ pixels: DecodedPixels, _ parameters: DecodeParameters
    ) throws(ImageProcessingError) -> ImageFrames {
        do {
            return Picture(
                frames: try pixels.frames(parameters.frames), extent: pixels.extent, orientation: pixels.orientation,
                delays: delays(pixels.image, parameters), loop: pixels.image.int("loop") ?? 0)
        } catch {
            throw .corrupt(error.description)
        }
    }

    /// What to ask the loader for: `framesUsed` frames from the first one selected, shrunk as far as the plan allows, and as
    /// far as it takes to stay within `maxPixels` where the source is larger.
    func parameters(
        _ pages: PageSelection, framesUsed: Int, as request: ChainPlan.Decode, headroom: Int, maxPixels: Int
    ) throws(ImageProcessingError) -> DecodeParameters {
        var parameters = DecodeParameters(firstPage: pages.first, frames: framesUsed)
        switch header.format {
        case .jpeg:
            parameters.shrink = try shrink(for: request, headroom: headroom, maxPixels: maxPixels)
        case .webp where framesUsed == 1:
            let most = header.shrinking.reach(of: header.size, within: maxPixels).map { scale(covering: $0) } ?? 1
            parameters.scale = min(eighths(scale(for: request, headroom: headroom)), most)
        case .svg:
            parameters.scale = scale(for: request, headroom: 1)
        case .webp, .gif, .tiff, .heic, .avif, .png, .jxl:
            break
        }
        return parameters
    }

    func options(_ parameters: DecodeParameters) -> KeyValuePairs<String, VipsValue> {
        switch header.format {
        case .jpeg:
            ["access": "sequential", "shrink": .int(parameters.shrink)]
        case .webp where parameters.frames == 1:
            [
                "access": "sequential", "page": .int(parameters.firstPage - 1), "scale": .double(parameters.scale),
            ]
        case .webp, .gif, .tiff, .heic, .avif:
            ["access": "sequential", "page": .int(parameters.firstPage - 1), "n": .int(parameters.frames)]
        case .svg:
            ["scale": .double(parameters.scale)]
        case .png, .jxl:
            ["access": "sequential"]
        }
    }

    private func shrink(
        for request: ChainPlan.Decode, headroom: Int, maxPixels: Int
    ) throws(ImageProcessingError) -> Int {
        guard case .covering(let target) = request else { return 1 }
        let least = JPEGShrink.factor(source: header.size, within: maxPixels) ?? 1
        let factor = max(least, JPEGShrink.factor(source: header.size, covering: target, headroom: headroom))
        if isPartial || JPEGShrink.seesDamage(in: source, height: header.size.height, factor: factor) { return factor }
        guard least == 1 else { throw .corrupt("JPEG: its end is missing, and it is too large to be decoded unshrunk") }
        return 1
    }

    /// The scale at which the whole picture just covers the target. It maps the whole source on whole pixels, so it is exact.
    private func scale(for request: ChainPlan.Decode, headroom: Int) -> Double {
        guard case .covering(let target) = request else { return 1 }
        let scale = scale(covering: PixelSize(width: target.width * headroom, height: target.height * headroom))
        return header.format.isVector ? scale : min(scale, 1)
    }

    /// The next eighth up: few levels, so that one decode serves several sizes.
    private func eighths(_ scale: Double) -> Double { (scale * 8).rounded(.up) / 8 }

    private func scale(covering target: PixelSize) -> Double {
        max(Double(target.width) / Double(header.size.width), Double(target.height) / Double(header.size.height))
    }

    /// A JPEG's shrink rounds down what it cannot show whole; every other decoder shows the whole picture.
    private func extent(of image: VipsImage, _ parameters: DecodeParameters) -> Extent {
        let shrink = Double(parameters.shrink)
        guard shrink > 1 else {
            return Extent(PixelSize(width: image.width, height: image.height / parameters.frames))
        }
        return Extent(width: Double(header.size.width) / shrink, height: Double(header.size.height) / shrink)
    }

    /// libvips keeps the delays of the whole file: those of the frames used are cut out. 100 ms where none is stated.
    private func delays(_ image: VipsImage, _ parameters: DecodeParameters) -> [Int] {
        guard parameters.frames > 1, header.format.isAnimation else { return [] }
        let all = image.ints("delay") ?? []
        let used = Array(all.dropFirst(parameters.firstPage - 1).prefix(parameters.frames))
        return used + Array(repeating: 100, count: parameters.frames - used.count)
    }
}
