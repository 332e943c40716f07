import Foundation

/// The shapes that an image can be cut to; the names come from weserv/images.
public enum MaskShape: String, Codable, Sendable, CaseIterable {
    case circle
    /// As wide and as high as the image.
    case ellipse
    case triangle
    /// A triangle on its tip.
    case triangle180 = "triangle-180"
    case pentagon
    /// A pentagon on its tip.
    case pentagon180 = "pentagon-180"
    case hexagon
    /// A square on its corner.
    case square
    /// A star of five points.
    case star
    case heart

    /// The corners on a plane of any scale; nil for a circle and an ellipse.
    package var corners: [(x: Double, y: Double)]? {
        switch self {
        case .circle, .ellipse: return nil
        case .triangle: return Self.polygon(3)
        case .triangle180: return Self.polygon(3, turned: .pi)
        case .pentagon: return Self.polygon(5)
        case .pentagon180: return Self.polygon(5, turned: .pi)
        case .hexagon: return Self.polygon(6)
        case .square: return Self.polygon(4)
        case .star: return Self.polygon(10, innerRadius: 0.382)
        case .heart: return Self.heartCurve
        }
    }

    /// A regular polygon around the origin that points up, or a star if every second corner has another radius.
    private static func polygon(
        _ count: Int, innerRadius: Double = 1, turned angle: Double = 0
    ) -> [(x: Double, y: Double)] {
        (0..<count).map { index in
            let direction = Double(index) * 2 * .pi / Double(count) + angle
            let radius = index.isMultiple(of: 2) ? 1 : innerRadius
            return (radius * sin(direction), -radius * cos(direction))
        }
    }

    /// The curve (16 sin³ t, 13 cos t − 5 cos 2t − 2 cos 3t − cos 4t), in steps short enough to look round at any size.
    private static let heartCurve: [(x: Double, y: Double)] = (0..<720).map { step in
        let t = Double(step) * .pi / 360
        let height = 13 * cos(t) - 5 * cos(2 * t) - 2 * cos(3 * t) - cos(4 * t)
        return (16 * pow(sin(t), 3), -height)
    }
}
