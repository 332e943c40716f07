/// The center, an edge or a corner of an image.
public enum Anchor: String, Codable, Sendable, CaseIterable {
    case center, top
    case topRight = "top-right"
    case right
    case bottomRight = "bottom-right"
    case bottom
    case bottomLeft = "bottom-left"
    case left
    case topLeft = "top-left"

    /// The part of the free space that lies to the left of what is anchored and above it.
    package var fractions: (x: Double, y: Double) {
        switch self {
        case .center: (0.5, 0.5)
        case .top: (0.5, 0)
        case .topRight: (1, 0)
        case .right: (1, 0.5)
        case .bottomRight: (1, 1)
        case .bottom: (0.5, 1)
        case .bottomLeft: (0, 1)
        case .left: (0, 0.5)
        case .topLeft: (0, 0)
        }
    }
}
