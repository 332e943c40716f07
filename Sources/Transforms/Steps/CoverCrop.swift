import DarkroomVips

/// Crops an image resized by `cover` to its box.
public struct CoverCrop: Transform, Hashable {
    /// The box to cover.
    public var box: PixelSize
    /// Whether the result has the box's size even if the source is smaller.
    public var enlarge: Bool
    /// Which part is kept; `entropy` and `attention` are libvips' `smartcrop`.
    public var position: Position

    /// Crops to a box, or without `enlarge` to its aspect ratio within a smaller source.
    public init(box: PixelSize, enlarge: Bool = false, position: Position = .center) {
        self.box = box
        self.enlarge = enlarge
        self.position = position
    }

    init?(_ recipe: Recipe) {
        guard recipe.fit == .cover, let box = recipe.box.size else { return nil }
        self.init(box: box, enlarge: recipe.enlarge, position: recipe.position)
    }

    public var key: String {
        "cover(\(box.width),\(box.height),\(enlarge ? "enlarge" : "shrink"),\(position.key))"
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.changingSize(to: canvas(for: plan.size, isVector: plan.isVector))
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let size = canvas(for: image.size, isVector: context.plan.isVector)
        guard size != image.size else { return image }
        let corner = try position.corner(of: size, in: image.size) ?? smartCorner(size, of: image.first)
        return try image.mapFrames { frame throws(VipsError) in
            try frame.extracting(x: corner.x, y: corner.y, size: size)
        }
    }

    private func canvas(for scaled: PixelSize, isVector: Bool) -> PixelSize {
        ResizeGeometry(
            source: scaled, box: Box(width: box.width, height: box.height), fit: .cover, enlarge: enlarge || isVector
        )
        .canvas
    }

    /// libvips decides by the first frame; all frames are cropped alike.
    private func smartCorner(_ size: PixelSize, of frame: VipsImage) throws(VipsError) -> (x: Int, y: Int) {
        let cut = try frame.applying(
            "smartcrop",
            [
                "width": .int(size.width), "height": .int(size.height),
                "interesting": position == .entropy ? "entropy" : "attention",
            ])
        let offset = cut.offset
        return (-offset.x, -offset.y)
    }
}
