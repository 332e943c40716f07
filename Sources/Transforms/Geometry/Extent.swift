/// Where the true picture lies on its raster, in raster pixels.
///
/// A decoder that shrinks by `s` gives `floor(w / s)` columns, though the picture is `w / s` columns wide. The raster then
/// misses a fraction of a pixel at its far edges. Whoever stretched it to its target would move every detail; keeping
/// the extent lets the resampler put each output pixel exactly where it belongs.
public struct Extent: Hashable, Sendable {
    /// The picture's left edge; 0 unless a mirrored or rotated shrink left the missing part on this side.
    public var x: Double
    /// The picture's upper edge.
    public var y: Double
    /// In raster pixels, fractions included.
    public var width: Double
    /// In raster pixels, fractions included.
    public var height: Double

    /// A rectangle on a raster.
    public init(x: Double = 0, y: Double = 0, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The whole raster and nothing else.
    public init(_ size: PixelSize) {
        self.init(width: Double(size.width), height: Double(size.height))
    }

    /// Mirrored left to right on a raster `columns` wide.
    func flopped(columns: Int) -> Extent {
        Extent(x: Double(columns) - x - width, y: y, width: width, height: height)
    }

    /// Mirrored top to bottom on a raster `rows` high.
    func flipped(rows: Int) -> Extent {
        Extent(x: x, y: Double(rows) - y - height, width: width, height: height)
    }

    /// Mirrored along the main diagonal.
    func transposed() -> Extent {
        Extent(x: y, y: x, width: height, height: width)
    }
}
