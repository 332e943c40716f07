/// Crops a rectangle of the image (libvips `extract_area`).
public struct Crop: Hashable, Codable, Sendable {
    /// How percentages become pixels, and what happens to a rectangle that does not lie within the image.
    package enum Rule: String, Codable, Sendable {
        /// Two percentages round their two edges, so that they stay within the image if their sum is at most 100 %.
        /// Other rectangles are refused if they do not lie within the image.
        case strict = "crop"
        /// What exceeds the image is left out, and a corner outside means the upper left corner.
        case cut
        /// Lengths are rounded down. What exceeds the image is left out, and a rectangle outside changes nothing.
        case excerpt
        /// Two percentages round their two edges. Otherwise like ``excerpt``.
        case loose = "loosecrop"
    }

    /// The distance from the left edge of the image, at least 0.
    public var x: Length
    /// The distance from the upper edge of the image, at least 0.
    public var y: Length
    /// At least 1 pixel.
    public var width: Length
    /// At least 1 pixel.
    public var height: Length
    package var rule = Rule.strict
    /// Whether a loose crop never keeps the last column and the last row of the image.
    package var dropsLastPixel = false

    /// A rectangle in pixels.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.init(x: .pixels(x), y: .pixels(y), width: .pixels(width), height: .pixels(height))
    }

    /// A rectangle of an image whose width and height are 100 %.
    public init(x: Length, y: Length, width: Length, height: Length) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// Makes the image upright, by its EXIF orientation or by an orientation in the request.
public struct Orient: Hashable, Sendable {
    /// The orientation to apply.
    public enum Rule: Hashable, Codable, Sendable {
        /// The source's own EXIF orientation.
        case auto
        /// Pixels stay as they are stored.
        case none
        /// This EXIF orientation, 1…8, whatever the source states.
        case exif(Int)
    }

    /// The orientation to apply.
    public var rule: Rule

    /// Applies this orientation.
    public init(_ rule: Rule) {
        self.rule = rule
    }
}

/// Cuts a number of pixels off each side of the upright source, before anything is scaled.
public struct Inset: Hashable, Codable, Sendable {
    /// What is cut off each side, in pixels of the source.
    public var sides: Padding

    /// Cuts off these sides.
    public init(_ sides: Padding) {
        self.sides = sides
    }
}

/// Scales the image to a part of its size, at its place in a list of steps.
public struct Scale: Hashable, Codable, Sendable {
    /// The accepted values of ``part``, in percent.
    public static let percents = 0.01...100.0

    /// The part of each side, one of `percents`.
    public var part: Percentage

    /// Scales both sides to this part.
    public init(_ part: Percentage) {
        self.part = part
    }
}

/// The widths of the space around an image, in pixels of the result.
public struct Padding: Hashable, Codable, Sendable {
    /// At least 0.
    public var top: Int
    /// At least 0.
    public var right: Int
    /// At least 0.
    public var bottom: Int
    /// At least 0.
    public var left: Int

    /// Space on each side, clockwise from the top.
    public init(top: Int, right: Int, bottom: Int, left: Int) {
        self.top = top
        self.right = right
        self.bottom = bottom
        self.left = left
    }

    /// The same space on every side.
    public init(_ width: Int) {
        self.init(top: width, right: width, bottom: width, left: width)
    }
}

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
