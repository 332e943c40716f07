import DarkroomRequests

/// The position of the whole image on its raster, in raster pixels.
///
/// A decoder that shrinks by `s` delivers `floor(w / s)` columns, although the image is `w / s` columns wide: the
/// raster lacks a fraction of a pixel at its far edges. Stretching it to the target would move every detail; with the
/// extent, the resampler puts each output pixel exactly where it belongs.
public struct Extent: Hashable, Sendable {
    /// The image's left edge; 0 unless a reflection moved the missing fraction to this side.
    public var x = 0.0
    /// The image's upper edge.
    public var y = 0.0
    /// The image's width in raster pixels, including fractions.
    public var width: Double
    /// The image's height in raster pixels, including fractions.
    public var height: Double
}

extension Extent {
    /// The whole raster.
    init(_ size: PixelSize) {
        self.init(width: Double(size.width), height: Double(size.height))
    }
}
