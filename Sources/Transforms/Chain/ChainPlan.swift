/// What the chain comes to, worked out from the header alone, step by step, before a pixel is decoded.
public struct ChainPlan: Hashable, Sendable {
    /// What the decoder is asked for.
    public enum Decode: Hashable, Sendable {
        /// No step has said anything yet: every pixel.
        case undecided
        /// Every pixel, whatever later steps say.
        case everyPixel
        /// At least this size of the source as stored (before orientation), so that a resize to it loses nothing.
        case covering(PixelSize)
    }

    /// The source's size as stored, one frame.
    public let source: PixelSize
    /// EXIF orientation 1…8 of the source.
    public let sourceOrientation: Int
    /// Whether the source has no pixels of its own (SVG), so that it can be drawn at any size.
    public let isVector: Bool
    /// The size after the steps so far.
    public private(set) var size: PixelSize
    /// What the decoder is asked for so far.
    public private(set) var decode: Decode = .undecided
    /// The largest raster that any step so far gives, the source itself aside.
    public private(set) var largest: PixelSize
    /// Whether the picture has an alpha channel after the steps so far.
    private(set) var hasAlpha: Bool
    /// Whether every step so far knew what it gives.
    private(set) var isSizeKnown = true
    /// Whether the chain makes do with fewer pixels than the source has, since the source is over the limits.
    private(set) var isReduced = false
    private let shrinking: ShrinkOnLoad
    private var isTransposed = false

    /// A plan that no step has seen yet.
    public init(source: PixelSize, orientation: Int = 1, isVector: Bool = false) {
        self.init(source: source, orientation: orientation, isVector: isVector, hasAlpha: false, shrinking: .never)
    }

    init(source: PixelSize, orientation: Int, isVector: Bool, hasAlpha: Bool, shrinking: ShrinkOnLoad) {
        self.source = source
        self.sourceOrientation = orientation
        self.isVector = isVector
        self.hasAlpha = hasAlpha
        self.shrinking = shrinking
        self.size = source
        self.largest = PixelSize(width: 1, height: 1)
    }

    /// The step may look at any pixel, so the decoder must not shrink.
    public func needingEveryPixel() -> ChainPlan {
        var plan = self
        if plan.decode == .undecided { plan.decode = .everyPixel }
        return plan
    }

    /// The step may give any size: it learns that from pixels.
    func ofUnknownSize() -> ChainPlan {
        var plan = needingEveryPixel()
        plan.isSizeKnown = false
        return plan
    }

    /// The step gives a picture with an alpha channel, or without one.
    func giving(alpha: Bool) -> ChainPlan {
        var plan = self
        plan.hasAlpha = alpha
        return plan
    }

    /// What the step's raster is where the decoder gave one of that size: its own until a step has said how large it has to be.
    func raster(decoded: PixelSize) -> PixelSize {
        guard decode == .undecided else { return size }
        return isTransposed ? decoded.transposed : decoded
    }

    /// The step exchanges width and height before anything is scaled.
    func transposed() -> ChainPlan {
        var plan = self
        plan.size = size.transposed
        plan.isTransposed.toggle()
        return plan
    }

    /// The step is content with what a decoder of a source over `maxPixels` can give within them, unless a step before it was not.
    func reduced(to maxPixels: Int) -> ChainPlan {
        guard decode == .undecided, source.area > maxPixels,
            let reach = shrinking.reach(of: source, within: maxPixels)
        else { return self }
        var plan = self
        plan.size = isTransposed ? reach.transposed : reach
        plan.isReduced = true
        return plan
    }

    /// The step scales to `scaled`; the first to say so decides how far the decoder may shrink.
    func scaling(to scaled: PixelSize) -> ChainPlan {
        var plan = giving(scaled)
        if plan.decode == .undecided { plan.decode = .covering(isTransposed ? scaled.transposed : scaled) }
        return plan
    }

    /// The step gives a picture of `size`.
    public func giving(_ size: PixelSize) -> ChainPlan {
        var plan = self
        plan.size = size
        if size.area > max(largest.area, source.area) { plan.largest = size }
        return plan
    }
}
