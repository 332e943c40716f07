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
        mediaType: "image/gif", extensions: ["gif"], saver: .gif, frames: .animation, isInterlaceable: true,
        maxSide: 65_535, stripped: GIFContainer.stripped,
        arguments: { encoder, _, strip in
            ["effort": 4, "interlace": .bool(encoder.options.interlaced), "strip": .bool(strip)]
        },
        bytes: { $0.framePixels * 35 + ($0.resultPixels - $0.framePixels) * 2 },
        nanosecondsPerPixel: { _, area in 5e6 / area + 420 })
}
