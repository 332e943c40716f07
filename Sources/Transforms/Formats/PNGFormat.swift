import DarkroomRequests
import DarkroomVips

extension SourceFormat.Row {
    static let png = SourceFormat.Row(
        signatures: [[0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]], loader: .png, isEssential: true,
        isAnimation: true, statesDensity: true, output: .png,
        mayBeDrawing: { $0.isCompact },
        bytes: {
            let frame = Double($0.rasterBytes) / Double(max($0.frames, 1))
            // The canvas, the area to restore, and a frame with its decoder.
            return $0.decodedFrames > 1 ? 4 * frame : $0.needsWholeSource ? frame : 0
        },
        nanoseconds: {
            let drawing = $0.decodedFrames > 1 ? $0.storedPixels * 4 + Double($0.decodedFrames) * 0.2e6 : 0
            return $0.storedPixels * 12.5 + $0.readBytes * 3.8 + drawing
        })
}

extension OutputFormat.Row {
    static let png = OutputFormat.Row(
        saver: .png, holdsGray: true,
        stripped: PNGContainer.stripped, addingXMP: PNGContainer.adding(xmp:to:),
        addingProfile: PNGContainer.adding(profile:to:),
        arguments: { encoder, _, strip in
            [
                "compression": .int(encoder.efforts.png), "interlace": .bool(encoder.options.interlaced),
                "palette": .bool(encoder.options.palette),
                "filter": .int(encoder.filtersRows ? RowFilters.all : RowFilters.none), "strip": .bool(strip),
            ]
        },
        bytes: {
            if $0.output.palette { return $0.resultPixels * 40 }
            let indices = $0.choiceWork > 0 ? $0.resultPixels * 3 : 0
            return $0.resultPixels * $0.resultBands * $0.sampleBytes * ($0.output.interlaced ? 2.5 : 1.5) + indices
        },
        nanosecondsPerPixel: { options, area in
            if options.palette { return 20e6 / area + CostEstimate.falling(from: 2200, to: 900, area) }
            return options.filtersRows ? filteredNanoseconds : plainNanoseconds
        },
        // A part is encoded both ways, then all with filters, and few colors again as indices of a palette.
        choiceNanoseconds: {
            guard !$0.output.palette, !$0.output.filtersRows else { return nil }
            let sample = min($0.resultPixels, Double(RowFilters.sampleArea))
            return $0.resultPixels * (filteredNanoseconds - plainNanoseconds + 20)
                + sample * (filteredNanoseconds + plainNanoseconds) / 2
        },
        deepFactor: 2,
        efforts: Efforts(value: \.png, range: EncoderEfforts.pngRange),
        // High levels take longer for drawings only.
        relativeTime: { efforts, options in
            options.palette ? 1 : efforts.png > 6 ? 1.1 : efforts.png > 3 ? 1 : 0.7
        })

    private static let (plainNanoseconds, filteredNanoseconds) = (88.0, 175.0)
}
