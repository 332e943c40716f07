import DarkroomVips

extension SourceFormat.Row {
    static let jpeg = SourceFormat.Row(
        signatures: [[0xFF, 0xD8, 0xFF]], loader: .jpeg, isEssential: true, statesDensity: true,
        bytes: { $0.needsWholeSource ? 3 * Double($0.sourceArea) : 0 },
        nanoseconds: {
            $0.rasterPixels * 4
                + ($0.needsWholeSource
                    ? $0.storedPixels * 3.2 + $0.readBytes * 37 : $0.storedPixels * 1.2 + $0.readBytes * 8.7)
        })
}

extension OutputFormat.Row {
    static let jpeg = OutputFormat.Row(
        mediaType: "image/jpeg", aliases: ["jpeg"], extensions: ["jpg", "jpeg", "jpe"], saver: .jpeg,
        isEssential: true, hasAlpha: false, isInterlaceable: true, defaultQuality: 80, maxSide: 65_500,
        stripped: JPEGContainer.stripped, qualityModel: { .jpeg },
        arguments: { encoder, quality, strip in
            [
                "Q": .int(quality), "optimize_coding": true, "interlace": .bool(encoder.options.interlaced),
                "strip": .bool(strip),
            ]
        },
        bytes: { $0.resultPixels * ($0.output.isFine ? 7 : 3.5) },
        nanosecondsPerPixel: { options, _ in (options.isFine ? 25 : 15) + (options.interlaced ? 13 : 0) })
}
