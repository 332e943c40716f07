public import DarkroomRequests
import DarkroomVips

/// Draws a border along the inside of the image's outline, as CSS does with `box-sizing: border-box`.
public struct Border: Transform, Hashable {
    public var style: BorderStyle
    /// The line whose inner side the border follows.
    public var outline: Outline

    /// A border along an outline, by default the edge of the image.
    public init(_ style: BorderStyle, outline: Outline = .edge) {
        self.style = style
        self.outline = outline
    }

    init?(_ recipe: Recipe) {
        guard let style = recipe.border else { return nil }
        self.init(style, outline: Outline(recipe))
    }

    public var key: String { "border(\(style.width),\(style.color.hex),\(outline.key))" }

    public var cost: TransformCost {
        TransformCost(
            nanosecondsPerPixel: 88, nanosecondsPerFrame: 1e6, bytesPerPixel: 9, bytesPerPixelWithAlpha: 10,
            bytesPerFrame: 200_000, fixedBytes: Outline.drawingBytes)
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan.requiringEveryPixel() }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let ink = try outline.coverage(of: image.size, strokeWidth: style.width).inked(style.color)
        return try image.mapFrames { frame throws(VipsError) in try frame.drawing(ink) }
    }
}
