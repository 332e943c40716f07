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
