import DarkroomVips

/// Crops a rectangle of the upright source, before anything is scaled (libvips `extract_area`).
public struct Crop: Transform, Hashable, Codable {
    /// The left edge in pixels of the upright source, from 0.
    public var x: Int
    /// The upper edge in pixels of the upright source, from 0.
    public var y: Int
    /// In pixels, at least 1.
    public var width: Int
    /// In pixels, at least 1.
    public var height: Int

    /// A rectangle that must lie within the upright source, or the request is refused.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    public var key: String { "crop(\(x),\(y),\(width),\(height))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        try check(within: plan.size)
        return plan.requiringEveryPixel().changingSize(to: PixelSize(width: width, height: height))
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try check(within: image.size)
        return try image.mapFrames { frame throws(VipsError) in
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
    /// A rectangle of the image, which must lie within it.
    func extracting(x: Int, y: Int, size: PixelSize) throws(VipsError) -> VipsImage {
        try applying(
            "extract_area",
            ["left": .int(x), "top": .int(y), "width": .int(size.width), "height": .int(size.height)])
    }
}
