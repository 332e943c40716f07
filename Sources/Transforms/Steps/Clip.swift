/// Crops a resized image on each side that exceeds its canvas. Other sides, which only some rules leave, stay shorter.
struct Clip: Transform, Hashable {
    /// Which part is kept; of an animation, `entropy` and `attention` keep the center.
    var position: Position

    /// The crop of the source that a ``Position/point(x:y:)`` refers to; nil = the whole source.
    var crop: LooseCrop?
    /// Whether the corner of a focal crop is rounded down, as by imagor.
    var roundsDown = false

    init(position: Position) {
        self.position = position
    }

    /// Nil if the recipe crops nothing.
    init?(_ recipe: Recipe) {
        let isCut =
            switch recipe.rules {
            case .thumbor: recipe.fit == .cover && recipe.box.hasSide
            case .cloudflare: recipe.fit == .outside && recipe.box.isTwoSided && !recipe.enlarge
            case .darkroom, .wsrv, .imgproxy: recipe.fit == .cover && recipe.box.isTwoSided
            }
        guard isCut else { return nil }
        self.init(position: recipe.position)
        roundsDown = recipe.rules == .thumbor
        if case .point = position { crop = recipe.crop.map { LooseCrop(crop: $0, dropsLastPixel: true) } }
    }

    var key: String { "clip(\(position.key)\(crop.map { ",\($0.key)" } ?? "")\(roundsDown ? ",down" : ""))" }

    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.changingSize(to: plan.size.clipped(to: plan.canvas ?? plan.size))
    }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let size = context.plan.size
        guard size != image.size else { return image }
        let upright = context.plan.uprightSource
        let position = position.pinned(context.plan, cropped: crop?.rectangle(in: upright))
        var crop = CoverCrop(box: nil, position: position.dependsOnPixels && image.isAnimated ? .center : position)
        if roundsDown { crop.rounding = .down }
        return try crop.apply(image, context: context)
    }
}
