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
