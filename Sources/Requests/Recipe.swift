/// The requested changes of an image, as plain values without an order. A recipe can be sent to another process.
///
/// To add a step: write its value in `Steps` and its work in the room of transforms, give it a property here, a line in
/// `darkroomSteps` or in `effects`, and a place in `DialectOrders`.
public struct Recipe: Hashable, Codable, Sendable {
    /// The hash that the source must have; nil = any.
    public var digest: SourceDigest?
    /// The orientation to apply; by default the source's own.
    public var orientation: Orient.Rule = .auto
    /// Hides faces before everything else shows them; nil = they stay.
    public var redaction: Redaction?
    /// What is cut off each side before everything else; nil = nothing.
    public var inset: Inset?
    /// A rectangle of the upright source, which must lie within it; nil = the whole image.
    public var crop: Crop?
    /// A border removed after the crop; nil = none.
    public var trim: Trim?
    /// A rectangle cut out of the scaled and turned image, which need not lie within it; nil = the whole image.
    public var cut: Crop?
    /// The box that the image is scaled to; without sides it is not scaled.
    public var box = Box(width: nil, height: nil)
    /// How the image fits a box of two sides.
    public var fit: Fit = .inside
    /// Whether an image smaller than its box is scaled up.
    public var enlarge = false
    /// Which part `cover` keeps and where `contain` places the image.
    public var position: Position = .center
    /// How pixels are resampled: fast, accurate, or in linear light.
    public var resampling: Resampling
    /// Whether an oversized result, or an oversized source that its decoder can shrink, is scaled down to the limits
    /// instead of refused (SDWebImage's `scaleDownLargeImages`).
    public var scaleDown = false
    /// Clockwise rotation in degrees, at least 0 and below 360.
    public var rotationDegrees = 0.0
    /// Mirrored top to bottom.
    public var flip = false
    /// Mirrored left to right.
    public var flop = false
    /// Fills the canvas of `contain`, the corners of a rotation and transparent pixels; nil = they stay transparent if
    /// the output format supports alpha, and become white otherwise, and the canvas of an opaque image is white.
    public var background: Color?
    /// Whether the canvas of `contain` is filled with the image itself, enlarged and blurred, instead of `background`.
    public var blursBackdrop = false
    /// Fills the canvas of `contain` instead of `background`; nil = `background` fills it.
    public var canvasBackground: Color?
    /// Fills the corners of a rotation instead of `background`; nil = `background` fills them.
    public var cornerBackground: Color?
    /// Nil = none.
    public var blur: Blur?
    /// Nil = none.
    public var sharpen: Sharpen?
    /// Nil = unchanged.
    public var brightness: Brightness?
    /// Nil = unchanged.
    public var lightness: Lightness?
    /// Nil = unchanged.
    public var contrast: Contrast?
    /// Nil = unchanged.
    public var saturation: Saturation?
    /// Nil = unchanged.
    public var hue: Hue?
    /// Nil = unchanged.
    public var gamma: Gamma?
    /// Nil = none.
    public var tint: Tint?
    /// Nil = none.
    public var filter: Filter?
    /// Nil = none.
    public var duotone: Duotone?
    /// Nil = none.
    public var pixelate: Pixelate?
    /// Effects that run in this order, after the effects above.
    public var steps: [EffectStep] = []
    /// A text on the image; nil = none.
    public var text: Text?
    /// A border along the inside of the image's outline; nil = none.
    public var border: BorderStyle?
    /// Round corners; nil = right angles. A mask takes precedence.
    public var radius: CornerRadii?
    /// The shape that the image is cut to; nil = none.
    public var mask: MaskShape?
    /// The color around the mask's shape; nil = transparent, which becomes white in a format without alpha.
    public var maskBackground: Color?
    /// Whether the result is as large as the mask's shape instead of the image.
    public var trimsMask = false
    /// Space around the image; nil = none.
    public var padding: Padding?
    /// Another image drawn onto the image; nil = none.
    public var mark: Mark?
    /// Drawn onto the finished image in this order, at most ``Layer/maxCount``.
    public var layers: [Layer] = []
    /// Where images of generative models get a label, as their last step.
    public var aiLabel = AILabel.Place.none
    /// The rules for the order of steps and for sizes.
    public var rules = Dialect.darkroom
    /// The color space of the result, if its format can state it and no step draws, or changes colors.
    public var gamut = Gamut.sRGB
    /// The bits of a sample of the result, if its format can hold them and steps only scale and move pixels.
    public var depth = SampleDepth.eight
    /// The geometry that only the rules of imgproxy have; nil = their defaults.
    public var layout: Layout?

    /// A recipe that only orients the image and converts it to sRGB.
    public init(resampling: Resampling = .fast) {
        self.resampling = resampling
    }
}

/// Darkroom or another service: whose URLs a server accepts, and whose order of steps and sizes a chain has.
public enum Dialect: String, Codable, Sendable, CaseIterable {
    case darkroom
    /// wsrv.nl, with the rules of weserv/images, its software.
    ///
    /// Without enlarging, `cover` and `fill` keep the box's sides that the image reaches instead of its aspect ratio. A
    /// quarter turn and mirroring come before `cover` crops and `contain` extends, another rotation after it. A crop
    /// comes before scaling and a cut right after cropping; parts of them outside the image are left out. The
    /// background comes before the mask, and in an animation `trim` removes columns only.
    case wsrv
    /// imgproxy. ``Layout`` has geometry that exists only with its rules.
    ///
    /// The image is trimmed before orientation, then rotated, cropped, scaled and cut. Colors and details follow, then
    /// canvases and padding, the background, and the mark. The pixel ratio never enlarges an image.
    case imgproxy
    /// thumbor and imagor, with the rules of imagor.
    ///
    /// Sizes are libvips' thumbnail sizes. The part of a crop outside the source is left out, and `trim` examines the
    /// whole source. Mirroring comes right after the resize, and before the listed steps.
    case thumbor
    /// Cloudflare Images.
    ///
    /// The source is cut, mirrored and rotated by quarter turns before it is scaled. With `outside`, the image is
    /// cropped to the box, and a side that does not reach the box keeps its length. With `outside` and enlarging, a
    /// smaller image is enlarged to fit into the box, and a larger image stays unchanged.
    case cloudflare
}
