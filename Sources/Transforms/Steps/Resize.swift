public import DarkroomRequests

/// Scales to the size that box and fit give. The plan lets the decoder shrink first; the remaining factor is resampled
/// exactly, so that rounding in the decoder never stretches the image, whatever the resampling.
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
    /// The sizes of another service; nil = Darkroom's own.
    var sizes: DialectSizes?

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
    init?(_ recipe: Recipe, within limits: ScaleDownLimits?, sizes: DialectSizes? = nil) {
        guard limits != nil || !recipe.box.isEmpty else { return nil }
        self.init(
            box: recipe.box, fit: sizes != nil || recipe.box.isTwoSided ? recipe.fit : .inside,
            enlarge: recipe.enlarge, resampling: recipe.resampling, limits: limits)
        self.sizes = sizes
    }

    public var key: String {
        let limits = limits.map { ",\($0.key)" } ?? ""
        let sizes = sizes.map { ",\($0.key)" } ?? ""
        let way = enlarge ? "enlarge" : "shrink"
        return "resize(\(box.key),\(fit.rawValue),\(way),\(resampling.rawValue)\(limits)\(sizes))"
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let reduced = limits.map { plan.reduced(to: $0.maxSourcePixels) } ?? plan
        let geometry = geometry(of: reduced, unreduced: plan.size)
        return reduced.scaling(to: geometry.scaled, canvas: geometry.canvas, inLinearLight: resampling == .linear)
    }

    /// - Parameter unreduced: the size that a relative box is relative to.
    private func geometry(of plan: ChainPlan, unreduced: PixelSize) -> ResizeGeometry {
        var box = box.measured(in: unreduced, for: fit)
        if let geometry = sizes?.geometry(
            of: plan.size, box: box, fit: fit, enlarge: enlarge, isVector: plan.isVector)
        {
            return limits.map(geometry.fitted) ?? geometry
        }
        // The recipe has scaled a box of fixed sides down already.
        if let limits, !self.box.isFixed, fit == .cover || fit == .contain { box = box.fitted(to: limits) }
        let geometry = ResizeGeometry(source: plan.size, box: box, fit: fit, enlarge: enlarge || plan.isVector)
        // `cover` scales to cover a canvas that is within the limits already.
        guard let limits, fit != .cover else { return geometry }
        return geometry.fitted(to: limits)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.resampled(to: context.plan.size, averaging: context.plan.averaging(for: resampling))
    }
}

extension Box {
    /// The box's part of a transform's key.
    fileprivate var key: String {
        let sides = "\(horizontal.map { "\($0)" } ?? "-"),\(vertical.map { "\($0)" } ?? "-")"
        let ratio = ratio.map { ",ratio \($0)" } ?? ""
        let least = "\(minWidth.map(String.init) ?? "-") \(minHeight.map(String.init) ?? "-")"
        return sides + ratio + (swapsSides ? ",swap" : "") + (hasMinimum ? ",least \(least)" : "")
    }

    /// The box in pixels with a canvas within the limits. The least size gives way to them.
    fileprivate func fitted(to limits: ScaleDownLimits) -> Box {
        guard let size else { return self }
        let fitted = limits.fitted(size)
        return Box(
            horizontal: .pixels(fitted.width), vertical: .pixels(fitted.height),
            minWidth: minWidth.map { min($0, fitted.width) }, minHeight: minHeight.map { min($0, fitted.height) })
    }
}
