package import DarkroomTransforms

/// The sizes and tiles that a server suggests to viewers (IIIF Image API 3.0 §5.3, §5.4): halvings of the full image.
package struct IIIFPyramid: Hashable, Sendable {
    /// The full image and its halvings within the limits, in ascending order.
    package let sizes: [PixelSize]
    /// The side of the square tiles in pixels.
    package let tileSide: Int
    /// The factors that the full image is reduced by for a level of tiles; at the last one, it is a single tile.
    package let scaleFactors: [Int]

    package init(full: PixelSize, limits: IIIFLimits) {
        let longer = max(full.width, full.height)
        let mostArea = Int(Double(limits.maxArea).squareRoot())
        let tileSide = max(1, min(Self.preferredTileSide, limits.maxSide, mostArea))
        self.tileSide = tileSide
        scaleFactors = Self.factors { previous in previous * tileSide < longer }
        sizes = Self.factors { previous in longer / previous >= 2 * Self.leastSide }.reversed().map { factor in
            PixelSize(width: Self.reduced(full.width, by: factor), height: Self.reduced(full.height, by: factor))
        }.filter(limits.contain)
    }

    /// 1 and its doublings, as long as the condition holds for the factor before.
    private static func factors(while goesOn: (Int) -> Bool) -> [Int] {
        var factors = [1]
        while let last = factors.last, goesOn(last) { factors.append(2 * last) }
        return factors
    }

    private static func reduced(_ side: Int, by factor: Int) -> Int { max(1, (side + factor / 2) / factor) }

    private static let preferredTileSide = 512
    /// Pixels of the longer side of the smallest size.
    private static let leastSide = 64
}
