/// Where a drawing begins along a side of an image, possibly outside.
public struct Place: Hashable, Codable, Sendable {
    /// What the distance is measured from.
    public enum Edge: String, Codable, Sendable {
        /// The left or the upper edge.
        case start
        case center
        /// The right or the lower edge.
        case end
    }

    public var edge: Edge
    /// The distance inward, or after the center. A negative distance from an edge lies outside.
    public var distance: Length

    /// A place at an edge, or at a distance from it.
    public init(_ edge: Edge, distance: Length = .pixels(0)) {
        self.edge = edge
        self.distance = distance
    }

    /// The distance of the drawing's beginning from the beginning of the image.
    package func position(of length: Int, on whole: Int) -> Int {
        let distance = distance.measured(in: whole)
        return switch edge {
        case .start: distance
        case .center: (whole - length) / 2 + distance
        case .end: whole - length - distance
        }
    }

    /// The place's part of a transform's key.
    package var key: String { "\(edge.rawValue) \(distance)" }
}
