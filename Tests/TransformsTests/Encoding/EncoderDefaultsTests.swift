import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

/// Keys leave out defaults, such as the quality of a format, and have the revision of all defaults instead.
struct EncoderDefaultsTests {
    @Test func `A default that keys leave out changes only together with the revision of defaults`() {
        #expect(
            Self.defaults == Self.defaultsByRevision[Encoder.defaultsRevision],
            """
            A default has changed. Increment Encoder.defaultsRevision, or caches will serve images that were encoded \
            with the old one. Then add a row for the new revision to this test; never edit the row of a revision that \
            has been in use.
            """)
    }

    private static let defaultsByRevision = [
        "20": [
            "jpg 80, 6 encodes: interlace bool(false), optimize_coding bool(true), strip bool(true), "
                + "subsample_mode string(\"auto\")",
            "png -, 6 encodes: compression int(6), filter int(8), interlace bool(false), palette bool(false), "
                + "strip bool(true)",
            "webp 82, 6 encodes: effort int(4), lossless bool(false), smart_subsample bool(false), strip bool(true)",
            "avif 67, 5 encodes: bitdepth int(8), compression string(\"av1\"), effort int(3), strip bool(true), "
                + "subsample_mode string(\"auto\")",
            "gif 80, 6 encodes: bitdepth int(8), effort int(4), interlace bool(false), strip bool(true)",
            "jxl 80, 6 encodes: effort int(4), lossless bool(false), strip bool(true)",
            "tiff -, 6 encodes: compression string(\"deflate\"), strip bool(true)",
            "near-lossless 60", "scores of targets [82.0, 75.0, 65.0]",
            "models [2104535, 1770722, 643938, -414825, 3063123]", "milliseconds 4000",
            "negotiated bytes 1073741824",
            "sharpening [0.0, 3.0]", "gain maps 85, 0.333",
        ]
    ]

    private static var defaults: [String] {
        let models = [
            QualityModel.jpeg, .webp, .avif, .avifTunedForImages, .jxl,
        ].map { model in
            let knots = model.knots.reduce(0.0) { $0 + Double($1.quality) + $1.intercept + $1.slope }
            return Int(((model.bias + model.weights.reduce(0, +) + knots) * 10_000).rounded())
        }
        return OutputFormat.images.map(description(of:)) + [
            "near-lossless \(OutputOptions.nearLosslessQuality)",
            "scores of targets \([QualityTarget.high, .medium, .low].map(\.score))", "models \(models)",
            "milliseconds \(PixelLimits().maxProcessingMilliseconds)",
            "negotiated bytes \(ImagePlan.maxNegotiatedBytes)",
            "sharpening \([Sharpen.defaultSlopes.flat, Sharpen.defaultSlopes.jagged])",
            "gain maps \(EncodedGainMap.quality), \((EncodedGainMap.mostShare * 1000).rounded(.down) / 1000)",
        ]
    }

    /// The options of the saver, except for the number of the quality, which depends on the encoder.
    private static func description(of format: OutputFormat) -> String {
        let encoder = Encoder(OutputOptions(format: format), format: format) { false }
        let options = format.row.arguments(encoder, format.defaultQuality ?? 0, true)
            .filter { $0.key != "Q" }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let quality = format.defaultQuality.map(String.init) ?? "-"
        return "\(format.rawValue) \(quality), \(format.row.searchEncodes) encodes: \(options.joined(separator: ", "))"
    }
}
