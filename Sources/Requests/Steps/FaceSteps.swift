/// The faces that a crop shows, and how closely.
public struct FaceFocus: Hashable, Codable, Sendable {
    /// The faces that count.
    public enum Choice: String, Codable, Sendable, CaseIterable {
        /// The largest face.
        case largest = "face"
        /// All faces.
        case all = "faces"
    }

    public var choice: Choice
    /// How closely the image is cropped to the faces: from 0, as much of the image as possible, to 1, the heads alone.
    public var zoom: Double

    /// The accepted values of ``zoom``.
    public static let zooms = 0.0...1.0

    /// By default as much of the image as possible.
    public init(_ choice: Choice, zoom: Double = 0) {
        self.choice = choice
        self.zoom = zoom
    }

    /// Its part of a transform's key.
    package var key: String { "\(choice.rawValue) \(zoom)" }
}

/// Hides every face that is found, before any other step sees the image.
public struct Redaction: Hashable, Codable, Sendable {
    /// What replaces the pixels of a face.
    public enum Style: Hashable, Codable, Sendable {
        /// A smooth transition between a few mean colors.
        case blur
        /// A few blocks of their mean color.
        case pixelate
        /// A color.
        case cover(Color)
    }

    public var style: Style

    /// Blurs by default.
    public init(_ style: Style = .blur) {
        self.style = style
    }
}
