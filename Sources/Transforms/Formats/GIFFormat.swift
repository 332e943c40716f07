import DarkroomRequests
import DarkroomVips

extension SourceFormat.Row {
    static let gif = SourceFormat.Row(
        signatures: [Array("GIF87a".utf8), Array("GIF89a".utf8)], loader: .gif, isEssential: true, isAnimation: true,
        output: .gif,
        mayBeDrawing: { $0.isCompact },
        bytes: { 6 * Double($0.sourceArea) },
        nanoseconds: { $0.storedPixels * 15 })
}

extension OutputFormat.Row {
    static let gif = OutputFormat.Row(
        saver: .gif, stripped: GIFContainer.stripped,
        addingXMP: GIFContainer.adding(xmp:to:),
        arguments: { encoder, quality, strip in
            [
                "effort": 4, "bitdepth": .int(colorBits(quality)), "interlace": .bool(encoder.options.interlaced),
                "strip": .bool(strip),
            ]
        },
        bytes: { $0.framePixels * 35 + ($0.resultPixels - $0.framePixels) * 2 },
        nanosecondsPerPixel: { _, area in 5e6 / area + 500 })

    /// The bits of an index: 256 colors from quality 70 on, 128 from 60 on, and so on, and 4 below 20. Errors between
    /// frames, which libvips can tolerate too, save little and leave traces of earlier frames.
    static func colorBits(_ quality: Int) -> Int { min(max(quality / 10 + 1, 2), 8) }
}
