public import DarkroomRequests
import DarkroomVips

extension Trim: Transform {
    /// Above this threshold, most of a photograph is border.
    private static let greatThreshold = 50
    /// No image that is smaller has a border.
    private static let leastSide = 3

    public var key: String {
        let background = background.map { ",\($0.opaque.hex)" } ?? ""
        let corner = corner == .topLeft ? "" : ",\(corner.rawValue)"
        let columns = keepsHeightOfAnimations ? ",columns" : ""
        let backdrop = backdrop.map { ",on \($0.hex)" } ?? ""
        let even = (isEvenAcross ? ",even x" : "") + (isEvenDown ? ",even y" : "")
        let within = within.map { ",\($0.key)" } ?? ""
        return "trim(\(threshold)\(background)\(corner)\(columns)\(backdrop)\(even)\(within))"
    }

    public var cost: TransformCost {
        // A scan ends at the first content: a photograph takes hardly any time below a great threshold, a plain image
        // takes this time, and one with traces below the threshold is read twice, in four times this time.
        let isGreat = threshold > Self.greatThreshold
        return TransformCost(
            nanosecondsPerPixel: isGreat ? 11 : 6, nanosecondsPerPixelWithAlpha: isGreat ? 18 : 14,
            nanosecondsPerFrame: 0.5e6)
    }

    /// It looks for the border in all pixels, so that a list of trims would compute all earlier steps for each of them.
    public var reading: InputReading { .repeatedly }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        guard min(image.size.width, image.size.height) >= Self.leastSide else { return image }
        let areas = try image.frames.compactMap { frame throws(VipsError) in
            try content(of: frame, interrupt: context.interrupt)
        }
        var kept = areas.dropFirst().reduce(areas.first) { $0?.union($1) }
        if keepsHeightOfAnimations, image.isAnimated { kept?.keepRows(of: image.size) }
        if isEvenAcross { kept?.evenOutColumns(of: image.size) }
        if isEvenDown { kept?.evenOutRows(of: image.size) }
        if let rectangle = try within?.rectangle(in: image.size) {
            let crop = PixelArea(
                left: rectangle.x, top: rectangle.y, right: rectangle.x + rectangle.size.width,
                bottom: rectangle.y + rectangle.size.height)
            kept = kept?.intersection(crop) ?? crop
        }
        guard let kept, !kept.isEmpty else { return image }
        return try image.extracting((kept.left, kept.top, kept.size))
    }

    /// The rectangle within the border; nil if the frame is all border.
    ///
    /// In a lossy file, traces of edges reach into the border. There, a difference counts that either is no speck or is
    /// greater than such traces.
    private func content(of frame: VipsImage, interrupt: @escaping Interrupt) throws(VipsError) -> PixelArea? {
        if let backdrop { return try contentWithoutSpecks(of: frame, on: backdrop, interrupt: interrupt) }
        let scan = try TrimScan(
            frame.withByteSamples(), threshold: threshold, background: background, corner: corner, interrupt: interrupt)
        guard scan.isNoisy else { return scan.area }
        let withoutSpecks = try contentWithoutSpecks(of: frame, on: background ?? .black, interrupt: interrupt)
        guard let clear = scan.clearArea else { return withoutSpecks }
        return withoutSpecks?.union(clear) ?? clear
    }

    private func contentWithoutSpecks(
        of frame: VipsImage, on backdrop: Color, interrupt: @escaping Interrupt
    ) throws(VipsError) -> PixelArea? {
        let byte = try frame.flattened(on: backdrop).applying("colourspace", ["space": "srgb"]).applying(
            "cast", ["format": "uchar"])
        let border = if let background { background.rgb } else { try corner.pixel(of: byte) }
        return try SpeckScan(byte, border: border, threshold: threshold, interrupt: interrupt).area
    }
}

extension Trim.Corner {
    /// The samples of the pixel in the corner.
    func pixel(of image: VipsImage) throws(VipsError) -> [Double] {
        let (x, y) = self == .topLeft ? (0, 0) : (image.width - 1, image.height - 1)
        return try image.pixel(x: x, y: y)
    }
}

