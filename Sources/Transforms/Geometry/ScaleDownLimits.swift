public import DarkroomRequests
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
    public var rotationDegrees: Double
    /// The space that is then added around the image.
    public var padding: Padding

    /// The limits of a job whose image is then rotated, and gets space around it.
    public init(_ limits: PixelLimits, rotationDegrees: Double = 0, padding: Padding = Padding(0)) {
        maxSide = limits.maxOutputSide
        maxPixels = limits.maxOutputPixels
        maxSourcePixels = limits.maxSourcePixels
        self.rotationDegrees = rotationDegrees
        self.padding = padding
    }

    var key: String {
        let space = padding == Padding(0) ? "" : " \(padding.across) \(padding.down)"
        return "fit \(maxSide) \(maxPixels) \(maxSourcePixels) \(rotationDegrees.plainDegrees)\(space)"
    }

    /// The size, or the largest size of the same shape that is within the limits after the rotation.
    func fitted(_ size: PixelSize) -> PixelSize {
        let (across, down) = size.canvas(rotatedBy: rotationDegrees)
        // A margin for rounding a canvas whose sides are not integers.
        let margin: Double = rotationDegrees.isQuarterTurns ? 0 : 2
        let more = (across: Double(padding.across) + margin, down: Double(padding.down) + margin)
        let bySide = min((Double(maxSide) - more.across) / across, (Double(maxSide) - more.down) / down)
        // The factor at which (across + more.across) × (down + more.down) is just maxPixels.
        let (area, edge) = (across * down, across * more.down + down * more.across)
        let left = max(Double(maxPixels) - more.across * more.down, 0)
        let root = (edge * edge + 4 * area * left).squareRoot()
        let factor = min(1, bySide, (root - edge) / (2 * area))
        if factor == 1 { return size }
        let nearest = size.scaled(by: factor)
        return isWithin(nearest) ? nearest : size.scaled(by: factor, rounding: .down)
    }

    private func isWithin(_ size: PixelSize) -> Bool {
        let isOnItsSide = rotationDegrees.isQuarterTurns && rotationDegrees.truncatingRemainder(dividingBy: 180) != 0
        return padding.around(isOnItsSide ? size.transposed : size).area <= maxPixels
    }
}

extension Double {
    /// An angle in degrees as in keys, without a fraction where it is whole.
    var plainDegrees: String { Int(exactly: self).map(String.init) ?? "\(self)" }
}
