/// The members of a JSON document in addition to the members that the header states.
public struct ImageDetails: OptionSet, Hashable, Codable, Sendable {
    /// One bit for each detail.
    public let rawValue: Int

    /// The details of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The dominant and the average color.
    public static let color = ImageDetails(rawValue: 1 << 0)
    /// Up to six colors, the most frequent first.
    public static let palette = ImageDetails(rawValue: 1 << 1)
    /// A BlurHash of 4 by 3 components.
    public static let blurHash = ImageDetails(rawValue: 1 << 2)
    /// A ThumbHash in base64.
    public static let thumbHash = ImageDetails(rawValue: 1 << 3)
    /// A placeholder of 16 pixels as a `data:` URI.
    public static let lqip = ImageDetails(rawValue: 1 << 4)
    /// The camera's settings.
    public static let exif = ImageDetails(rawValue: 1 << 5)
    /// The position where the image was taken. Not part of `all`, so that it is never disclosed by accident.
    public static let position = ImageDetails(rawValue: 1 << 6)
    /// The document has the members of weserv/images instead, about the chain's result.
    public static let wsrv = ImageDetails(rawValue: 1 << 7)

    /// The faces, in the upright source. Not part of `all`: finding them takes longest, and servers may not look for
    /// any.
    public static let faces = ImageDetails(rawValue: 1 << 8)

    /// All details except position and faces.
    public static let all: ImageDetails = [.color, .palette, .blurHash, .thumbHash, .lqip, .exif]

    /// Whether any of them requires decoded pixels.
    package var needsPixels: Bool { !subtracting([.exif, .position]).isEmpty }
}