extension VipsImage {
    /// The image in 8-bit sRGB samples, with the alpha that it has.
    fileprivate func withByteSamples() throws(VipsError) -> VipsImage {
        if isByte, interpretation == "srgb", bands == (hasAlpha ? 4 : 3) { return self }
        return try splittingAlpha(
            color: { color throws(VipsError) in
                try color.applying("colourspace", ["space": "srgb"]).applying("cast", ["format": "uchar"])
            },
            alpha: { alpha throws(VipsError) in try isShort ? alpha.bytes(times: 1 / 257) : alpha })
    }
}

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

/// A search for the pixels that differ from the border together with most of their neighbors: a speck does not count.
///
/// A pixel counts if the median of its 3×3 pixels differs by more than the threshold in a sample, as in `find_trim` of
/// libvips, which takes ten times as long. That is so if five of the nine pixels lie on the same side beyond it.
struct SpeckScan {
    private(set) var area: PixelArea?
    /// For each band and sample, a 1 in the byte of the side of the border on which the sample lies; two bytes a band.
    private let sides: [[UInt64]]
    /// The sides of the pixels of three rows, with the outermost pixels repeated beyond both ends.
    private var rows: [[UInt64]] = []

    /// The rows that are held at once.
    private static let stripRows = 256

    /// Scans an image of 8-bit samples.
    ///
    /// - Parameter border: a sample for each band, of which there are at most 4.
    init(
        _ image: VipsImage, border: [Double], threshold: Int, interrupt: @escaping Interrupt
    ) throws(VipsError) {
        sides = border.prefix(image.bands).enumerated().map { band, border in
            (0...255).map { sample in
                let difference = sample - Int(border)
                guard abs(difference) > threshold else { return 0 }
                return 1 << (16 * UInt64(band) + (difference > 0 ? 8 : 0))
            }
        }
        for top in stride(from: 0, to: image.height, by: Self.stripRows) {
            let size = PixelSize(width: image.width, height: min(Self.stripRows, image.height - top))
            let strip = try image.extracting(x: 0, y: top, size: size).rendered(interrupt: interrupt)
            try strip.withSamples { samples in
                for row in 0..<size.height {
                    let start = row * size.width * image.bands
                    append(sides(of: samples, start: start, width: size.width, bands: image.bands), y: top + row)
                }
            }
        }
        if let last = rows.last { append(last, y: image.height) }
    }

    private func sides(of samples: UnsafeRawBufferPointer, start: Int, width: Int, bands: Int) -> [UInt64] {
        [UInt64](unsafeUninitializedCapacity: width + 2) { sides, count in
            for x in 0..<width {
                var pixel: UInt64 = 0
                for band in self.sides.indices { pixel |= self.sides[band][Int(samples[start + x * bands + band])] }
                sides[x + 1] = pixel
            }
            (sides[0], sides[width + 1]) = (sides[1], sides[width])
            count = width + 2
        }
    }

    /// Appends a row, which completes the neighbors of the row before it.
    private mutating func append(_ row: [UInt64], y: Int) {
        rows = rows.isEmpty ? [row, row] : rows.suffix(2) + [row]
        guard rows.count == 3 else { return }
        let width = row.count - 2
        guard let first = (0..<width).first(where: counts) else { return }
        let last = (max(first, area?.right ?? 0)..<width).last(where: counts) ?? first
        let found = PixelArea(left: first, top: y - 1, right: last + 1, bottom: y)
        area = area?.union(found) ?? found
    }

    /// Whether five of the nine pixels around column `x` lie on the same side.
    private func counts(_ x: Int) -> Bool {
        var sum: UInt64 = 0
        for row in rows { sum += row[x] + row[x + 1] + row[x + 2] }
        return (sum + 0x7B7B_7B7B_7B7B_7B7B) & 0x8080_8080_8080_8080 != 0
    }
}
