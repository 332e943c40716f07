package import DarkroomTransforms

/// The server's limits on the size of an image: `maxWidth`, which is `maxHeight` too, and `maxArea` (§5.2).
package struct IIIFLimits: Hashable, Sendable {
    /// Pixels of the longer side.
    package let maxSide: Int
    /// Pixels in total.
    package let maxArea: Int

    package init(_ limits: PixelLimits) {
        maxSide = limits.maxOutputSide
        maxArea = limits.maxOutputPixels
    }

    func contain(_ size: PixelSize) -> Bool { max(size.width, size.height) <= maxSide && size.area <= maxArea }

    /// The size itself if it is within the limits, otherwise the largest size of its aspect ratio.
    func fitted(_ size: PixelSize) -> PixelSize { contain(size) ? size : largest(like: size) }

    /// The largest size of this aspect ratio, apart from rounding, within the limits. Every side is at least 1.
    func largest(like size: PixelSize) -> PixelSize {
        let (across, down) = (Double(size.width), Double(size.height))
        let factor = min(Double(maxSide) / max(across, down), (Double(maxArea) / (across * down)).squareRoot())
        func scaled(_ rule: FloatingPointRoundingRule) -> PixelSize {
            PixelSize(
                width: max(1, Int((across * factor).rounded(rule))), height: max(1, Int((down * factor).rounded(rule))))
        }
        let nearest = scaled(.toNearestOrAwayFromZero)
        return contain(nearest) ? nearest : scaled(.down)
    }

    /// Refuses an image whose canvas exceeds the limits once it is rotated.
    func check(_ size: PixelSize, rotatedBy degrees: Double) throws(InvalidParameter) {
        let (across, down) = size.canvas(rotatedBy: degrees)
        let canvas = PixelSize(width: IIIFNumbers.rounded(across), height: IIIFNumbers.rounded(down))
        guard contain(canvas) else {
            throw InvalidParameter(
                "size",
                "Parameter 'size' must be smaller: the rotated image would be \(canvas) pixels, and at most \(maxSide) "
                    + "per side and \(maxArea) in total are allowed.")
        }
    }
}
