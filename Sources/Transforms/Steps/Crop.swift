import DarkroomVips

/// Cuts a rectangle out of the upright source, before anything is scaled.
public struct Crop: Transform, Hashable, Codable {
    /// Left edge, in pixels of the upright source, from 0.
    public var x: Int
    /// Upper edge, in pixels of the upright source, from 0.
    public var y: Int
    /// At least one pixel.
    public var width: Int
    /// At least one pixel.
    public var height: Int

    /// A rectangle that has to lie within the upright source; where it does not, the request fails.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    public var key: String { "crop(\(x),\(y),\(width),\(height))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        try check(within: plan.size)
        return plan.needingEveryPixel().giving(PixelSize(width: width, height: height))
    }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try check(within: picture.size)
        return try picture.mapFrames { frame throws(VipsError) in
            try frame.extracting(x: x, y: y, size: PixelSize(width: width, height: height))
        }
    }

    private func check(within size: PixelSize) throws(TransformError) {
        guard x >= 0, y >= 0, width >= 1, height >= 1, x <= size.width - width, y <= size.height - height else {
            throw TransformError(
                parameter: "crop",
                reason: "\(x),\(y),\(width),\(height) does not lie within the upright source, which is \(size) pixels")
        }
    }
}

extension VipsImage {
    /// A rectangle of the image; it must lie within.
    func extracting(x: Int, y: Int, size: PixelSize) throws(VipsError) -> VipsImage {
        try applying(
            "extract_area",
            ["left": .int(x), "top": .int(y), "width": .int(size.width), "height": .int(size.height)])
    }
}
