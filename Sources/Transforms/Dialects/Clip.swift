import DarkroomRequests

/// Crops a resized image on each side that exceeds its canvas. Other sides, which only some rules leave, stay shorter.
struct Clip: Transform, Hashable {
    /// Which part is kept. Of an animation, `entropy` and `attention` keep the center, and so do faces if none is
    /// found.
    var position: Position

    /// The crop of the source before a ``Position/point(x:y:)``; nil = the whole source.
    var crop: Crop?

    init(position: Position, after crop: Crop? = nil) {
        self.position = position
        if case .point = position { self.crop = crop }
    }

    var key: String { "clip(\(position.key)\(crop.map { ",\($0.key)" } ?? ""))" }

    var cost: TransformCost { CoverCrop(box: nil, position: position).costWithoutOverview }

    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.changingSize(to: plan.size.clipped(to: plan.canvas ?? plan.size))
    }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let size = context.plan.size
        guard size != image.size else { return image }
        let upright = context.plan.uprightSource
        let position = try position.pinned(context.plan, cropped: crop?.rectangle(in: upright))
        guard position.dependsOnPixels, image.isAnimated else {
            return try CoverCrop(box: nil, position: position).apply(image, context: context)
        }
        let hasFaces = try position.faces != nil && !context.faces(of: image).isEmpty
        return try CoverCrop(box: nil, position: hasFaces ? position : .center).apply(image, context: context)
    }
}
