import Foundation

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
