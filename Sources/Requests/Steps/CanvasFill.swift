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
