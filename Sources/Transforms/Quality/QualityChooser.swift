import DarkroomRequests
import DarkroomVips

/// Chooses the quality of one image for a perceptual target, without encoding it: a part of its pixels is coded
/// approximately as by JPEG, and scored by a model of the format. See docs/quality.md.
struct QualityChooser {
    let format: OutputFormat
    /// All pixels in memory; the frames of an animation below each other.
    let pixels: VipsImage

    /// The lowest quality for the target; for drawings at least the format's default.
    ///
    /// - Returns: nil if the image is too small to be judged, or the format has no model.
    func quality(for target: QualityTarget) throws(VipsError) -> Int? {
        guard let model = format.row.qualityModel?(), let usual = format.defaultQuality, pixels.isByte || pixels.isShort
        else {
            return nil
        }
        let tops = Self.stripes(
            width: pixels.width, height: pixels.height, pageHeight: pixels.int("page-height"))
        guard !tops.isEmpty else { return nil }
        let color = try pixels.convertedToSRGB()
        guard color.isByte, color.bands == 3 || color.bands == 4 else { return nil }
        let (similarity, plainShare) = try color.withSamples { samples in
            let comparison = StripeComparison(samples: samples, width: color.width, bands: color.bands)
            return (comparison.similarity(inStripesAt: tops), comparison.plainShare(inStripesAt: tops))
        }
        let quality = model.quality(for: target, similarity.features)
        // Models are fitted to photographs only, and underestimate the losses at sharp edges.
        return plainShare > Self.drawingShare ? max(quality, usual) : quality
    }

    /// Images with a larger share of plain squares are drawings. Photographs of 200 to 800 pixels had at most 0.24, and
    /// drawings of 400 and 800 pixels at least 0.39.
    private static let drawingShare = 0.3

    /// The first rows of the stripes that are judged, evenly spread: half of all, but about an eighth of a megapixel at
    /// most; of an animation the stripes of its first and its middle frame.
    ///
    /// - Returns: none if the image is smaller than a stripe.
    static func stripes(width: Int, height: Int, pageHeight: Int?) -> [Int] {
        let side = StripeComparison.side
        let frameHeight = min(max(pageHeight ?? height, 1), height)
        let frames = max(height / frameHeight, 1)
        let all = frameHeight / side
        guard width >= side, all > 0 else { return [] }
        let share = min(0.5, Double(maxPixels) / Double(width * frameHeight))
        let count = min(max(Int((Double(all) * share).rounded(.up)), 2), all)
        return Set([0, frames / 2]).sorted().flatMap { frame in
            (0..<count).map { frame * frameHeight + (2 * $0 + 1) * all / (2 * count) * side }
        }
    }

    private static let maxPixels = 1 << 17
}
