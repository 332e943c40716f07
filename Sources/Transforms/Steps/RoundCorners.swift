import DarkroomVips

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
