import DarkroomVips

/// Rotates the image clockwise. Quarter turns are exact (libvips `rot`); other angles enlarge the canvas and fill its
/// corners (libvips `rotate`).
public struct Rotate: Transform, Hashable {
    /// The clockwise angle, 0…359.
    public var degrees: Int
    /// The fill of the corners; nil = transparent, which becomes white in a format without alpha.
    public var background: Color?

    /// Rotates by this angle, by default with transparent corners.
    public init(degrees: Int, background: Color? = nil) {
        self.degrees = degrees
        self.background = background
    }

    init?(_ recipe: Recipe) {
        guard !recipe.rotationDegrees.isMultiple(of: 360) else { return nil }
        self.init(
            degrees: recipe.rotationDegrees,
            background: recipe.rotationDegrees.isMultiple(of: 90) ? nil : recipe.solidBackground)
    }

    public var key: String { "rotate(\(degrees),\(background?.hex ?? "-"))" }

    public var cost: TransformCost {
        guard !degrees.isMultiple(of: 90) else { return .none }
        return TransformCost(
            nanosecondsPerPixel: 1500, bytesPerPixel: 50, bytesPerPixelWithAlpha: 130, decodedCopies: 0.5)
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let (across, down) = plan.size.canvas(rotatedBy: degrees)
        let fillsCorners = !degrees.isMultiple(of: 90) && (background?.alpha ?? 0) < 255
        return plan.requiringEveryPixel()
            .changingSize(to: PixelSize(width: Int(across.rounded()), height: Int(down.rounded())))
            .withAlpha(plan.hasAlpha || fillsCorners)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mapFrames { frame throws(VipsError) in
            if degrees.isMultiple(of: 90) {
                return try frame.applying("rot", ["angle": .string("d\(degrees % 360)")])
            }
            let fill = background ?? .transparent
            let ready = fill.alpha < 255 ? try frame.addingAlpha() : frame
            return try ready.applying(
                "rotate",
                ["angle": .int(degrees), "background": .doubles(ready.hasAlpha ? fill.rgba : fill.rgb)]
            ).applying("cast", ["format": "uchar"])
        }
    }
}
