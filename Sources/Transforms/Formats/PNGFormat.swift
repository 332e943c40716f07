import DarkroomVips

extension SourceFormat.Row {
    static let png = SourceFormat.Row(
        signatures: [[0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]], loader: .png, isEssential: true,
        statesDensity: true, output: .png,
        bytes: { $0.needsWholeSource ? Double($0.rasterBytes) : 0 },
        nanoseconds: { $0.storedPixels * 14 + $0.readBytes * 4.5 })
}

extension OutputFormat.Row {
    static let png = OutputFormat.Row(
        mediaType: "image/png", extensions: ["png"], saver: .png, isEssential: true, holdsGray: true,
        isInterlaceable: true,
        stripped: PNGContainer.stripped,
        arguments: { encoder, _, strip in
            [
                "compression": .int(encoder.efforts.png), "interlace": .bool(encoder.options.interlaced),
                "palette": .bool(encoder.options.palette),
                "filter": .int(encoder.options.filtersRows ? allFilters : noFilter), "strip": .bool(strip),
            ]
        },
        bytes: {
            $0.output.palette
                ? $0.resultPixels * 40 : $0.resultPixels * $0.resultBands * ($0.output.interlaced ? 2.5 : 1.5)
        },
        nanosecondsPerPixel: { options, area in
            if options.palette { return 20e6 / area + CostEstimate.falling(from: 2200, to: 900, area) }
            return options.filtersRows ? 200 : 88
        },
        efforts: Efforts(value: \.png, range: EncoderEfforts.pngRange),
        // High levels take longer for drawings only.
        relativeTime: { efforts, options in !options.palette && efforts.png > 6 ? 1.5 : 1 })

    /// `VIPS_FOREIGN_PNG_FILTER_NONE` and `VIPS_FOREIGN_PNG_FILTER_ALL`.
    private static let (noFilter, allFilters) = (0x08, 0xF8)
}
