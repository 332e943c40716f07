import DarkroomVips

/// Cuts a border of one colour: that of the upper left pixel.
///
/// In an animation the same border is cut from every frame, so much as is free in all of them. A picture of nothing but
/// border stays as it is, and so does one of less than 3 pixels in width or height.
public struct Trim: Transform, Hashable, Codable {
    /// How far a sample may lie from the border's colour and still count as border.
    public static let thresholds = 1...254

    /// `find_trim` takes the median of so many pixels a side to overlook specks, and fails where there are fewer.
    private static let leastSide = 3

    /// One of `thresholds`.
    public var threshold: Int

    /// Cuts what is at most so far from the border's colour.
    public init(threshold: Int) {
        self.threshold = threshold
    }

    public var key: String { "trim(\(threshold))" }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        guard min(picture.size.width, picture.size.height) >= Self.leastSide else { return picture }
        var kept: Area?
        for frame in picture.frames {
            guard let area = try content(of: frame) else { continue }
            kept = kept?.union(area) ?? area
        }
        guard let kept, kept.size != picture.size else { return picture }
        return try picture.mapFrames { frame throws(VipsError) in
            try frame.extracting(x: kept.left, y: kept.top, size: kept.size)
        }
    }

    /// The rectangle that differs from the border, or nil where nothing does.
    private func content(of frame: VipsImage) throws(VipsError) -> Area? {
        let opaque = frame.hasAlpha ? try frame.applying("flatten", ["background": .doubles([0, 0, 0])]) : frame
        let byte = try opaque.applying("colourspace", ["space": "srgb"]).applying("cast", ["format": "uchar"])
        let found = try byte.measuring(
            "find_trim", ["threshold": .int(threshold), "background": .doubles(byte.pixel(x: 0, y: 0))],
            ints: ["left", "top", "width", "height"])
        guard found[2] > 0, found[3] > 0 else { return nil }
        return Area(left: found[0], top: found[1], right: found[0] + found[2], bottom: found[1] + found[3])
    }

    private struct Area {
        var left: Int
        var top: Int
        var right: Int
        var bottom: Int

        var size: PixelSize { PixelSize(width: right - left, height: bottom - top) }

        func union(_ other: Area) -> Area {
            Area(
                left: min(left, other.left), top: min(top, other.top), right: max(right, other.right),
                bottom: max(bottom, other.bottom))
        }
    }
}
