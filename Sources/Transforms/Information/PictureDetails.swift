/// What a document about a picture says besides what the header tells anyway.
public struct ImageDetails: OptionSet, Hashable, Sendable {
    /// One bit for each detail.
    public let rawValue: Int

    /// The details of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Dominant and average colour.
    public static let color = ImageDetails(rawValue: 1 << 0)
    /// Up to six colours, those that fill most of the picture first.
    public static let palette = ImageDetails(rawValue: 1 << 1)
    /// A BlurHash of 4 by 3 components.
    public static let blurHash = ImageDetails(rawValue: 1 << 2)
    /// A ThumbHash in base64.
    public static let thumbHash = ImageDetails(rawValue: 1 << 3)
    /// A picture of 16 pixels as a `data:` URI.
    public static let lqip = ImageDetails(rawValue: 1 << 4)
    /// How the camera was set.
    public static let exif = ImageDetails(rawValue: 1 << 5)
    /// Where the picture was taken. Not among `all`: nobody is told by the way.
    public static let position = ImageDetails(rawValue: 1 << 6)

    /// Every one.
    public static let all: ImageDetails = [.color, .palette, .blurHash, .thumbHash, .lqip, .exif]

    /// Whether any of them takes pixels: the header alone does not tell.
    var needsPixels: Bool { !subtracting([.exif, .position]).isEmpty }
}
