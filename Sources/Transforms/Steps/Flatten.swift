public import DarkroomRequests
import DarkroomVips

/// Puts the image on a background color (libvips `flatten`). A translucent background leaves a translucent image.
public struct Flatten: Transform, Hashable {
    /// The color behind transparent pixels.
    public var background: Color

    /// Puts the image on this color.
    public init(_ background: Color) {
        self.background = background
    }

    /// Nil if the recipe has no background, or a transparent background.
    init?(_ recipe: Recipe) {
        guard let background = recipe.background, background.alpha > 0 else { return nil }
        self.init(background)
    }

    public var key: String { "flatten(\(background.hex))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.withAlpha(plan.hasAlpha && background.alpha < 255)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        guard image.first.hasAlpha else { return image }
        return try image.mapFrames { frame throws(VipsError) in
            try background.alpha < 255 ? frame.composited(over: background) : frame.flattened(on: background)
        }
    }
}

extension VipsImage {
    /// Porter and Duff's "over" on a canvas of one color (libvips `composite`).
    fileprivate func composited(over color: Color) throws(VipsError) -> VipsImage {
        let canvas = try applying("linear", ["a": .doubles([0, 0, 0, 0]), "b": .doubles(color.rgba)])
            .applying("cast", ["format": "uchar"])
        let over = 2  // VIPS_BLEND_MODE_OVER
        return try VipsImage.build(
            "composite", ["in": .images([canvas, self]), "mode": .ints([over]), "compositing_space": "srgb"]
        ).applying("cast", ["format": "uchar"])
    }
}
