import DarkroomRequests
import DarkroomVips

extension SourceFormat.Row {
    static let webp = SourceFormat.Row(
        signatures: [Array("RIFF".utf8) + [nil, nil, nil, nil] + Array("WEBP".utf8)], loader: .webp,
        isEssential: true, isAnimation: true, output: .webp,
        detail: { bytes, facts in
            facts.needsWholeSource ? 1.4 * bytes.squareRoot() : lossyDetail(7 * bytes)
        },
        mayBeDrawing: { $0.needsWholeSource && !$0.isLossyAnimation && $0.isCompact },
        bytes: {
            let source = Double($0.sourceArea)
            let frame = $0.frames == 1 ? 7.5 * $0.rasterPixels : 8 * source
            return max(frame, $0.needsWholeSource ? 4 * source : 0)
        },
        nanoseconds: {
            $0.needsWholeSource
                ? $0.storedPixels * ($0.frames > 1 ? 34 : 20) + $0.readBytes * 7.5
                : $0.storedPixels * 4.5 + $0.readBytes * 58 + $0.rasterPixels * 8
        })
}

extension OutputFormat.Row {
    static let webp = OutputFormat.Row(
        saver: .webp, mixesColors: true,
        stripped: WebPContainer.stripped, addingXMP: WebPContainer.adding(xmp:to:),
        addingProfile: WebPContainer.adding(profile:to:), holdsEXIF: true,
        qualityModel: { .webp },
        arguments: { encoder, quality, strip in
            let options = encoder.options
            if options.nearLossless {
                return [
                    "Q": .int(options.quality ?? OutputOptions.nearLosslessQuality), "near_lossless": true,
                    "effort": .int(encoder.efforts.webp), "strip": .bool(strip),
                ]
            }
            return [
                "Q": .int(options.lossless ? 75 : quality), "lossless": .bool(options.lossless),
                "smart_subsample": .bool(options.chroma == .full), "effort": .int(encoder.efforts.webp),
                "strip": .bool(strip),
            ]
        },
        bytes: {
            let (one, others) = ($0.framePixels, $0.resultPixels - $0.framePixels)
            if $0.output.lossless || $0.output.nearLossless {
                // The tables of repeated colors have a size of their own, except for small images.
                return one * 34 + min(one * 100, 14e6) + others * 6
            }
            // A drawing may also be encoded without loss.
            let exact = $0.choiceWork > 0 ? one * 34 + min(one * 100, 14e6) + others * 6 : 0
            return max(one * ($0.resultHasAlpha ? 15 : $0.output.isFine ? 16 : 11) + others * 2, exact)
        },
        nanosecondsPerPixel: { options, area in
            if options.nearLossless { return 1050 }
            if options.lossless { return CostEstimate.falling(from: 830, to: 375, area) }
            return options.isFine ? 150 : 120
        },
        choiceNanoseconds: { facts in
            guard !facts.output.lossless, !facts.output.nearLossless, facts.mayBeDrawing else { return nil }
            // The bytes of a file bound how often its pixels change. A frame has a cost of its own.
            let frame = min(15e6, facts.framePixels * 100) * Double(facts.resultFrames)
            return facts.resultPixels * (30 + 300 * min(facts.bytesPerPixel * 16, 1)) + frame
        },
        // At most so long took 28 drawings at two sizes, and noise in few colors. More than 256 colors are compressed
        // like photographs.
        losslessNanoseconds: { colors in
            let frames = Double(colors.area) / Double(colors.frameArea)
            let (each, start) = colors.count <= 256 ? (650.0, 0.0) : (1500.0, min(15e6, Double(colors.frameArea) * 100))
            return Double(colors.area) * 30 + Double(colors.changes) * each + frames * start
        },
        // For the colors behind transparency.
        alphaNanosecondsPerPixel: { options in options.lossless || options.nearLossless ? 0 : 15 },
        efforts: Efforts(value: \.webp, range: EncoderEfforts.webpRange),
        relativeTime: { efforts, options in
            (options.lossless ? [0.15, 0.6, 0.8, 1, 1, 1.5, 1.5] : [0.4, 0.5, 0.55, 1, 1, 1.1, 2.6])[efforts.webp]
        })
}
