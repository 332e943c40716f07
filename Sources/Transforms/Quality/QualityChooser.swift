import DarkroomVips

/// Chooses the quality of one image for a perceptual target: encodes it once, quickly, and judges what that did to it.
///
/// The trial is of a part of the image, and the judgment at a quarter of its size, so that all of it takes less time
/// than the encode that follows. See docs/quality.md.
struct QualityChooser {
    let encoder: Encoder
    let saver: VipsSaver
    /// All pixels in memory; the frames of an animation below each other.
    let pixels: VipsImage

    /// - Returns: nil if the image is too small to be judged, or the format has no model.
    func quality(for target: QualityTarget) throws(VipsError) -> Int? {
        guard let model = QualityModel(of: encoder.format), pixels.isByte, let sample = try sample() else { return nil }
        let trial = try saver.encode(sample, model.trialArguments, interrupt: encoder.interrupt)
        guard let loader = SourceFormat(sniffing: trial)?.loader else { return nil }
        let decoded = try loader.withImage(of: trial) { lazy throws(VipsError) in
            try lazy.rendered(interrupt: encoder.interrupt)
        }
        let similarity = StructuralSimilarity(of: try judged(decoded), to: try judged(sample))
        return model.quality(for: target, similarity)
    }

    /// The image at a quarter of its size.
    private func judged(_ image: VipsImage) throws(VipsError) -> LinearImage {
        let color = try image.convertedToSRGB()
        return try LinearImage(color.bands == 3 ? color : color.band(0, count: 3), reducedBy: Self.reduction)
    }

    /// The part of the image that is encoded on trial: the whole image or bands of it, of an animation its first and
    /// its middle frame. Transparent parts become white.
    private func sample() throws(VipsError) -> VipsImage? {
        let frameHeight = pixels.int("page-height") ?? pixels.height
        let frames = pixels.height / max(frameHeight, 1)
        let rows = Self.rows(width: pixels.width, height: frameHeight, coding: encoder.format)
        guard min(pixels.width, rows.reduce(0) { $0 + $1.count }) >= Self.minSide else { return nil }
        var bands: [VipsImage] = []
        for frame in Set([0, frames / 2]).sorted() {
            for range in rows {
                bands.append(
                    try pixels.applying(
                        "extract_area",
                        [
                            "left": 0, "top": .int(frame * frameHeight + range.lowerBound),
                            "width": .int(pixels.width), "height": .int(range.count),
                        ]))
            }
        }
        let stacked = bands.count == 1 ? pixels : try VipsImage.stacked(bands, interrupt: encoder.interrupt)
        let plain = try stacked.setting(removing: stacked.fields)
        guard plain.hasAlpha else { return plain }
        return try plain.applying("flatten", ["background": .doubles(Color.white.rgb)])
            .rendered(interrupt: encoder.interrupt)
    }

    /// The rows of each frame that are encoded: three bands from top to bottom. WebP and AVIF are judged by all rows of
    /// up to a megapixel. JPEG and JPEG XL, whose quick encodes are not much quicker, are judged by half of the rows,
    /// and JPEG by an eighth of a megapixel at most.
    static func rows(width: Int, height: Int, coding format: OutputFormat) -> [Range<Int>] {
        let most = format == .jpeg ? maxPixels / 8 : maxPixels
        let share = min(
            format == .jpeg || format == .jxl ? 0.5 : 1, Double(most) / Double(max(width * height, 1)))
        let band = max(Int(Double(height) * share / 3) / blockSide * blockSide, 2 * blockSide)
        guard share < 1, 3 * band < height else { return [0..<height] }
        return [0, (height - band) / 2, height - band].map { $0..<($0 + band) }
    }

    /// The factor by which images are shrunk before they are judged: the scores depend on coarse errors most.
    private static let reduction = 4
    /// The shortest side in pixels that is judged.
    private static let minSide = StructuralSimilarity.minSide * reduction
    /// The side of the largest blocks that all formats share, so that bands are coded like the rows of the image.
    private static let blockSide = 16
    private static let maxPixels = 1 << 20
}
