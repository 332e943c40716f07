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
    /// The space that is then added around the image.
    public var padding: Padding

    /// The limits of a job whose image is then rotated, and gets space around it.
    public init(_ limits: PixelLimits, rotationDegrees: Int = 0, padding: Padding = Padding(0)) {
        maxSide = limits.maxOutputSide
        maxPixels = limits.maxOutputPixels
        maxSourcePixels = limits.maxSourcePixels
        self.rotationDegrees = rotationDegrees
        self.padding = padding
    }

    var key: String {
        let space = padding == Padding(0) ? "" : " \(padding.across) \(padding.down)"
        return "fit \(maxSide) \(maxPixels) \(maxSourcePixels) \(rotationDegrees)\(space)"
    }

    /// The size itself if it is within the limits after the rotation, otherwise the largest of the same shape that is.
    func fitted(_ size: PixelSize) -> PixelSize {
        let (across, down) = size.canvas(rotatedBy: rotationDegrees)
        // Room for rounding a canvas whose sides are no integers.
        let margin: Double = rotationDegrees.isMultiple(of: 90) ? 0 : 2
        let more = (across: Double(padding.across) + margin, down: Double(padding.down) + margin)
        let bySide = min((Double(maxSide) - more.across) / across, (Double(maxSide) - more.down) / down)
        // The factor at which (across + more.across) × (down + more.down) is just maxPixels.
        let (area, edge) = (across * down, across * more.down + down * more.across)
        let left = max(Double(maxPixels) - more.across * more.down, 0)
        let root = (edge * edge + 4 * area * left).squareRoot()
        let factor = min(1, bySide, (root - edge) / (2 * area))
        if factor == 1 { return size }
        let nearest = size.scaled(by: factor, .toNearestOrAwayFromZero)
        return isWithin(nearest) ? nearest : size.scaled(by: factor, .down)
    }

    private func isWithin(_ size: PixelSize) -> Bool {
        let isUpright = rotationDegrees.isMultiple(of: 180) || !rotationDegrees.isMultiple(of: 90)
        return padding.around(isUpright ? size : size.transposed).area <= maxPixels
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
            width: Self.side((Double(width) * factor).rounded(rule)),
            height: Self.side((Double(height) * factor).rounded(rule)))
    }
}
