public import DarkroomRequests
import DarkroomVips
import Foundation

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
        guard !degrees.isQuarterTurns else {
            return reading == .repeatedly ? TransformCost(nanosecondsPerPixel: 10, nanosecondsPerFrame: 0.5e6) : .none
        }
        let fills = background?.alpha == 255
        return TransformCost(
            nanosecondsPerPixel: fills ? 18 : 42, nanosecondsPerPixelWithAlpha: 46, nanosecondsPerFrame: 2e6,
            bytesPerPixel: fills ? 4 : 3.5, bytesPerPixelWithAlpha: 12, bytesPerFrame: 50_000)
    }

    /// A quarter turn reads columns. Other rotations render their input.
    public var reading: InputReading { degrees == 90 || degrees == 270 ? .repeatedly : .once }

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
            // Rendered, because steps that read color and alpha apart, or more than strips, would rotate for each.
            guard fill.alpha < 255, !frame.hasAlpha else {
                return try frame.premultiplying { colors throws(VipsError) in
                    try rotated(colors, around: fill, interrupt: context.interrupt)
                }.roundedToBytes().rendered(interrupt: context.interrupt)
            }
            // Its colors are weighted by their alpha already, since all pixels are opaque.
            return try rotated(frame.addingAlpha(), around: fill, interrupt: context.interrupt)
                .applying("unpremultiply").roundedToBytes().rendered(interrupt: context.interrupt)
        }
    }

    /// Rotates colors that are weighted by their alpha.
    ///
    /// libvips reads a slanted strip of the image for each strip of the result. Lazy steps before it, such as the
    /// weighting that libvips does on its own otherwise, would run for each.
    private func rotated(
        _ colors: VipsImage, around fill: Color, interrupt: @escaping Interrupt
    ) throws(VipsError) -> VipsImage {
        let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
        let share = Double(fill.alpha) / 255
        return try colors.rendered(interrupt: interrupt).applying(
            "affine",
            [
                "matrix": .doubles([cosine, -sine, sine, cosine]), "premultiplied": true,
                "background": .doubles(colors.hasAlpha ? fill.rgb.map { $0 * share } + [Double(fill.alpha)] : fill.rgb),
            ])
    }
}
