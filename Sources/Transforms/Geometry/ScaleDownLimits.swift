import Foundation

/// The limits that an oversized image is scaled down to instead of being refused (SDWebImage's `scaleDownLargeImages`).
///
/// Part of `Resize`, so that the image is resampled only once, and of its key, so that other limits make another
/// variant.
public struct ScaleDownLimits: Hashable, Sendable {
    /// Pixels of the result's longer side.
    public var maxSide: Int
    /// Pixels of the result.
    public var maxPixels: Int
    /// Pixels of a decoded frame. A larger source is accepted if its decoder can shrink it to this.
    public var maxSourcePixels: Int
    /// The clockwise rotation after scaling, in degrees, which enlarges the canvas.
    public var rotationDegrees: Int

    /// The limits of a job whose image is then rotated.
    public init(_ limits: PixelLimits, rotationDegrees: Int = 0) {
        maxSide = limits.maxOutputSide
        maxPixels = limits.maxOutputPixels
        maxSourcePixels = limits.maxSourcePixels
        self.rotationDegrees = rotationDegrees
    }

    var key: String { "fit \(maxSide) \(maxPixels) \(maxSourcePixels) \(rotationDegrees)" }

    /// The size itself if it is within the limits after the rotation, otherwise the largest of the same shape that is.
    func fitted(_ size: PixelSize) -> PixelSize {
        let (across, down) = size.canvas(rotatedBy: rotationDegrees)
        // Room for rounding a canvas whose sides are no integers.
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
    /// The sides of this rectangle's bounding box after a clockwise rotation.
    func canvas(rotatedBy degrees: Int) -> (across: Double, down: Double) {
        if degrees.isMultiple(of: 180) { return (Double(width), Double(height)) }
        if degrees.isMultiple(of: 90) { return (Double(height), Double(width)) }
        let angle = Double(degrees) * .pi / 180
        return (
            abs(Double(width) * cos(angle)) + abs(Double(height) * sin(angle)),
            abs(Double(width) * sin(angle)) + abs(Double(height) * cos(angle))
        )
    }

    /// Every side is at least 1.
    fileprivate func scaled(by factor: Double, _ rule: FloatingPointRoundingRule) -> PixelSize {
        PixelSize(
            width: max(1, Int((Double(width) * factor).rounded(rule))),
            height: max(1, Int((Double(height) * factor).rounded(rule))))
    }
}
