/// Which part of an image `cover` keeps, and where on its canvas `contain` places it.
public enum Position: Hashable, Codable, Sendable {
    /// A point of the free space, 0…1 from the left and from the top; `center` is (0.5, 0.5).
    case anchor(x: Double, y: Double)
    /// A point of the image, 0…1 from the left and from the top, which is moved as close to the center as possible.
    case focal(x: Double, y: Double)
    /// A point of the upright source in pixels, which is moved as close to the center as possible.
    case point(x: Double, y: Double)
    /// The part with the most detail (libvips `smartcrop`), the same one in every size of the result.
    case entropy
    /// The part that attracts attention: skin tones, saturated colors, edges (libvips `smartcrop`), the same one
    /// in every size of the result.
    case attention
    /// The part around faces; `attention` if none is found.
    case faces(FaceFocus)

    public static let center = Position.anchor(x: 0.5, y: 0.5)

    /// The point 0…1 from the left and from the top; the center for positions that depend on pixels.
    package var fractions: (x: Double, y: Double) {
        switch self {
        case .anchor(let x, let y), .focal(let x, let y): (x, y)
        case .entropy, .attention, .faces, .point: (0.5, 0.5)
        }
    }

    /// Whether it is chosen by content.
    package var dependsOnPixels: Bool { self == .entropy || self == .attention || faces != nil }

    /// The faces that it shows; nil = it looks for none.
    package var faces: FaceFocus? { if case .faces(let focus) = self { focus } else { nil } }

    /// The position's part of a transform's key.
    package var key: String {
        switch self {
        case .anchor(let x, let y): "anchor \(x) \(y)"
        case .focal(let x, let y): "focal \(x) \(y)"
        case .point(let x, let y): "point \(x) \(y)"
        case .entropy: "entropy"
        case .attention: "attention"
        case .faces(let focus): focus.key
        }
    }

    /// The upper left corner of a crop of `size` from `whole`; nil for a position that depends on pixels.
    package func corner(of size: PixelSize, in whole: PixelSize) -> (x: Int, y: Int)? {
        let free = (x: whole.width - size.width, y: whole.height - size.height)
        switch self {
        case .anchor(let x, let y):
            return (Self.along(free.x, x), Self.along(free.y, y))
        case .focal(let x, let y):
            return (
                Self.around(Double(whole.width) * x, side: size.width, free: free.x),
                Self.around(Double(whole.height) * y, side: size.height, free: free.y)
            )
        case .entropy, .attention, .faces, .point:
            return nil
        }
    }

    private static func along(_ free: Int, _ fraction: Double) -> Int {
        Int((Double(free) * fraction).rounded(.down))
    }

    private static func around(_ point: Double, side: Int, free: Int) -> Int {
        min(max(Int((point - Double(side) / 2).rounded()), 0), max(free, 0))
    }
}

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
