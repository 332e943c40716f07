/// Crops a rectangle of the upright source, before anything is scaled (libvips `extract_area`).
public struct Crop: Transform, Hashable, Codable {
    /// The distance from the left edge of the upright source, at least 0.
    public var x: Length
    /// The distance from the upper edge of the upright source, at least 0.
    public var y: Length
    /// At least 1 pixel.
    public var width: Length
    /// At least 1 pixel.
    public var height: Length

    /// A rectangle in pixels that must lie within the upright source, or the request is refused.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.init(x: .pixels(x), y: .pixels(y), width: .pixels(width), height: .pixels(height))
    }

    /// A rectangle that must lie within the upright source, whose width and height are 100 %.
    public init(x: Length, y: Length, width: Length, height: Length) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    public var key: String { "crop(\(text))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.requiringEveryPixel().changingSize(to: try rectangle(in: plan.size).size)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.extracting(rectangle(in: image.size))
    }

    private var text: String { "\(x),\(y),\(width),\(height)" }

    private func rectangle(in image: PixelSize) throws(TransformError) -> (x: Int, y: Int, size: PixelSize) {
        let (x, width) = Self.span(x, width, of: image.width)
        let (y, height) = Self.span(y, height, of: image.height)
        guard x >= 0, y >= 0, width >= 1, height >= 1, x <= image.width - width, y <= image.height - height else {
            throw TransformError(
                parameter: "crop",
                reason: "\(text) does not lie within the upright source, which is \(image) pixels")
        }
        return (x, y, PixelSize(width: width, height: height))
    }

    /// Two percentages round their two edges, so that they stay within the image if their sum is at most 100 %.
    private static func span(_ start: Length, _ length: Length, of whole: Int) -> (start: Int, length: Int) {
        guard case .percent(let part) = length else { return (start.measured(in: whole), length.measured(in: whole)) }
        guard case .percent(let skipped) = start else {
            return (start.measured(in: whole), max(1, part.of(whole)))
        }
        let sum = Percentage(hundredths: skipped.hundredths + part.hundredths)
        guard sum.hundredths <= 10_000 else { return (whole, 1) }
        let first = min(skipped.of(whole), whole - 1)
        return (first, max(1, sum.of(whole) - first))
    }
}
