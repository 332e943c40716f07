import DarkroomVips

/// The transforms of one request, in order.
public struct TransformChain: Sendable {
    /// The members, first to last.
    public var transforms: [any Transform] {
        didSet { recipe = nil }
    }
    /// What the chain was made from; nil where somebody has put it together, or changed it since.
    public internal(set) var recipe: Recipe?

    /// These members in this order; none = the pixels as they are decoded.
    public init(_ transforms: [any Transform] = []) {
        self.transforms = transforms
    }

    /// All members' keys in one unambiguous text: each with its length in front, so that no two lists collide.
    public var key: String {
        var text = ""
        for transform in transforms {
            let key = transform.key
            text += "\(key.utf8.count):"
            text += key
        }
        return text
    }

    /// Whether the first step turns the picture by the source's own orientation.
    var beginsUpright: Bool { (transforms.first as? Orient)?.rule == .auto }

    /// Walks the chain over a header.
    public func plan(_ start: ChainPlan) throws(TransformError) -> ChainPlan {
        try plans(start).last ?? start
    }

    /// The plan after each member.
    func plans(_ start: ChainPlan) throws(TransformError) -> [ChainPlan] {
        var plan = start
        var plans: [ChainPlan] = []
        plans.reserveCapacity(transforms.count)
        for transform in transforms {
            plan = try transform.planned(plan)
            plans.append(plan)
        }
        return plans
    }

    /// Runs every member. Pixels may still be lazy afterwards.
    ///
    /// Each step is planned again right before it runs, since a step like `Trim` learns its size from pixels. Until the resize
    /// of a picture that the decoder shrank, the plan knows the true size and the raster does not.
    func apply(to picture: ImageFrames, start: ChainPlan, interrupt: @escaping Interrupt) throws -> ImageFrames {
        var isShrunk = start.size != picture.size
        var picture = picture
        var plan = start
        for transform in transforms {
            plan = try transform.planned(plan)
            picture = try transform.apply(picture, context: TransformContext(plan: plan, interrupt: interrupt))
            if plan.decode != .undecided { isShrunk = false }
            if !isShrunk { plan = plan.giving(picture.size) }
        }
        return picture
    }
}
