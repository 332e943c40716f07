/// What a request wants done to the pixels: plain values, no order. They can cross to another process.
///
/// Two recipes that mean the same picture compare equal after `TransformChain.init(_:)` has left out what does nothing.
public struct Recipe: Hashable, Codable, Sendable {
    /// Which way up.
    public var orientation: Orient.Rule = .auto
    /// Cut before anything is scaled; nil = nothing is.
    public var crop: Crop?
    /// Border cut after the crop; nil = none is.
    public var trim: Trim?
    /// What the picture is scaled to; without sides it is not.
    public var box = Box(width: nil, height: nil)
    /// How it fills a box of two sides.
    public var fit: Fit = .inside
    /// Whether a picture smaller than its box is scaled up.
    public var enlarge = false
    /// Where `cover` cuts and `contain` places.
    public var position: Position = .center
    /// How it is scaled: fast, accurate, or in linear light.
    public var resampling: Resampling
    /// Whether a result, or a source that its decoder can shrink, is scaled down to the limits instead of refused
    /// (SDWebImage's `scaleDownLargeImages`).
    public var scaleDown = false
    /// Degrees clockwise, 0…359.
    public var rotationDegrees = 0
    /// Mirrored top to bottom.
    public var flip = false
    /// Mirrored left to right.
    public var flop = false
    /// Fills a `contain` canvas, corners and transparency; nil = they stay transparent where the format can hold that.
    public var background: Color?
    /// Nil = none.
    public var blur: Blur?
    /// Nil = none.
    public var sharpen: Sharpen?
    /// Nil = as it is.
    public var brightness: Brightness?
    /// Nil = as it is.
    public var contrast: Contrast?
    /// Nil = as it is.
    public var saturation: Saturation?
    /// Nil = as it is.
    public var hue: Hue?
    /// Nil = as it is.
    public var gamma: Gamma?
    /// Nil = none.
    public var tint: Tint?
    /// Nil = none.
    public var filter: Filter?

    /// A recipe that leaves a picture as it is, but upright and in sRGB.
    public init(resampling: Resampling = .fast) {
        self.resampling = resampling
    }

    /// What steps may fill with at once. A translucent background is left to `Flatten`, or it would be laid on twice.
    var solidBackground: Color? { background?.alpha == 255 ? background : nil }

    /// The recipe with a canvas that is within the limits, where its result is to be of the canvas's exact size.
    fileprivate func fitting(_ limits: ScaleDownLimits?) -> Recipe {
        guard let limits, let canvas = box.size, fit == .cover || fit == .contain else { return self }
        var recipe = self
        let fitted = limits.fitted(canvas)
        recipe.box = Box(width: fitted.width, height: fitted.height)
        return recipe
    }
}

extension TransformChain {
    /// The order of operations. It can be read aloud, and it is the only place that knows it.
    ///
    /// Colours are brought to sRGB right after scaling, on the fewest pixels, because a canvas, a background and every
    /// filter are given in sRGB.
    ///
    /// - Parameter limits: what `Recipe.scaleDown` scales down to; without it they play no part. Pass those of the `ImageJob`.
    public init(_ given: Recipe, limits: PixelLimits = PixelLimits()) {
        let fit = given.scaleDown ? ScaleDownLimits(limits, rotationDegrees: given.rotationDegrees % 360) : nil
        let recipe = given.fitting(fit)
        let placed = recipe.box.size == nil ? nil : recipe.fit
        let steps: [(any Transform)?] = [
            recipe.orientation == .none ? nil : Orient(recipe.orientation),
            recipe.crop,
            recipe.trim,
            Resize(recipe, within: fit),
            ToSRGB(),
            placed == .cover ? CoverCrop(recipe) : nil,
            placed == .contain ? ContainExtend(recipe) : nil,
            recipe.rotationDegrees % 360 == 0 ? nil : Rotate(recipe),
            recipe.flip ? Flip() : nil,
            recipe.flop ? Flop() : nil,
            recipe.brightness,
            recipe.saturation,
            recipe.hue,
            recipe.contrast,
            recipe.gamma,
            recipe.sharpen,
            recipe.filter,
            recipe.blur,
            recipe.tint,
            recipe.background.map(Flatten.init),
        ]
        self.init(steps.compactMap { $0 })
        self.recipe = given
    }
}
