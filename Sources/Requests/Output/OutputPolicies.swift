/// How close to the unencoded image a lossy result with `q=auto` has to look.
public enum QualityTarget: String, Codable, Sendable, CaseIterable {
    case high, medium, low
}

/// The resolution of the color differences in a lossy image.
public enum ChromaSampling: String, Codable, Sendable, CaseIterable {
    /// Half of the resolution of luminance on each side.
    case half = "420"
    /// The resolution of luminance. WebP has no such mode: there, chroma is halved more carefully.
    case full = "444"
}

/// The formats that a result may have if the output format does not suit the image: if it cannot hold an animation, or
/// if encoding in it would take longer than ``PixelLimits/maxProcessingMilliseconds``.
public enum AlternativeFormat: String, Codable, CaseIterable, Sendable {
    /// None: of an animation the first frame is encoded, and an image that would take too long is refused.
    case none
    /// WebP, then the formats of ``natural``.
    case webp
    /// The source's own format if browsers support it, then PNG with alpha and JPEG without.
    case natural
}

/// Whether a source that no step changes may be the result, with the metadata of any result.
public enum Passthrough: String, Codable, Sendable, CaseIterable {
    /// Every result is encoded again, except for a JPEG that is smaller as JPEG XL without loss than with loss.
    case off
    /// A source in the format of the result is decoded and encoded as usual. If encoding does not make it smaller, the
    /// result is the source's own pixel data. A JPEG becomes JPEG XL without loss, unless a quality is asked for.
    case auto
}

/// The metadata that a result keeps of its source.
public enum MetadataPolicy: String, Codable, Sendable, CaseIterable {
    case none
    /// Who made the image and how, and who may use it.
    case rights
    /// The rights, the description, and EXIF of the whole image without the position and maker's notes.
    case all
}

/// What becomes of a source of which parts cannot be decoded.
public enum DamagePolicy: String, Codable, Sendable, CaseIterable {
    /// It is `.corrupt`.
    case refuse
    /// What can be decoded is shown; the rest is gray, black or transparent. The result is never proven.
    case show
}

/// The color space of a result.
public enum Gamut: String, Codable, CaseIterable, Sendable {
    /// sRGB, without a profile.
    case sRGB = "srgb"
    /// Display P3, unless the source is gray.
    case p3
    /// Display P3 if the source has primaries outside of sRGB, otherwise sRGB.
    case source
}

/// The bits of a sample of a result.
public enum SampleDepth: String, Codable, CaseIterable, Sendable {
    /// 8 bits.
    case eight = "8"
    /// 10 bits in AVIF, 16 in PNG and JPEG XL, for a source of more than 8; otherwise 8.
    case source
}

/// Whether a JPEG keeps the gain map of its source, with which displays that can show it brighter than white.
public enum HDRPolicy: String, Codable, Sendable, CaseIterable {
    /// Kept, however many bytes it takes.
    case keep
    /// Left out.
    case drop
}
