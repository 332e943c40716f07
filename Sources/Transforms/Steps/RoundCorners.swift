public import DarkroomRequests

extension RoundCorners: Transform {
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

extension CornerRadii {
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
