import DarkroomVips

/// Cuts what hangs over the box after a `cover` resize.
public struct CoverCrop: Transform, Hashable {
    /// What is to be covered.
    public var box: PixelSize
    /// Whether the box keeps its size where the source is smaller.
    public var enlarge: Bool
    /// Which part is kept.
    public var position: Position

    /// Cuts to a box, or to its aspect ratio within the source.
    public init(box: PixelSize, enlarge: Bool = false, position: Position = .center) {
        self.box = box
        self.enlarge = enlarge
        self.position = position
    }

    init?(_ recipe: Recipe) {
        guard let box = recipe.box.size else { return nil }
        self.init(box: box, enlarge: recipe.enlarge, position: recipe.position)
    }

    public var key: String {
        "cover(\(box.width),\(box.height),\(enlarge ? "enlarge" : "shrink"),\(position.key))"
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.giving(canvas(for: plan.size, isVector: plan.isVector))
    }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let size = canvas(for: picture.size, isVector: context.plan.isVector)
        guard size != picture.size else { return picture }
        let corner = try position.corner(of: size, in: picture.size) ?? interesting(size, of: picture.first)
        return try picture.mapFrames { frame throws(VipsError) in
            try frame.extracting(x: corner.x, y: corner.y, size: size)
        }
    }

    private func canvas(for scaled: PixelSize, isVector: Bool) -> PixelSize {
        ResizeGeometry(
            source: scaled, box: Box(width: box.width, height: box.height), fit: .cover, enlarge: enlarge || isVector
        )
        .canvas
    }

    /// libvips decides on the first frame; all frames are then cut alike.
    private func interesting(_ size: PixelSize, of frame: VipsImage) throws(VipsError) -> (x: Int, y: Int) {
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
