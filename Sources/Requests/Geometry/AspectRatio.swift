/// A ratio of width to height in lowest terms. Equal ratios are equal values.
public struct AspectRatio: Hashable, Codable, Sendable, CustomStringConvertible {
    /// At least 1.
    public let width: Int
    /// At least 1.
    public let height: Int

    /// A ratio of these numbers; a number below 1 counts as 1.
    public init(width: Int, height: Int) {
        let (width, height) = (max(width, 1), max(height, 1))
        var (divisor, rest) = (width, height)
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        self.width = width / divisor
        self.height = height / divisor
    }

    public var description: String { "\(width):\(height)" }

    /// The height that goes with a width in pixels, rounded to the nearest pixel and at least 1.
    public func height(forWidth side: Int) -> Int { Self.scaled(side, height, by: width) }

    /// The width that goes with a height in pixels, rounded to the nearest pixel and at least 1.
    public func width(forHeight side: Int) -> Int { Self.scaled(side, width, by: height) }

    package func largest(within image: PixelSize) -> PixelSize {
        let down = height(forWidth: image.width)
        guard down > image.height else { return PixelSize(width: image.width, height: down) }
        return PixelSize(width: min(width(forHeight: image.height), image.width), height: image.height)
    }

    /// The smallest rectangle of this ratio that contains an image.
    package func smallest(around image: PixelSize) -> PixelSize {
        let down = height(forWidth: image.width)
        guard down < image.height else { return PixelSize(width: image.width, height: down) }
        return PixelSize(width: max(width(forHeight: image.height), image.width), height: image.height)
    }

    private static func scaled(_ side: Int, _ factor: Int, by divisor: Int) -> Int {
        PixelSize.side(Double(side) * Double(factor) / Double(divisor))
    }
}
