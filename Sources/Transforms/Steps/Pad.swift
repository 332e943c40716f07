public import DarkroomRequests
import DarkroomVips

/// Adds space around the image (libvips `embed`), so that the result is larger than the box.
public struct Pad: Transform, Hashable {
    public var padding: Padding
    /// The fill; nil = transparent around an image with transparency, and white around others.
    public var background: Color?

    /// Adds this space.
    public init(_ padding: Padding, background: Color? = nil) {
        self.padding = padding
        self.background = background
    }

    init?(_ recipe: Recipe) {
        guard let padding = recipe.padding else { return nil }
        self.init(padding, background: recipe.background.map { $0.alpha == 255 ? $0 : .transparent })
    }

    public var key: String {
        "pad(\(padding.top),\(padding.right),\(padding.bottom),\(padding.left),\(background?.hex ?? "-"))"
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.requiringEveryPixel().extending(to: padding.around(plan.size))
            .withAlpha(plan.hasAlpha || (background?.alpha ?? 255) < 255)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let canvas = padding.around(image.size)
        return try image.mapFrames { frame throws(VipsError) in
            let fill = background ?? (frame.hasAlpha ? .transparent : .white)
            return try frame.embedded(in: canvas, x: padding.left, y: padding.top, on: fill)
        }
    }
}

extension Padding {
    /// What is added to the width.
    var across: Int { left + right }
    /// What is added to the height.
    var down: Int { top + bottom }

    /// The size of an image with this space around it.
    func around(_ size: PixelSize) -> PixelSize { PixelSize(width: size.width + across, height: size.height + down) }

    /// The size that this space leaves of an image; sides may be less than 1.
    func within(_ size: PixelSize) -> PixelSize { PixelSize(width: size.width - across, height: size.height - down) }
}
