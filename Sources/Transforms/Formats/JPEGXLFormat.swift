import DarkroomRequests
import DarkroomVips

extension SourceFormat.Row {
    static let jxl = SourceFormat.Row(
        signatures: [[0xFF, 0x0A], [0, 0, 0, 0x0C] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]], loader: .jxl,
        detail: { bytes, _ in lossyDetail(6 * bytes) },
        bytes: { 6.5 * Double($0.sourceArea) },
        // The time of a lossless image grows with the size of the file.
        nanoseconds: { min($0.storedPixels * 155, $0.storedPixels * 24 + $0.readBytes * 110) })
}

extension OutputFormat.Row {
    static let jxl = OutputFormat.Row(
        saver: .jxl, addingXMP: JPEGXLContainer.adding(xmp:to:),
        transcoding: Transcoding(source: .jpeg, transcode: JPEGXLTranscoder.transcode, leastShare: 0.6),
        qualityModel: { .jxl },
        arguments: { encoder, quality, strip in
            [
                "Q": .int(quality), "lossless": .bool(encoder.options.lossless), "effort": .int(encoder.efforts.jxl),
                "strip": .bool(strip),
            ]
        },
        bytes: {
            if $0.resultFrames > 1 { return bytesOfAnimation($0) }
            let isThorough = $0.efforts.jxl >= 8
            if $0.output.lossless { return $0.resultPixels * (isThorough ? 150 : 80) }
            let exact = $0.choiceWork > 0 && !$0.mayBeTranscoded ? 80.0 : 0
            // Transcoding takes less than encoding, but for its copies of the source.
            let copies = $0.choiceWork > 0 && $0.mayBeTranscoded ? Double($0.sourceBytes) * 10 : 0
            return $0.resultPixels * max(isThorough ? 300 : $0.resultHasAlpha ? 70 : 52, exact) + copies
        },
        nanosecondsPerPixel: { options, area in
            if options.lossless { return 1400 }
            return CostEstimate.falling(from: 160, to: 55, area) * (options.isFine ? 1.3 : 1)
        },
        choiceNanoseconds: { facts in
            // Transcoding, and decoding what it has made.
            if facts.mayBeTranscoded { return facts.storedPixels * 40 + facts.readBytes * 200 }
            return facts.output.lossless || !facts.mayBeDrawing ? nil : facts.resultPixels * drawingNanoseconds
        },
        losslessNanoseconds: { colors in
            colors.count <= 256 ? Double(colors.area) * drawingNanoseconds : .infinity
        },
        // Alpha is encoded without loss.
        alphaNanosecondsPerPixel: { options in options.lossless ? 0 : 130 },
        efforts: Efforts(value: \.jxl, range: EncoderEfforts.jxlRange),
        relativeTime: { efforts, options in
            (options.lossless ? [0.17, 1, 1.15, 1.25, 1.7, 4.2, 22] : [0.95, 1, 2.3, 2.7, 3.3, 17, 29])[
                efforts.jxl - EncoderEfforts.jxlRange.lowerBound]
        })

    /// libjxl encodes one frame while it holds the next one. Measured with libjxl 0.11, for 2 to 200 frames of 64 to
    /// 1600 pixels.
    private static func bytesOfAnimation(_ facts: CostEstimate.Facts) -> Double {
        let isExact = facts.output.lossless || facts.choiceWork > 0 && facts.webPChoiceWork == nil
        let each = isExact ? 140.0 : facts.resultHasAlpha ? 110 : 85
        let start = min(facts.framePixels * 500, 11e6)
        let file = facts.resultPixels * (isExact ? 3.5 : 0.5)
        return facts.framePixels * each * (facts.efforts.jxl >= 8 ? 7 : 1) + start + file
    }

    /// The time of encoding a pixel of a drawing of at most 256 colors without loss. Its changes matter little.
    private static let drawingNanoseconds = 900.0
}
