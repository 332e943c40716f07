/// Gaussian blur (libvips `gaussblur`).
public struct Blur: Hashable, Codable, Sendable {
    /// The accepted standard deviations, in pixels of the result.
    public static let sigmas = 0.3...1000

    /// The standard deviation, one of `sigmas`; nil = a mild 3×3 box blur.
    public var sigma: Double?

    /// A Gaussian blur of this standard deviation, or a mild blur by default.
    public init(sigma: Double? = nil) {
        self.sigma = sigma
    }
}

/// Sharpens lightness without changing hues (libvips `sharpen`).
public struct Sharpen: Hashable, Codable, Sendable {
    /// The accepted standard deviations, in pixels of the result.
    public static let sigmas = 0.000001...10

    /// The standard deviation, one of `sigmas`; nil = a mild 3×3 sharpening.
    public var sigma: Double?
    /// How much flat areas are sharpened, one of `slopes`; nil = not at all.
    public var flat: Double?
    /// How much jagged areas are sharpened, one of `slopes`; nil = 3.
    public var jagged: Double?

    /// The accepted values of ``flat`` and ``jagged``.
    public static let slopes = 0.0...1_000_000.0

    /// A sharpening of this standard deviation, or a mild one by default, which has no areas.
    public init(sigma: Double? = nil, flat: Double? = nil, jagged: Double? = nil) {
        self.sigma = sigma
        self.flat = flat
        self.jagged = jagged
    }
}

/// Replaces blocks of pixels by their mean color (libvips `shrink`, `zoom`).
public struct Pixelate: Hashable, Codable, Sendable {
    /// The accepted sides of a block, in pixels of the result.
    public static let pixels = 2...1000
    /// The accepted sides of a block, in percent of the result's width.
    public static let percents = 0.1...100.0

    /// The side of a block, in `pixels` or `percents`. Blocks begin at the upper left corner.
    public var block: Length
    /// Whether the image grows or shrinks to a whole number of blocks.
    package var keepsBlocksWhole = false

    /// Blocks of this side.
    public init(block: Length) {
        self.block = block
    }
}

/// A color effect without parameters.
///
/// `greyscale` keeps luminance only, `sepia` is luminance in warm brown, `negate` inverts every color sample, and
/// `bitonal` makes each pixel black or white.
public enum Filter: String, Sendable, Hashable, CaseIterable, Codable {
    case greyscale
    case sepia
    case negate
    case bitonal
}
