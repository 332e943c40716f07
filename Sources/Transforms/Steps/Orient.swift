public import DarkroomRequests
import DarkroomVips

extension Orient: Transform {
    /// Nil if the recipe leaves pixels as they are stored.
    init?(_ recipe: Recipe) {
        guard recipe.orientation != .none else { return nil }
        self.init(recipe.orientation)
    }

    public var key: String {
        switch rule {
        case .auto: "orient(auto)"
        case .none: "orient(none)"
        case .exif(let orientation): "orient(\(orientation))"
        }
    }

    /// A transposed image is computed from whole columns of the decoded image.
    public var cost: TransformCost {
        guard case .exif(let orientation) = rule, orientation >= 5 else { return .none }
        return TransformCost(nanosecondsPerDecodedPixel: 9)
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        steps(for: plan.sourceOrientation).contains(.transpose) ? plan.transposed() : plan
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames { try upright(image) }

    /// The image after this orientation is applied.
    func upright(_ image: ImageFrames) throws(VipsError) -> ImageFrames {
        var upright = image
        for step in steps(for: image.orientation) { upright = try step.apply(upright) }
        upright.orientation = 1
        return upright
    }

    private func steps(for stated: Int) -> [Mirror] {
        switch rule {
        case .auto: Mirror.uprighting(stated)
        case .none: []
        case .exif(let orientation): Mirror.uprighting(orientation)
        }
    }
}
