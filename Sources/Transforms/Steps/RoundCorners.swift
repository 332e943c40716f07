/// Rounds all corners alike, at its place in a list of steps.
public struct RoundCorners: Transform, Hashable, Codable {
    /// The accepted radii, in pixels of the image.
    public static let radii = 0...9999

    /// The radius along the width, one of `radii`; at most half the width has an effect.
    public var across: Int
    /// The radius along the height.
    public var down: Int
    /// The color outside the corners and below transparent pixels; nil = transparent.
    public var background: Color?

    /// Corners of these radii.
    public init(across: Int, down: Int, background: Color? = nil) {
        self.across = across
        self.down = down
        self.background = background
    }

    public var key: String { "round(\(across),\(down),\(background?.opaque.hex ?? "-"))" }

    public var cost: TransformCost { Mask(outline: outline).cost }
    public var reading: InputReading { .colorApart }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let plan = try Mask(outline: outline).planned(plan)
        return background == nil ? plan : plan.withAlpha(false)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let cut = try Mask(outline: outline).apply(image, context: context)
        guard let background else { return cut }
        return try Flatten(background.opaque).apply(cut, context: context)
    }

    private var outline: Outline { .ellipticCorners(across: across, down: down) }
}

/// The radii of an image's round corners, in the terms of CSS `border-radius`: pixels of the result from 0, or 0 to 100
/// percent of the image's width across and of its height down.
public struct CornerRadii: Hashable, Codable, Sendable {
    public var topLeft: Length
    public var topRight: Length
    public var bottomRight: Length
    public var bottomLeft: Length

    /// A radius for each corner, clockwise from the upper left.
    public init(topLeft: Length, topRight: Length, bottomRight: Length, bottomLeft: Length) {
        self.topLeft = topLeft
        self.topRight = topRight
        self.bottomRight = bottomRight
        self.bottomLeft = bottomLeft
    }

    /// The same radius for all corners.
    public init(_ radius: Length) {
        self.init(topLeft: radius, topRight: radius, bottomRight: radius, bottomLeft: radius)
    }

    /// Clockwise from the upper left.
    var all: [Length] { [topLeft, topRight, bottomRight, bottomLeft] }

    /// The radii for an image of this size, clockwise from the upper left. If neighbors would overlap, all are reduced
    /// by the same factor (CSS Backgrounds and Borders Level 3 §4.5).
    func fitted(to size: PixelSize) -> [(across: Double, down: Double)] {
        let radii = all.map { (across: $0.radius(along: size.width), down: $0.radius(along: size.height)) }
        let (width, height) = (Double(size.width), Double(size.height))
        let factor = [
            width / (radii[0].across + radii[1].across), height / (radii[1].down + radii[2].down),
            width / (radii[2].across + radii[3].across), height / (radii[3].down + radii[0].down),
        ].reduce(1) { min($0, $1) }
        return radii.map { ($0.across * factor, $0.down * factor) }
    }
}

extension Length {
    fileprivate func radius(along side: Int) -> Double {
        switch self {
        case .pixels(let count): Double(max(count, 0))
        case .percent(let part): Double(side) * min(max(part.fraction, 0), 1)
        }
    }
}
