/// Width and height in whole pixels.
public struct PixelSize: Hashable, Codable, Sendable, CustomStringConvertible {
    /// Columns.
    public var width: Int
    /// Rows.
    public var height: Int

    /// So many columns and rows.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Pixels in all; saturates instead of overflowing, since sizes come out of foreign headers.
    public var area: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : product
    }

    /// Width and height exchanged.
    public var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// Both sides divided by a whole number and rounded down.
    func shrunk(by factor: Int) -> PixelSize { PixelSize(width: width / factor, height: height / factor) }

    public var description: String { "\(width)×\(height)" }
}
