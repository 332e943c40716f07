import NIOCore
import Vips

/// Turns source bytes into pixels in memory, every row of every frame used: force-decoding.
struct Decoder {
    let source: ByteBuffer
    let header: SourceHeader
    let pages: PageSelection
    let interrupt: Interrupt

    /// Decodes `framesUsed` frames, shrunk as far as the plan allows.
    func decode(
        framesUsed: Int, as request: ChainPlan.Decode, headroom: Int
    ) throws(ImageProcessingError) -> Picture {
        if header.format == .gif, GIFBlocks.isCutOff(source) { throw .corrupt("GIF: ends inside a block") }
        let readable = header.format == .svg ? try SVGSource.plain(source) : source
        do {
            return try header.format.loader.withImage(
                of: readable, options(framesUsed: framesUsed, request, headroom: headroom)
            ) { lazy throws(VipsError) in
                try picture(lazy.withUnsignedSamples().rendered(interrupt: interrupt), framesUsed: framesUsed)
            }
        } catch {
            throw interrupt() ? .interrupted : .corrupt(error.description)
        }
    }

    private func options(
        framesUsed: Int, _ request: ChainPlan.Decode, headroom: Int
    ) -> KeyValuePairs<String, VipsValue> {
        switch header.format {
        case .jpeg:
            ["access": "sequential", "shrink": .int(shrink(for: request, headroom: headroom))]
        case .webp where framesUsed == 1:
            [
                "access": "sequential", "page": .int(pages.first - 1),
                "scale": .double(scale(for: request, headroom: headroom, atMost: 1)),
            ]
        case .webp, .gif, .tiff, .heic, .avif:
            ["access": "sequential", "page": .int(pages.first - 1), "n": .int(framesUsed)]
        case .svg:
            ["scale": .double(scale(for: request, headroom: 1, atMost: .infinity))]
        case .png, .jxl:
            ["access": "sequential"]
        }
    }

    private func shrink(for request: ChainPlan.Decode, headroom: Int) -> Int {
        guard case .covering(let target) = request else { return 1 }
        let factor = JPEGShrink.factor(source: header.size, covering: target, headroom: headroom)
        return JPEGShrink.seesDamage(in: source, height: header.size.height, factor: factor) ? factor : 1
    }

    /// The scale at which the whole picture just covers the target. It maps the whole source on whole pixels, so it is exact.
    private func scale(for request: ChainPlan.Decode, headroom: Int, atMost limit: Double) -> Double {
        guard case .covering(let target) = request else { return 1 }
        let across = Double(target.width * headroom) / Double(header.size.width)
        let down = Double(target.height * headroom) / Double(header.size.height)
        return min(max(across, down), limit)
    }

    private func picture(_ image: VipsImage, framesUsed: Int) throws(VipsError) -> Picture {
        let height = framesUsed == 1 ? image.height : image.height / framesUsed
        let size = PixelSize(width: image.width, height: height)
        var frames = [image]
        if framesUsed > 1 {
            frames = []
            for index in 0..<framesUsed {
                frames.append(try image.extracting(x: 0, y: index * height, size: size))
            }
        }
        return Picture(
            frames: frames, extent: extent(of: size), orientation: header.orientation,
            delays: delays(image, framesUsed),
            loop: image.int("loop") ?? 0)
    }

    /// A JPEG's shrink rounds down what it cannot show whole; every other decoder shows the whole picture.
    private func extent(of raster: PixelSize) -> Extent {
        guard header.format == .jpeg else { return Extent(raster) }
        let factor = header.size.width / max(raster.width, 1)
        guard factor > 1 else { return Extent(raster) }
        let shrink = Double([8, 4, 2].first { $0 <= factor } ?? 1)
        return Extent(width: Double(header.size.width) / shrink, height: Double(header.size.height) / shrink)
    }

    /// libvips keeps the delays of the whole file: those of the frames used are cut out. 100 ms where none is stated.
    private func delays(_ image: VipsImage, _ framesUsed: Int) -> [Int] {
        guard framesUsed > 1, header.format.isAnimation else { return [] }
        let all = image.ints("delay") ?? []
        let used = Array(all.dropFirst(pages.first - 1).prefix(framesUsed))
        return used + Array(repeating: 100, count: framesUsed - used.count)
    }
}
