/// Cuts a rectangle out of the scaled image (libvips `extract_area`). Unlike a ``Crop``, it need not lie within the
/// image: the part outside the image is left out, and a corner outside the image means the image's upper left corner.
public struct Cut: Transform, Hashable, Codable {
    /// The distance from the left edge of the image, at least 0.
    public var x: Length
    /// The distance from the upper edge of the image, at least 0.
    public var y: Length
    /// At least 1 pixel.
    public var width: Length
    /// At least 1 pixel.
    public var height: Length

    /// A rectangle of an image whose width and height are 100 %.
    public init(x: Length, y: Length, width: Length, height: Length) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    public var key: String { "cut(\(x),\(y),\(width),\(height))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.requiringEveryPixel().changingSize(to: rectangle(in: plan.size).size)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.extracting(rectangle(in: image.size))
    }

    private func rectangle(in image: PixelSize) -> (x: Int, y: Int, size: PixelSize) {
        let (x, width) = Self.span(x, width, of: image.width)
        let (y, height) = Self.span(y, height, of: image.height)
        return (x, y, PixelSize(width: width, height: height))
    }

    private static func span(_ start: Length, _ length: Length, of whole: Int) -> (start: Int, length: Int) {
        let start = (0..<whole).contains(start.measured(in: whole)) ? start.measured(in: whole) : 0
        let rest = whole - start
        let length = length.measured(in: whole)
        return (start, (1...rest).contains(length) ? length : rest)
    }
}
