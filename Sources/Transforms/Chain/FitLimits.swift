import Foundation

/// Scales down what would be too large, instead of refusing it (SDWebImage's `scaleDownLargeImages`).
///
/// Part of `Resize`, so that the picture is resampled once, and of its key, so that a result under other limits is another variant.
public struct ScaleDownLimits: Hashable, Sendable {
    /// Pixels of a result's longer side.
    public var maxSide: Int
    /// Pixels of a result.
    public var maxPixels: Int
    /// Pixels of a decoded frame. A larger source is accepted where its decoder can give this much or less.
    public var maxSourcePixels: Int
    /// What the picture is rotated by after it is scaled: it needs a larger canvas then.
    public var rotationDegrees: Int

    /// The limits for results and sources, of a picture that is then rotated.
    public init(_ limits: PixelLimits, rotationDegrees: Int = 0) {
        maxSide = limits.maxOutputSide
        maxPixels = limits.maxOutputPixels
        maxSourcePixels = limits.maxSourcePixels
        self.rotationDegrees = rotationDegrees
    }

    var key: String { "fit \(maxSide) \(maxPixels) \(maxSourcePixels) \(rotationDegrees)" }

    /// The size itself where it is within the limits once it is rotated, else the largest one of its shape that is.
    func fitted(_ size: PixelSize) -> PixelSize {
        let (across, down) = size.canvas(rotatedBy: rotationDegrees)
        // Room for the rounding of a canvas that no whole pixels bound.
        let margin: Double = rotationDegrees.isMultiple(of: 90) ? 0 : 2
        let bySide = (Double(maxSide) - margin) / max(across, down)
        // The factor at which (across + margin) × (down + margin) is just maxPixels.
        let (area, edge) = (across * down, margin * (across + down))
        let root = (edge * edge + 4 * area * (Double(maxPixels) - margin * margin)).squareRoot()
        let factor = min(1, bySide, (root - edge) / (2 * area))
        if factor == 1 { return size }
        let nearest = size.scaled(by: factor, .toNearestOrAwayFromZero)
        return nearest.area <= maxPixels ? nearest : size.scaled(by: factor, .down)
    }
}

extension PixelSize {
    /// The sides of the upright rectangle around this one after a clockwise turn.
    func canvas(rotatedBy degrees: Int) -> (across: Double, down: Double) {
        if degrees.isMultiple(of: 180) { return (Double(width), Double(height)) }
        if degrees.isMultiple(of: 90) { return (Double(height), Double(width)) }
        let angle = Double(degrees) * .pi / 180
        return (
            abs(Double(width) * cos(angle)) + abs(Double(height) * sin(angle)),
            abs(Double(width) * sin(angle)) + abs(Double(height) * cos(angle))
        )
    }

    /// No side falls below one pixel.
    fileprivate func scaled(by factor: Double, _ rule: FloatingPointRoundingRule) -> PixelSize {
        PixelSize(
            width: max(1, Int((Double(width) * factor).rounded(rule))),
            height: max(1, Int((Double(height) * factor).rounded(rule))))
    }
}
