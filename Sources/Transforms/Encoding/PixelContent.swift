import DarkroomVips

/// What the pixels of a result say about its encoding.
///
/// Lossy encoders take photographs for granted: they halve the resolution of chroma, and a block of an icon has more
/// colors than they can tell apart. Photographs are recognized after about a thousand pixels.
struct PixelContent: Hashable {
    /// Whether it has at most ``tinyArea`` pixels, such as an icon of 32 by 32: its header is longer than its pixels.
    private(set) var isTiny = false
    /// The colors of an image that has few of them, most next to their equals; nil = another image.
    private(set) var flatColors: FlatColors?
    /// Whether it is a drawing, a chart, a text or a screenshot.
    private(set) var isDrawing = false

    static let tinyArea = 1024
    /// The greatest area that is examined unless more is asked for. Chroma at full size takes 3.5 bytes more for each
    /// pixel in JPEG.
    static let maxArea = 8_000_000
    private static let fewColors = 1024

    /// What is assumed of any image.
    init() {}

    /// - Parameters:
    ///   - pixels: the image in memory; the frames of an animation below each other.
    ///   - maxArea: the greatest area that is examined.
    init(of pixels: VipsImage, maxArea: Int = PixelContent.maxArea) throws(VipsError) {
        let (width, bands, area) = (pixels.width, pixels.bands, pixels.width * pixels.height)
        isTiny = area <= Self.tinyArea
        isDrawing = isTiny
        guard area <= maxArea, pixels.isByte, bands == 3 || bands == 4 else { return }
        let frameArea = width * min(max(pixels.int("page-height") ?? pixels.height, 1), pixels.height)
        let (colors, isScreen) = try pixels.withSamples { samples in
            (
                ColorCount(samples, bands: bands, frameArea: frameArea, atMost: Self.fewColors),
                ScreenContent.isFound(in: samples, width: width, bands: bands, .luminance)
            )
        }
        // Gray photographs have few colors too, but hardly two equal pixels side by side.
        let hasFewColors = colors.map { $0.equalNeighbors * 3 > area } ?? false
        isDrawing = isTiny || isScreen || hasFewColors
        flatColors = colors.flatMap { count in
            count.equalNeighbors * 2 > area
                ? FlatColors(count: count.colors, changes: count.changes, area: area, frameArea: frameArea) : nil
        }
    }
}

/// The few colors of a drawing. They bound the time of encoding it without loss, which depends little on anything else.
struct FlatColors: Hashable {
    let count: Int
    /// The pixels that equal neither the pixel before them nor the same pixel of the frame before.
    let changes: Int
    /// Pixels of all frames.
    let area: Int
    let frameArea: Int
}

/// The colors of an image.
struct ColorCount {
    let colors: Int
    /// The pixels that equal the pixel before them.
    let equalNeighbors: Int
    /// See ``FlatColors/changes``.
    let changes: Int

    /// Nil for an image of more than `most` colors.
    init?(_ samples: UnsafeRawBufferPointer, bands: Int, frameArea: Int, atMost most: Int) {
        var found: Set<UInt32> = []
        var (equal, changed) = (0, 0)
        var before: UInt32?
        let frameBytes = frameArea * bands
        for pixel in stride(from: 0, through: samples.count - bands, by: bands) {
            let color = Self.color(samples, pixel, bands)
            guard color != before else {
                equal += 1
                continue
            }
            before = color
            if pixel < frameBytes || Self.color(samples, pixel - frameBytes, bands) != color { changed += 1 }
            guard found.insert(color).inserted, found.count > most else { continue }
            return nil
        }
        (colors, equalNeighbors, changes) = (found.count, equal, changed)
    }

    /// The samples of a pixel of at most four bands, the first one in the highest bits.
    @inline(__always)
    static func color(_ samples: UnsafeRawBufferPointer, _ pixel: Int, _ bands: Int) -> UInt32 {
        var color: UInt32 = 0
        for band in 0..<bands { color = color << 8 | UInt32(samples[pixel + band]) }
        return color
    }
}
