import DarkroomVips

// AVIF, and HEIC, which is read only: the same container, another codec.

extension SourceFormat.Row {
    static let avif = SourceFormat.Row(
        loader: .heif, codec: .av1, debianPackage: "libheif-plugin-dav1d", hasPages: true, statesOrientation: false,
        output: .avif,
        bytes: { 5 * Double($0.sourceArea) },
        nanoseconds: { $0.storedPixels * 25 + $0.readBytes * 70 })

    static let heic = SourceFormat.Row(
        extensions: ["heic", "heif"], loader: .heif, codec: .hevc, debianPackage: "libheif-plugin-libde265",
        hasPages: true,
        statesOrientation: false,
        bytes: { 5 * Double($0.sourceArea) },
        nanoseconds: { $0.storedPixels * 41 + $0.readBytes * 100 })
}

extension OutputFormat.Row {
    static let avif = OutputFormat.Row(
        mediaType: "image/avif", extensions: ["avif"], saver: .heif, codec: .av1,
        debianPackage: "libheif-plugin-aomenc",
        isNegotiated: true, hasLosslessMode: true, defaultQuality: 68,
        // Each encode may take much longer than predicted, see below.
        searchEncodes: 5, expectedEncodes: 3, maxSide: 16_384,
        qualityModel: { AVIFQuality.isTuned ? .avifTunedForImages : .avif },
        arguments: { encoder, quality, strip in
            [
                "Q": .int(AVIFQuality.encoding(quality)), "lossless": .bool(encoder.options.lossless),
                "effort": .int(encoder.efforts.avif),
                "compression": "av1", "bitdepth": 8, "strip": .bool(strip),
            ]
        },
        // libaom sees a drawing where a twelfth of the blocks have few colors, as in photographs without noise. It then
        // keeps a table of all blocks, which takes about twice this time and 110 bytes for each pixel. That cannot be
        // known in advance. Predictions lie between photographs and drawings, nearer to drawings for large images.
        bytes: {
            $0.resultPixels * ($0.resultHasAlpha ? 85 : 45) + min($0.resultPixels * 40, 25e6)
                + max(0, $0.resultPixels - 2e6) * 20
        },
        nanosecondsPerPixel: { options, area in
            let further = max(0, area - 2_000_000) / area
            return (options.lossless ? 780 : options.isFine ? 1000 : 600) + 400 * further
        },
        // The table finds many similar blocks, which are all compared.
        saturatedNoiseFactor: 1.5,
        // Alpha is encoded as a second image.
        alphaFactor: 1.7,
        relativeTime: { efforts, options in
            options.lossless
                ? [0.4, 0.85, 1, 1.8, 4.2, 4.5, 5.2, 8.5, 9.5, 43][efforts.avif]
                : [0.25, 0.75, 1, 1.7, 8, 10, 20, 31, 42, 120][efforts.avif]
        })
}
