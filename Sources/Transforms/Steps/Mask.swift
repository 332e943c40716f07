public import DarkroomRequests
import DarkroomVips

/// Cuts the image along an outline: round corners, or a shape. The area outside becomes transparent or gets a color;
/// transparency inside stays.
public struct Mask: Transform, Hashable {
    /// The line to cut along.
    public var outline: Outline
    /// The color outside; nil = transparent, which becomes white in a format without alpha.
    public var background: Color?
    /// Whether the result is as large as the shape instead of the image.
    public var trims: Bool

    /// Cuts along this outline, by default with transparency around it.
    public init(outline: Outline, background: Color? = nil, trims: Bool = false) {
        self.outline = outline
        self.background = background
        self.trims = trims
    }

    init?(_ recipe: Recipe) {
        let outline = Outline(recipe)
        guard outline != .edge else { return nil }
        let hasShape = recipe.mask != nil
        self.init(
            outline: outline, background: hasShape ? recipe.maskBackground : nil, trims: hasShape && recipe.trimsMask)
    }

    public var key: String {
        "mask(\(outline.key),\(background?.hex ?? "-"),\(trims ? "trim" : "-"))"
    }

    public var cost: TransformCost {
        TransformCost(
            nanosecondsPerPixel: 20, nanosecondsPerPixelWithAlpha: 65, nanosecondsPerFrame: 1e6, bytesPerPixel: 4,
            bytesPerPixelWithAlpha: 6, bytesPerFrame: 200_000, fixedBytes: Outline.drawingBytes)
    }

    public var reading: InputReading { .colorApart }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.requiringEveryPixel()
            .changingSize(to: trims ? outline.bounds(in: plan.size).size : plan.size)
            .withAlpha(plan.hasAlpha || (background?.alpha ?? 0) < 255)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let inside = try outline.coverage(of: image.size)
        let bounds = outline.bounds(in: image.size)
        return try image.mapFrames { frame throws(VipsError) in
            let cut = try filled(try frame.masked(by: inside), outside: inside, keepingAlpha: frame.hasAlpha)
            guard trims, bounds.size != image.size else { return cut }
            return try cut.extracting(x: bounds.x, y: bounds.y, size: bounds.size)
        }
    }

    private func filled(
        _ cut: VipsImage, outside inside: VipsImage, keepingAlpha hasAlpha: Bool
    ) throws(VipsError) -> VipsImage {
        guard let background else { return cut }
        if !hasAlpha, background.alpha == 255 { return try cut.flattened(on: background) }
        // Both parts of a pixel on the line add up to a whole pixel.
        return try cut.composited(with: inside.applying("invert").inked(background), mode: "add")
    }
}
