import DarkroomRequests
import DarkroomVips

/// A search, row by row, for the pixels of an image that are not border.
///
/// A pixel differs from the border by its greatest difference in a sample, of colors as far as alpha shows them, and of
/// alpha. On transparent ground, every pixel that is not wholly transparent differs: transparency is not a color.
struct TrimScan {
    /// The color samples of the border.
    private let color: [Int]
    /// The alpha of the border; nil = alpha only weakens the difference of colors.
    private let alpha: Int?
    private let hasAlpha: Bool
    private let bands: Int
    private let threshold: Int
    /// The areas of the pixels that differ at all, that differ by more than the threshold, and by more than noise.
    private var areas: [PixelArea?] = [nil, nil, nil]

    /// The greatest difference that JPEG and its like leave next to an edge at usual qualities.
    private static let noise = 30
    /// The rows that are held at once of an image that is not in memory.
    private static let stripRows = 256

    /// Scans an image of 8-bit sRGB samples, with or without alpha.
    ///
    /// - Parameters:
    ///   - background: the color of the border; nil = the pixel at `corner`.
    init(
        _ image: VipsImage, threshold: Int, background: Color?, corner: Trim.Corner, interrupt: @escaping Interrupt
    ) throws(VipsError) {
        self.threshold = threshold
        (hasAlpha, bands) = (image.hasAlpha, image.bands)
        if let background {
            (color, alpha) = (background.rgb.map { Int($0) }, nil)
        } else {
            let samples = try corner.pixel(of: image).map { Int($0) }
            color = Array(samples.prefix(3))
            alpha = hasAlpha ? samples.last : nil
        }
        try scan(image, interrupt: interrupt)
    }

    /// Whether there are differences below the threshold outside of the area: traces of a lossy encoding.
    var isNoisy: Bool { areas[0] != areas[1] }
    /// The pixels that differ by more than the threshold; nil = none does.
    var area: PixelArea? { areas[1] }
    /// The pixels that differ by more than the threshold and more than noise.
    var clearArea: PixelArea? { areas[2] }

    private mutating func scan(_ image: VipsImage, interrupt: @escaping Interrupt) throws(VipsError) {
        let width = image.width
        let rows = image.isRendered ? image.height : Self.stripRows
        for top in stride(from: 0, to: image.height, by: rows) {
            let height = min(rows, image.height - top)
            let strip =
                height == image.height
                ? image : try image.extracting(x: 0, y: top, size: PixelSize(width: width, height: height))
            try strip.rendered(interrupt: interrupt).withSamples { samples in
                for row in 0..<height {
                    add(samples, start: row * width * bands, width: width, y: top + row)
                }
            }
        }
    }

    /// Adds a row: from each end up to the first pixel that differs clearly. Pixels between these two change nothing.
    private mutating func add(_ samples: UnsafeRawBufferPointer, start: Int, width: Int, y: Int) {
        var first = 0
        while first < width, !add(difference(samples, start + first * bands), first, y) { first += 1 }
        let known = areas[2]?.right ?? 0
        var last = width - 1
        while last > first, last >= known, !add(difference(samples, start + last * bands), last, y) { last -= 1 }
    }

    /// Returns whether the pixel differs clearly.
    private mutating func add(_ difference: Int, _ x: Int, _ y: Int) -> Bool {
        guard difference > 0 else { return false }
        areas[0].extend(x, y)
        guard difference > threshold else { return false }
        areas[1].extend(x, y)
        guard difference > max(threshold, Self.noise) else { return false }
        areas[2].extend(x, y)
        return true
    }

    private func difference(_ samples: UnsafeRawBufferPointer, _ pixel: Int) -> Int {
        var most = 0
        guard hasAlpha else {
            for band in 0..<color.count { most = max(most, abs(Int(samples[pixel + band]) - color[band])) }
            return most
        }
        let shown = Int(samples[pixel + bands - 1])
        guard alpha != 0 else { return shown == 0 ? 0 : 255 }
        for band in 0..<color.count {
            let (sample, border) = (Int(samples[pixel + band]), color[band])
            most = max(most, abs(alpha.map { sample * shown - border * $0 } ?? (sample - border) * shown))
        }
        return max((most + 254) / 255, alpha.map { abs(shown - $0) } ?? 0)
    }
}

struct PixelArea: Hashable {
    var left: Int
    var top: Int
    var right: Int
    var bottom: Int

    var size: PixelSize { PixelSize(width: right - left, height: bottom - top) }

    var isEmpty: Bool { left >= right || top >= bottom }

    func intersection(_ other: PixelArea) -> PixelArea {
        PixelArea(
            left: max(left, other.left), top: max(top, other.top), right: min(right, other.right),
            bottom: min(bottom, other.bottom))
    }

    func union(_ other: PixelArea) -> PixelArea {
        PixelArea(
            left: min(left, other.left), top: min(top, other.top), right: max(right, other.right),
            bottom: max(bottom, other.bottom))
    }

    mutating func keepRows(of size: PixelSize) { (top, bottom) = (0, size.height) }

    mutating func evenOutColumns(of size: PixelSize) {
        let free = min(left, size.width - right)
        (left, right) = (free, size.width - free)
    }

    mutating func evenOutRows(of size: PixelSize) {
        let free = min(top, size.height - bottom)
        (top, bottom) = (free, size.height - free)
    }
}

extension PixelArea? {
    /// Includes a pixel.
    fileprivate mutating func extend(_ x: Int, _ y: Int) {
        let pixel = PixelArea(left: x, top: y, right: x + 1, bottom: y + 1)
        self = self?.union(pixel) ?? pixel
    }
}
