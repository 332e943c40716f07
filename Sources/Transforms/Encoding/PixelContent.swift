import DarkroomVips

/// What the pixels of a result say about its encoding.
///
/// Lossy encoders take photographs for granted: they halve the resolution of chroma, and a block of an icon has more
/// colors than they can tell apart. Photographs are recognized after about a thousand pixels.
struct PixelContent: Hashable {
    /// Whether it has at most ``tinyArea`` pixels, such as an icon of 32 by 32: its header is longer than its pixels.
    private(set) var isTiny = false
    /// Whether it may be smaller without loss: it is tiny, or has few colors.
    private(set) var suitsLossless = false
    /// Whether it is a drawing, a chart, a text or a screenshot.
    private(set) var isDrawing = false

    static let tinyArea = 1024
    /// The greatest area that is encoded twice, to compare.
    static let maxLosslessArea = 1 << 18
    /// The greatest area that is examined. Chroma at full size takes 3.5 bytes more for each pixel in JPEG.
    private static let maxArea = 8_000_000
    private static let fewColors = 1024

    /// What is assumed of any image.
    init() {}

    /// - Parameter pixels: the image in memory; the frames of an animation below each other.
    init(of pixels: VipsImage) throws(VipsError) {
        let (width, bands, area) = (pixels.width, pixels.bands, pixels.width * pixels.height)
        isTiny = area <= Self.tinyArea
        (suitsLossless, isDrawing) = (isTiny, isTiny)
        guard !isTiny, area <= Self.maxArea, pixels.isByte, bands == 3 || bands == 4 else { return }
        let (colors, isScreen) = try pixels.withSamples { samples in
            (
                ColorCount(samples, bands: bands, atMost: Self.fewColors),
                ScreenContent.isFound(in: samples, width: width, bands: bands, .luminance)
            )
        }
        // Gray photographs have few colors too, but hardly two equal pixels side by side.
        let hasFewColors = colors.map { $0.equalNeighbors * 3 > area } ?? false
        isDrawing = isScreen || hasFewColors
        suitsLossless = hasFewColors && area <= Self.maxLosslessArea
    }
}

/// The colors of an image.
private struct ColorCount {
    /// The pixels that equal the pixel before them.
    let equalNeighbors: Int

    /// Nil for an image of more than `most` colors.
    init?(_ samples: UnsafeRawBufferPointer, bands: Int, atMost most: Int) {
        var colors: Set<UInt32> = []
        var equal = 0
        var before: UInt32?
        for pixel in stride(from: 0, through: samples.count - bands, by: bands) {
            var color: UInt32 = 0
            for band in 0..<bands { color = color << 8 | UInt32(samples[pixel + band]) }
            guard color != before else {
                equal += 1
                continue
            }
            before = color
            guard colors.insert(color).inserted, colors.count > most else { continue }
            return nil
        }
        equalNeighbors = equal
    }
}

/// The resolution of the color differences in a lossy image.
public enum ChromaSampling: String, Codable, Sendable, CaseIterable {
    /// Half of the resolution of luminance on each side.
    case half = "420"
    /// The resolution of luminance. WebP has no such mode: there, chroma is halved more carefully.
    case full = "444"
}
