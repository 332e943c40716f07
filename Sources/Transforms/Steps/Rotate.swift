import DarkroomVips

/// Rotates the image clockwise. Quarter turns are exact (libvips `rot`); other angles enlarge the canvas and fill its
/// corners (libvips `rotate`).
public struct Rotate: Transform, Hashable {
    /// The clockwise angle in degrees, at least 0 and below 360.
    public var degrees: Double
    /// The fill of the corners; nil = transparent, which becomes white in a format without alpha.
    public var background: Color?

    /// Rotates by this angle, by default with transparent corners.
    public init(degrees: Double, background: Color? = nil) {
        self.degrees = degrees
        self.background = background
    }

    init?(_ recipe: Recipe) {
        let degrees = recipe.rotationDegrees.truncatingRemainder(dividingBy: 360)
        guard degrees.isFinite, degrees != 0 else { return nil }
        let background = recipe.cornerBackground ?? recipe.solidBackground
        self.init(degrees: degrees, background: degrees.isQuarterTurns ? nil : background)
    }

    public var key: String { "rotate(\(degrees.plainDegrees),\(background?.hex ?? "-"))" }

    public var cost: TransformCost {
        guard !degrees.isQuarterTurns else { return .none }
        return TransformCost(
            nanosecondsPerPixel: 1500, bytesPerPixel: 50, bytesPerPixelWithAlpha: 130, decodedCopies: 0.5)
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let (across, down) = plan.size.canvas(rotatedBy: degrees)
        let fillsCorners = !degrees.isQuarterTurns && (background?.alpha ?? 0) < 255
        return plan.requiringEveryPixel()
            .changingSize(to: PixelSize(width: Int(across.rounded()), height: Int(down.rounded())))
            .withAlpha(plan.hasAlpha || fillsCorners)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mapFrames { frame throws(VipsError) in
            if degrees.isQuarterTurns {
                return try frame.applying("rot", ["angle": .string("d\(degrees.plainDegrees)")])
            }
            let fill = background ?? .transparent
            let ready = fill.alpha < 255 ? try frame.addingAlpha() : frame
            return try ready.applying(
                "rotate",
                ["angle": .double(degrees), "background": .doubles(ready.hasAlpha ? fill.rgba : fill.rgb)]
            ).applying("cast", ["format": "uchar"])
        }
    }
}
