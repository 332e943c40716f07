public import DarkroomRequests

/// The plan of a chain, derived step by step from the header alone, before a pixel is decoded.
public struct ChainPlan: Hashable, Sendable {
    /// The pixels that the decoder has to deliver.
    public enum Decode: Hashable, Sendable {
        /// No step has decided yet: every pixel.
        case undecided
        /// Every pixel, whatever later steps require.
        case everyPixel
        /// At least this size of the source as stored (before orientation), so that a resize to it loses no detail.
        case covering(PixelSize)
    }

    /// The source's size as stored, one frame.
    public let source: PixelSize
    /// EXIF orientation 1…8 of the source.
    public let sourceOrientation: Int
    /// Whether the source is a vector image (SVG), which can be drawn at any size.
    public let isVector: Bool
    /// Whether the source was compressed with loss, as photographs are.
    let isPhotographic: Bool
    /// The size after the steps so far.
    public private(set) var size: PixelSize
    /// The size that the resize intends for the result: the size that a later step crops or extends to.
    private(set) var canvas: PixelSize?
    /// The sizes of a ``LayoutResize``, for the steps after it.
    private(set) var layout: LayoutSizes?
    /// The pixels that the steps so far require of the decoder.
    public private(set) var decode: Decode = .undecided
    /// The largest raster that any step so far produces, not counting the source.
    public private(set) var largest: PixelSize
    /// Whether the image has an alpha channel after the steps so far.
    private(set) var hasAlpha: Bool
    /// Whether every step so far knew the size that it produces.
    private(set) var isSizeKnown = true
    /// Whether the chain accepts a source that the decoder has shrunk to the limits.
    private(set) var isReduced = false
    /// Pixels that the steps so far resample, unless the decoder delivers exactly the size that they scale to.
    private var resampledArea = 0
    /// Pixels of the raster that a step has filled with one color. Encoders take less time for them.
    private(set) var plainArea = 0
    /// The factor by which the steps so far amplify the noise of flat areas.
    private var noiseGain = 1.0
    /// Whether the image is resampled in linear light.
    private(set) var isLinear = false
    private let shrinking: ShrinkOnLoad
    private var isTransposed = false

    /// The plan before the first step.
    public init(source: PixelSize, orientation: Int = 1, isVector: Bool = false) {
        self.init(
            source: source, orientation: orientation, isVector: isVector, isPhotographic: false, hasAlpha: false,
            shrinking: .never)
    }

    init(
        source: PixelSize, orientation: Int, isVector: Bool, isPhotographic: Bool, hasAlpha: Bool,
        shrinking: ShrinkOnLoad
    ) {
        self.source = source
        self.sourceOrientation = orientation
        self.isVector = isVector
        self.isPhotographic = isPhotographic
        self.hasAlpha = hasAlpha
        self.shrinking = shrinking
        self.size = source
        self.largest = PixelSize(width: 1, height: 1)
    }

    /// The size of the source as its orientation shows it.
    var uprightSource: PixelSize { sourceOrientation > 4 ? source.transposed : source }

    private func changed(_ change: (inout ChainPlan) -> Void) -> ChainPlan {
        var plan = self
        change(&plan)
        return plan
    }

    /// The plan after a step that may read any pixel, so that the decoder must not shrink the source.
    public func requiringEveryPixel() -> ChainPlan {
        changed { if $0.decode == .undecided { $0.decode = .everyPixel } }
    }

    /// The plan after a step that produces an image of this size.
    public func changingSize(to size: PixelSize) -> ChainPlan {
        var plan = self
        plan.size = size
        // The plain area may be the part that is cut off.
        plan.plainArea = max(0, plainArea - max(0, self.size.area - size.area))
        if size.area > max(largest.area, source.area) { plan.largest = size }
        return plan
    }

    /// The plan after a step that puts the image on a canvas of this size, filled with one color.
    func extending(to canvas: PixelSize) -> ChainPlan {
        changingSize(to: canvas).changed { $0.plainArea += max(0, canvas.area - size.area) }
    }

    /// The plan after a step that may draw anywhere.
    func withoutPlainArea() -> ChainPlan { changed { $0.plainArea = 0 } }

    /// The plan after a step that amplifies the noise of flat areas.
    func amplifyingNoise(by factor: Double) -> ChainPlan { changed { $0.noiseGain *= factor } }

    /// Whether noise becomes black and white, as in a dithered drawing.
    var isNoiseSaturated: Bool { noiseGain > 100 }

    /// The plan after a step that learns its size from pixels.
    func withUnknownSize() -> ChainPlan { requiringEveryPixel().changed { $0.isSizeKnown = false } }

    /// The plan after a step that produces an image with an alpha channel, or without one.
    func withAlpha(_ hasAlpha: Bool) -> ChainPlan { changed { $0.hasAlpha = hasAlpha } }

    /// The plan after a step that exchanges width and height before anything is scaled.
    func transposed() -> ChainPlan {
        changed {
            $0.size = size.transposed
            $0.isTransposed.toggle()
        }
    }

    /// The plan after a step that, like all earlier steps, accepts the source shrunk to `maxPixels` by its decoder.
    func reduced(to maxPixels: Int) -> ChainPlan {
        guard decode == .undecided, source.area > maxPixels,
            let reachable = shrinking.largestSize(of: source, within: maxPixels)
        else { return self }
        return changed {
            $0.size = isTransposed ? reachable.transposed : reachable
            $0.isReduced = true
        }
    }

    /// The plan after a step that scales to `scaled`, as the way to `canvas`; the first such step decides how far the
    /// decoder may shrink.
    func scaling(to scaled: PixelSize, canvas: PixelSize, inLinearLight isLinear: Bool) -> ChainPlan {
        var plan = changingSize(to: scaled)
        plan.canvas = canvas
        // Cropped pixels are not computed.
        if scaled != size { plan.resampledArea += min(scaled.area, canvas.area) }
        plan.isLinear = self.isLinear || isLinear
        if plan.decode == .undecided { plan.decode = .covering(isTransposed ? scaled.transposed : scaled) }
        return plan
    }

    /// How a resize averages. Drawings and texts, which are mostly stored without loss, are scaled as browsers scale:
    /// in linear light, dark lines on white become thinner.
    func averaging(for resampling: Resampling) -> SampleAveraging {
        switch resampling {
        case .fast: isPhotographic ? .lightIfFast : .encoded
        case .accurate: .encoded
        case .linear: .light
        }
    }

    /// The plan after a ``LayoutResize``.
    func laidOut(by sizes: LayoutSizes) -> ChainPlan { changed { $0.layout = sizes } }

    /// Pixels that are resampled if the decoder delivers one frame of size `raster`.
    func resampledArea(of raster: PixelSize) -> Int {
        if case .covering(let scaled) = decode, scaled == raster { return 0 }
        return resampledArea
    }

    /// The raster after the steps so far, if the decoder delivers a raster of size `decoded`: the decoder's raster
    /// until a step has set a size.
    func raster(decoded: PixelSize) -> PixelSize {
        decode != .undecided ? size : isTransposed ? decoded.transposed : decoded
    }
}
