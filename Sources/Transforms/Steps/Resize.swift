import DarkroomVips

/// The trade-off between speed and quality when pixels are resampled.
public enum Resampling: String, Codable, Sendable, CaseIterable {
    /// The decoder delivers at least 1.3 times the target size on each side: with less left to resample, edges become
    /// visibly uneven.
    case fast
    /// The decoder delivers at least twice the target size on each side.
    case accurate
    /// Like `accurate`, but resampled in linear light.
    case linear

    /// How many times the target size the decoder delivers at least on each side.
    public var headroom: Double { self == .fast ? 1.3 : 2 }
}

/// Scales to the size that box and fit give. The plan lets the decoder shrink first; the rest is resampled exactly, so
/// that rounding in the decoder never stretches the image, whatever the resampling.
public struct Resize: Transform, Hashable {
    /// The box to scale to.
    public var box: Box
    /// How the image fits a box of two sides.
    public var fit: Fit
    /// Whether an image smaller than its box is scaled up.
    public var enlarge: Bool
    /// How pixels are resampled.
    public var resampling: Resampling
    /// The limits to scale an oversized result down to; nil = it is refused.
    public var limits: ScaleDownLimits?

    /// Scales into a box, by default without enlarging.
    public init(
        box: Box, fit: Fit = .inside, enlarge: Bool = false, resampling: Resampling = .fast,
        limits: ScaleDownLimits? = nil
    ) {
        self.box = box
        self.fit = fit
        self.enlarge = enlarge
        self.resampling = resampling
        self.limits = limits
    }

    /// Nil if the recipe has neither a box nor limits.
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
        // `cover` scales to cover a canvas that is within the limits already.
        guard let limits, fit != .cover else { return plan.scaling(to: geometry.scaled, inLinearLight: isLinear) }
        return plan.scaling(to: limits.fitted(geometry.scaled), inLinearLight: isLinear)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let target = context.plan.size
        guard target != image.size || image.extent != Extent(image.size) else { return image }
        let sampler = ExactSampler(extent: image.extent, target: target, linearLight: isLinear)
        return try image.mapFrames { frame throws(VipsError) in try sampler.sample(frame) }
            .fillingRaster()
    }

    private var isLinear: Bool { resampling == .linear }
}

extension ImageFrames {
    /// The image after a step that scaled its extent to the whole raster.
    func fillingRaster() -> ImageFrames {
        var image = self
        image.extent = Extent(size)
        return image
    }
}
