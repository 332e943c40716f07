/// Rotates the hue of every color (in CIELCh).
public struct Hue: Hashable, Codable, Sendable {
    /// The accepted angles; 0 changes nothing, positive angles move red toward yellow.
    public static let degrees = 0...359

    /// The angle, one of `degrees`.
    public var degrees: Int

    /// Rotates hues by this angle.
    public init(degrees: Int) {
        self.degrees = degrees
    }
}

/// Multiplies the lightness of every color (in CIELCh). It may change chroma and hue too, and clips colors once only.
public struct Lightness: Hashable, Codable, Sendable {
    /// The accepted factors: 0 = black, 1 changes nothing.
    public static let factors = 0.0...10.0

    /// The factor, one of `factors`.
    public var factor: Double
    /// Multiplies chroma, one of ``Saturation/factors``.
    public var chroma = 1.0
    /// Rotates hues, one of `Hue.degrees`.
    public var hueDegrees = 0

    /// Multiplies lightness by this factor.
    public init(factor: Double, chroma: Double = 1, hueDegrees: Int = 0) {
        self.factor = factor
        self.chroma = chroma
        self.hueDegrees = hueDegrees
    }

    /// Whether chroma and hue stay as they are.
    package var isPlain: Bool { chroma == 1 && hueDegrees == 0 }
}

/// Multiplies the chroma of every color (in CIELCh).
public struct Saturation: Hashable, Codable, Sendable {
    /// The accepted factors: 0 = gray, 1 changes nothing.
    public static let factors = 0.0...10.0

    /// The factor, one of `factors`.
    public var factor: Double

    /// Multiplies chroma by this factor.
    public init(factor: Double) {
        self.factor = factor
    }
}

/// Gives every pixel the hue and chroma of one color and keeps its lightness (in CIELAB).
public struct Tint: Hashable, Codable, Sendable {
    /// The color whose hue and chroma every pixel gets.
    public var color: Color

    /// A tint of this color; its alpha is ignored.
    public init(_ color: Color) {
        self.color = color.opaque
    }
}

/// Maps luminance to a gradient between two colors; alpha is not changed.
public struct Duotone: Hashable, Codable, Sendable {
    /// The color that replaces black.
    public var shadow: Color
    /// The color that replaces white.
    public var highlight: Color

    /// A gradient from the first color to the second; their alpha is ignored.
    public init(shadow: Color, highlight: Color) {
        self.shadow = shadow.opaque
        self.highlight = highlight.opaque
    }
}
