public import DarkroomRequests
import DarkroomVips

/// Hides the faces of the first frame in every frame. It runs before every step that shows pixels, and the image that
/// it gets is in 8-bit sRGB.
///
/// The pixels of a head are replaced by values of which there are few, so that they cannot be computed from the result.
extension Redaction: Transform {
    /// The blocks along each side of a head that keep their mean color.
    private static let blocks = 6

    public var key: String {
        switch style {
        case .blur: "redact(blur)"
        case .pixelate: "redact(pixelate)"
        case .cover(let color): "redact(\(color.opaque.hex))"
        }
    }

    public var cost: TransformCost {
        TransformCost(nanosecondsPerDecodedPixel: 12, nanosecondsPerFrame: 1e6, decodedCopies: 3)
    }

    public var reading: InputReading { .repeatedly }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        guard FaceDetector.isBuiltIn else {
            throw TransformError(parameter: "redact", reason: "this build of Darkroom has no detector of faces")
        }
        return plan.withoutPlainArea()
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        guard let finder = context.faces.hidden else {
            throw ImageProcessingError.transformFailed("there is no copy in which to look for faces")
        }
        let heads = try finder.faces(of: image, interrupt: context.interrupt).map(\.head)
        guard !heads.isEmpty else { return image }
        return try image.mapFrames { frame throws(VipsError) in try hiding(heads, in: frame) }
    }

    /// The frame with other pixels, and its own fields.
    private func hiding(_ heads: [Face], in frame: VipsImage) throws(VipsError) -> VipsImage {
        let places = heads.map { head in
            (Self.range(head.left, head.right, of: frame.width), Self.range(head.top, head.bottom, of: frame.height))
        }
        let (left, top) = (places.map(\.0.lowerBound).min() ?? 0, places.map(\.1.lowerBound).min() ?? 0)
        let part = try frame.extracting(
            x: left, y: top,
            size: PixelSize(
                width: (places.map(\.0.upperBound).max() ?? 1) - left,
                height: (places.map(\.1.upperBound).max() ?? 1) - top))
        var pixels = PixelBlock(
            samples: try part.withSamples { samples throws(VipsError) in Array(samples) }, width: part.width,
            bands: part.bands)
        // Of all heads before one is hidden, because they may overlap.
        let fills = places.map { columns, rows in
            let place = (columns.shifted(by: -left), rows.shifted(by: -top))
            return (place, colors(of: place, in: pixels))
        }
        for ((columns, rows), colors) in fills { pixels.fill(columns, rows, colors, isSmooth: style == .blur) }
        let hidden = try VipsImage.fromBytes(pixels.samples, width: part.width, height: part.height, bands: part.bands)
            .applying("copy", ["interpretation": "srgb"])
        return try VipsImage.build(
            "insert", ["main": .image(frame), "sub": .image(hidden), "x": .int(left), "y": .int(top)])
    }

    private func colors(of place: (Range<Int>, Range<Int>), in pixels: PixelBlock) -> MeanColors {
        guard case .cover(let color) = style else {
            return pixels.means(place.0, place.1, blocks: Self.blocks)
        }
        let samples = [color.red, color.green, color.blue, 255].prefix(pixels.bands).map(Double.init)
        return MeanColors(means: samples, across: 1, down: 1, bands: pixels.bands)
    }

    private static func range(_ start: Double, _ end: Double, of side: Int) -> Range<Int> {
        let first = min(max(Int((start * Double(side)).rounded(.down)), 0), side - 1)
        return first..<min(max(Int((end * Double(side)).rounded(.up)), first + 1), side)
    }
}

/// The samples of a part of a frame.
private struct PixelBlock {
    var samples: [UInt8]
    let width, bands: Int

    /// Replaces a rectangle.
    mutating func fill(_ columns: Range<Int>, _ rows: Range<Int>, _ colors: MeanColors, isSmooth: Bool) {
        for row in rows {
            let down = (Double(row - rows.lowerBound) + 0.5) / Double(rows.count)
            for column in columns {
                let across = (Double(column - columns.lowerBound) + 0.5) / Double(columns.count)
                let start = (row * width + column) * bands
                for band in 0..<bands {
                    samples[start + band] =
                        isSmooth ? colors.smooth(across, down, band) : colors.plain(across, down, band)
                }
            }
        }
    }

    /// The mean colors of equal parts of a rectangle.
    func means(_ columns: Range<Int>, _ rows: Range<Int>, blocks: Int) -> MeanColors {
        let (across, down) = (min(blocks, columns.count), min(blocks, rows.count))
        var sums = [Double](repeating: 0, count: across * down * bands)
        var counts = [Double](repeating: 0, count: across * down)
        for row in rows {
            let line = (row - rows.lowerBound) * down / rows.count * across
            for column in columns {
                let block = line + (column - columns.lowerBound) * across / columns.count
                counts[block] += 1
                for band in 0..<bands {
                    sums[block * bands + band] += Double(samples[(row * width + column) * bands + band])
                }
            }
        }
        for index in sums.indices { sums[index] /= max(counts[index / bands], 1) }
        return MeanColors(means: sums, across: across, down: down, bands: bands)
    }
}

/// Mean colors of the parts of a rectangle, by places 0…1 on it.
private struct MeanColors {
    let means: [Double]
    let across, down, bands: Int

    /// The color of the part that a place is in.
    func plain(_ x: Double, _ y: Double, _ band: Int) -> UInt8 {
        UInt8(mean(Int(x * Double(across)), Int(y * Double(down)), band).rounded())
    }

    /// A color between the centers of the parts around a place.
    func smooth(_ x: Double, _ y: Double, _ band: Int) -> UInt8 {
        let (x, y) = (x * Double(across) - 0.5, y * Double(down) - 0.5)
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let mixed = { (row: Int) in
            mean(Int(left), row, band) * (1 - x + left) + mean(Int(left) + 1, row, band) * (x - left)
        }
        return UInt8((mixed(Int(top)) * (1 - y + top) + mixed(Int(top) + 1) * (y - top)).rounded())
    }

    private func mean(_ column: Int, _ row: Int, _ band: Int) -> Double {
        means[(min(max(row, 0), down - 1) * across + min(max(column, 0), across - 1)) * bands + band]
    }
}

extension Range<Int> {
    fileprivate func shifted(by distance: Int) -> Range { lowerBound + distance..<upperBound + distance }
}

extension [any Transform] {
    /// The steps with one that hides faces, right after the image is upright.
    func hidingFaces(_ redaction: Redaction?) -> Self {
        guard let redaction else { return self }
        let start = (firstIndex { $0 is Orient } ?? -1) + 1
        return Array(self[..<start]) + [ColorConversion(), redaction] + self[start...]
    }
}
