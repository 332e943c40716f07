/// The width and color of a border.
public struct BorderStyle: Hashable, Codable, Sendable {
    /// The accepted widths, in pixels of the result.
    public static let widths = 1...999

    /// One of `widths`.
    public var width: Int
    public var color: Color

    public init(width: Int, color: Color) {
        self.width = width
        self.color = color
    }
}

/// Rounds all corners alike, at its place in a list of steps.
public struct RoundCorners: Hashable, Codable, Sendable {
    /// The accepted radii, in pixels of the image.
    public static let radii = 0...9999

    /// The radius along the width, one of `radii`; at most half the width has an effect.
    public var across: Int
    /// The radius along the height.
    public var down: Int
    /// The color outside the corners and below transparent pixels; nil = transparent.
    public var background: Color?

    /// Corners of these radii.
    public init(across: Int, down: Int, background: Color? = nil) {
        self.across = across
        self.down = down
        self.background = background
    }
}

/// The radii of an image's round corners, in the terms of CSS `border-radius`: pixels of the result from 0, or 0 to 100
/// percent of the image's width across and of its height down.
public struct CornerRadii: Hashable, Codable, Sendable {
    public var topLeft: Length
    public var topRight: Length
    public var bottomRight: Length
    public var bottomLeft: Length

    /// A radius for each corner, clockwise from the upper left.
    public init(topLeft: Length, topRight: Length, bottomRight: Length, bottomLeft: Length) {
        self.topLeft = topLeft
        self.topRight = topRight
        self.bottomRight = bottomRight
        self.bottomLeft = bottomLeft
    }

    /// The same radius for all corners.
    public init(_ radius: Length) {
        self.init(topLeft: radius, topRight: radius, bottomRight: radius, bottomLeft: radius)
    }
}

/// A color that may depend on the image.
public enum FillColor: Hashable, Codable, Sendable {
    case color(Color)
    /// The mean of the first frame's pixels, with white behind transparent pixels.
    case average
}

/// Extends the image to a canvas, and puts it on the canvas's color (libvips `embed`), at its place in a list of steps.
public struct CanvasFill: Hashable, Codable, Sendable {
    /// What the canvas is filled with.
    public enum Fill: Hashable, Codable, Sendable {
        case color(FillColor)
        /// The image itself, stretched over the canvas and blurred.
        case blur
    }

    /// The canvas without its padding.
    package enum Canvas: String, Codable, Hashable, Sendable {
        /// The image's own size.
        case image
        /// The box of the earlier resize.
        case box
        /// The same box with width and height exchanged, because the image was turned after the resize.
        case turnedBox
    }

    public var fill: Fill
    /// The space added around the canvas.
    public var padding: Padding
    package var extent = Canvas.image

    /// A canvas of this color. A transparent color leaves the image transparent.
    public init(_ fill: Fill, padding: Padding = Padding(0)) {
        self.fill = fill
        self.padding = padding
    }
}
