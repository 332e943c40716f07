import DarkroomRequests
import DarkroomVips
import Foundation

// AVIF, and HEIC, which is read only: the same container, another codec.

extension SourceFormat.Row {
    static let avif = SourceFormat.Row(
        loader: .heif, codec: .av1, debianPackage: "libheif-plugin-dav1d", hasPages: true, statesOrientation: false,
        output: .avif,
        detail: { bytes, _ in lossyDetail(12 * bytes) },
        bytes: { 5 * Double($0.sourceArea) },
        nanoseconds: { $0.storedPixels * 25 + $0.readBytes * 90 })

    static let heic = SourceFormat.Row(
        extensions: ["heic", "heif"], loader: .heif, codec: .hevc, debianPackage: "libheif-plugin-libde265",
        hasPages: true,
        statesOrientation: false,
        detail: { bytes, _ in lossyDetail(7 * bytes) },
        bytes: { 5 * Double($0.sourceArea) },
        nanoseconds: { $0.storedPixels * 41 + $0.readBytes * 110 })
}

extension OutputFormat.Row {
    static let avif = OutputFormat.Row(
        saver: .heif, codec: .av1, supportsLosslessMode: { AVIFEncoder.hasLosslessMode }, mixesColors: true,
        // Each encode may take much longer than predicted, see below.
        searchEncodes: 5, expectedEncodes: 3, holdsEXIF: true,
        qualityModel: { AVIFQuality.isTuned ? .avifTunedForImages : .avif },
        arguments: { encoder, quality, strip in
            [
                "Q": .int(AVIFQuality.encoding(quality, effort: encoder.efforts.avif)),
                "effort": .int(encoder.efforts.avif),
                "compression": "av1", "bitdepth": 8, "subsample_mode": encoder.subsampling, "strip": .bool(strip),
            ]
        },
        adaptedEfforts: { encoder, pixels throws(VipsError) in
            var efforts = encoder.efforts
            let pixels = pixels.isShort ? try pixels.roundedFromShorts().rendered() : pixels
            efforts.avif = try ScreenContent.effort(
                efforts.avif, for: pixels, isLossless: encoder.options.lossless)
            return try encoder.affordableEfforts(efforts, for: pixels)
        },
        // Great efforts keep the table of blocks that `ScreenContent` avoids, for images that cannot be known in
        // advance: the estimate lies between images with and without.
        bytes: {
            let table = $0.efforts.avif > 3 ? $0.resultPixels * 40 : 0
            let each = $0.output.lossless ? 40.0 : $0.depth > 8 ? 35 : $0.resultHasAlpha ? 28 : 25
            let start = min($0.resultPixels * 40, $0.resultHasAlpha ? 14e6 : 9e6) * ($0.resampledArea > 0 ? 1 : 0.6)
            return $0.resultPixels * each + start + table
        },
        // At effort 2.
        nanosecondsPerPixel: { options, _ in
            options.lossless ? 1050 : options.isFine ? 1000 : (options.quality ?? 100) < 45 ? 480 : 600
        },
        // Compared to a photograph of grass.
        saturatedNoiseFactor: 1.2,
        deepFactor: 1.5,
        // 38 encodes of photographs and 90 of drawings, at 400, 800 and 1600 pixels, took 0.15 to 1.4. Noise whose file
        // is small, since it repeats, is encoded with less effort (``PixelDetail``).
        detailFactor: { detail, facts in
            let reduction = facts.format.isVector ? 1 : facts.storedPixels / max(facts.resultPixels, 1)
            let scale = min(pow(max(reduction, 0.1), 0.12), 1.35)
            // Without loss, plain blocks are searched too: photographs of 0.03 to 2.5 megapixels took 0.5 to
            // 1.1, drawings 0.2 to 0.6.
            return (facts.output.lossless ? max(detail, 0.4) : detail) * scale
        },
        // Alpha is encoded as a second image, without loss.
        alphaNanosecondsPerPixel: { _ in 150 },
        efforts: Efforts(value: \.avif, range: EncoderEfforts.avifRange),
        relativeTime: { efforts, options in
            options.lossless
                ? [0.31, 0.69, 1, 1.4, 3.5, 3.6, 6.4, 7.4, 7.9, 35][efforts.avif]
                : [0.25, 0.75, 1, 1.85, 6, 7.7, 14.5, 21.5, 27, 90][efforts.avif]
        })
}

extension Encoder {
    /// The encoder of what libvips' saver cannot do: pixels, or only alpha, without loss, code points of Display P3, or
    /// 10 bits. Nil if the saver can.
    func avif(_ quality: Int, _ pixels: VipsImage, isSRGB: Bool) -> AVIFEncoder? {
        guard options.lossless || pixels.hasAlpha || pixels.isShort || !isSRGB, AVIFEncoder.isAvailable else {
            return nil
        }
        let quality = AVIFQuality.encoding(quality, effort: efforts.avif)
        return AVIFEncoder(
            quality: quality, effort: efforts.avif, keepsChroma: keepsChroma ?? (quality >= Self.leastFullQuality),
            isLossless: options.lossless, isP3: !isSRGB)
    }

    /// The least quality at which libvips does not halve chroma.
    private static let leastFullQuality = 90
}
