import Foundation

/// Width and height in whole pixels.
public struct PixelSize: Hashable, Codable, Sendable, CustomStringConvertible {
    /// Columns.
    public var width: Int
    /// Rows.
    public var height: Int

    /// A size of these columns and rows.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The longest side of any image (libvips' `VIPS_MAX_COORD`).
    package static let maxSide = 10_000_000

    /// A length rounded to the nearest pixel, within 1…``maxSide``, because hostile sizes have products beyond `Int`.
    package static func side(_ length: Double) -> Int { Int(min(max(length.rounded(), 1), Double(maxSide))) }

    /// The number of pixels. Saturates instead of overflowing, since sizes come from untrusted headers.
    public var area: Int { width.saturatingMultiply(by: height) }

    /// The size with width and height exchanged.
    public var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// The size with both sides divided by `factor` and rounded down.
    package func shrunk(by factor: Int) -> PixelSize { PixelSize(width: width / factor, height: height / factor) }

    /// The size of the longer side each.
    package func united(with other: PixelSize) -> PixelSize {
        PixelSize(width: max(width, other.width), height: max(height, other.height))
    }

    /// The size of the shorter side each.
    package func clipped(to other: PixelSize) -> PixelSize {
        PixelSize(width: min(width, other.width), height: min(height, other.height))
    }

    /// Both sides times a factor, each within 1…``maxSide``.
    package func scaled(
        by factor: Double, rounding rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero
    ) -> PixelSize {
        PixelSize(
            width: Self.side((Double(width) * factor).rounded(rule)),
            height: Self.side((Double(height) * factor).rounded(rule)))
    }

    /// The largest factor that scales both sides to at most the sides of `other`.
    package func factor(toFit other: PixelSize) -> Double {
        min(Double(other.width) / Double(width), Double(other.height) / Double(height))
    }

    /// The smallest factor that scales both sides to at least the sides of `other`.
    package func factor(toCover other: PixelSize) -> Double {
        max(Double(other.width) / Double(width), Double(other.height) / Double(height))
    }

    public var description: String { "\(width)×\(height)" }
}

extension Int {
    /// The limits that bound the factors are configurable, so a product may overflow.
    package func saturatingMultiply(by factor: Int) -> Int {
        let (product, isOverflow) = multipliedReportingOverflow(by: factor)
        return isOverflow ? .max : product
    }
}

extension PixelSize {
    /// The sides of this rectangle's bounding box after a clockwise rotation.
    package func canvas(rotatedBy degrees: Double) -> (across: Double, down: Double) {
        if degrees.isQuarterTurns {
            let isUpright = degrees.truncatingRemainder(dividingBy: 180) == 0
            return isUpright ? (Double(width), Double(height)) : (Double(height), Double(width))
        }
        let angle = degrees * .pi / 180
        return (
            abs(Double(width) * cos(angle)) + abs(Double(height) * sin(angle)),
            abs(Double(width) * sin(angle)) + abs(Double(height) * cos(angle))
        )
    }
}

extension Double {
    /// Whether an angle in degrees is a multiple of 90, which moves pixels without resampling them.
    package var isQuarterTurns: Bool { truncatingRemainder(dividingBy: 90) == 0 }
}
