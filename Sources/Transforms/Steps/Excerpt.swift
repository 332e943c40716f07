import DarkroomVips

/// Cuts a rectangle out of the image at its place in a list of steps. The part outside the image is left out; a
/// rectangle that lies outside it altogether changes nothing.
public struct Excerpt: Transform, Hashable, Codable {
    /// The distance from the left edge of the image, at least 0.
    public var x: Length
    /// The distance from the upper edge of the image, at least 0.
    public var y: Length
    /// At least 0.
    public var width: Length
    /// At least 0.
    public var height: Length

    /// A rectangle of an image whose width and height are 100 %.
    public init(x: Length, y: Length, width: Length, height: Length) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    public var key: String { "excerpt(\(x),\(y),\(width),\(height))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let plan = plan.requiringEveryPixel()
        return rectangle(in: plan.size).map { plan.changingSize(to: $0.size) } ?? plan
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try rectangle(in: image.size).map { rectangle throws(VipsError) in try image.extracting(rectangle) } ?? image
    }

    /// Nil if nothing of the rectangle lies within the image.
    private func rectangle(in image: PixelSize) -> (x: Int, y: Int, size: PixelSize)? {
        let (left, top) = (x.floored(in: image.width), y.floored(in: image.height))
        let size = PixelSize(
            width: min(width.floored(in: image.width), image.width - left),
            height: min(height.floored(in: image.height), image.height - top))
        guard left >= 0, top >= 0, size.width > 0, size.height > 0 else { return nil }
        return (left, top, size)
    }
}

extension Length {
    /// In pixels, rounded down, where 100 % is `whole`.
    fileprivate func floored(in whole: Int) -> Int {
        switch self {
        case .pixels(let count): count
        case .percent(let part): whole * part.hundredths / 10_000
        }
    }
}
