import DarkroomVips

/// How pixels are resampled.
public enum Resampling: String, Codable, Sendable, CaseIterable {
    /// The decoder shrinks as far as it can while it still covers the target.
    case fast
    /// The decoder leaves the resampler a factor of at least two.
    case accurate
    /// As `accurate`, in linear light.
    case linear

    /// How many times the target's size the decoder has to leave on each side.
    public var headroom: Int { self == .fast ? 1 : 2 }
}

/// Scales to the size that box and fit come to. It tells the decoder beforehand how much it needs, and then goes the rest
/// of the way exactly: no profile ever stretches what a decoder's shrink rounded off.
public struct Resize: Transform, Hashable {
    /// What the picture is scaled to.
    public var box: Box
    /// How it fills a box of two sides.
    public var fit: Fit
    /// Whether a picture smaller than its box is scaled up.
    public var enlarge: Bool
    /// How it is scaled.
    public var resampling: Resampling
    /// Nil = what comes out too large is refused.
    public var limits: ScaleDownLimits?

    /// Scales into a box, without enlarging unless said otherwise.
    public init(
        box: Box, fit: Fit = .inside, enlarge: Bool = false, resampling: Resampling = .fast, limits: ScaleDownLimits? = nil
    ) {
        self.box = box
        self.fit = fit
        self.enlarge = enlarge
        self.resampling = resampling
        self.limits = limits
    }

    /// Nil where the recipe has neither a box nor limits.
    init?(_ recipe: Recipe, within limits: ScaleDownLimits?) {
        guard limits != nil || recipe.box.width != nil || recipe.box.height != nil else { return nil }
        let oneSided = recipe.box.size == nil
        self.init(
            box: recipe.box, fit: oneSided ? .inside : recipe.fit, enlarge: recipe.enlarge,
            resampling: recipe.resampling, limits: limits)
    }

    public var key: String {
        let sides = "\(box.width.map(String.init) ?? "-"),\(box.height.map(String.init) ?? "-")"
        let limits = limits.map { ",\($0.key)" } ?? ""
        return "resize(\(sides),\(fit.rawValue),\(enlarge ? "enlarge" : "shrink"),\(resampling.rawValue)\(limits))"
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let plan = limits.map { plan.reduced(to: $0.maxSourcePixels) } ?? plan
        let geometry = ResizeGeometry(source: plan.size, box: box, fit: fit, enlarge: enlarge || plan.isVector)
        // What `cover` scales to has to cover a canvas that is within the limits already.
        guard let limits, fit != .cover else { return plan.scaling(to: geometry.scaled) }
        return plan.scaling(to: limits.fitted(geometry.scaled))
    }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let target = context.plan.size
        guard target != picture.size || picture.extent != Extent(picture.size) else { return picture }
        let sampler = ExactSampler(extent: picture.extent, target: target, linearLight: resampling == .linear)
        return try picture.mapFrames { frame throws(VipsError) in try sampler.sample(frame) }
            .fillingRaster()
    }
}

extension Picture {
    /// The picture after a step that brought its true extent to the whole raster.
    func fillingRaster() -> ImageFrames {
        var picture = self
        picture.extent = Extent(size)
        return picture
    }
}
