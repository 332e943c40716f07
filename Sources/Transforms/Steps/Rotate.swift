import DarkroomVips

/// Turns the picture clockwise. Quarter turns are exact; for others the canvas grows and its corners are filled.
public struct Rotate: Transform, Hashable {
    /// 0…359, clockwise.
    public var degrees: Int
    /// Fill of the corners; nil = transparent, which becomes white in a format without alpha.
    public var background: Color?

    /// Turns by so many degrees.
    public init(degrees: Int, background: Color? = nil) {
        self.degrees = degrees
        self.background = background
    }

    init(_ recipe: Recipe) {
        self.init(
            degrees: recipe.rotationDegrees,
            background: recipe.rotationDegrees.isMultiple(of: 90) ? nil : recipe.solidBackground)
    }

    public var key: String { "rotate(\(degrees),\(background?.hex ?? "-"))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let (across, down) = plan.size.canvas(rotatedBy: degrees)
        let fillsCorners = !degrees.isMultiple(of: 90) && (background?.alpha ?? 0) < 255
        return plan.needingEveryPixel().giving(
            PixelSize(width: Int(across.rounded()), height: Int(down.rounded()))
        ).giving(alpha: plan.hasAlpha || fillsCorners)
    }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try picture.mapFrames { frame throws(VipsError) in
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
