/// Removes a border of one color, by default the color of the upper left pixel.
///
/// The outermost pixel that differs stays, unless the search ignores specks. Transparency is not a color: around a
/// drawing on transparent ground, only transparent pixels are removed.
///
/// In an animation the same border is removed from every frame: the border that all frames have in common. An image
/// that consists of border only, or is less than 3 pixels wide or high, stays unchanged.
public struct Trim: Hashable, Codable, Sendable {
    /// The accepted thresholds, on the scale of 8-bit samples.
    public static let thresholds = 1...254

    /// How much a sample of the border may differ from the border's color, one of `thresholds`.
    public var threshold: Int
    /// The border's color; nil = the color of the upper left pixel. Its alpha is ignored.
    public var background: Color?
    /// The corner from which the color of the border is taken, without `background`.
    public var corner = Corner.topLeft
    /// Whether rows of an animation are never removed.
    public var keepsHeightOfAnimations = false
    /// The color behind transparent pixels in a search that ignores specks; nil = a search that keeps them.
    package var backdrop: Color?
    /// Whether as much is removed from the left as from the right.
    package var isEvenAcross = false
    /// Whether as much is removed from the top as from the bottom.
    package var isEvenDown = false
    /// A crop of the same image at the same time; nil = none.
    package var within: Crop?

    /// A corner of the image.
    public enum Corner: String, Codable, Sendable, CaseIterable {
        case topLeft = "top-left"
        case bottomRight = "bottom-right"
    }

    /// Removes a border whose samples differ by at most `threshold`.
    public init(threshold: Int, background: Color? = nil) {
        self.threshold = threshold
        self.background = background
    }
}
