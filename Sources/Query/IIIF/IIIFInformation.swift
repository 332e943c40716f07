import DarkroomNetwork
package import DarkroomRequests

/// The sizes and tiles that a server suggests to viewers (IIIF Image API 3.0 §5.3, §5.4): halvings of the full image.
package struct IIIFPyramid: Hashable, Sendable {
    /// The full image and its halvings within the limits, in ascending order.
    package let sizes: [PixelSize]
    /// The side of the square tiles in pixels.
    package let tileSide: Int
    /// The factors that the full image is reduced by for each level of tiles; at the last factor, it is a single tile.
    package let scaleFactors: [Int]

    package init(full: PixelSize, limits: PixelLimits) {
        let longer = max(full.width, full.height)
        let mostArea = Int(Double(limits.maxOutputPixels).squareRoot())
        let tileSide = max(1, min(Self.preferredTileSide, limits.maxOutputSide, mostArea))
        self.tileSide = tileSide
        scaleFactors = Self.factors { previous in previous * tileSide < longer }
        sizes = Self.factors { previous in longer / previous >= 2 * Self.leastSide }.reversed().map { factor in
            PixelSize(width: Self.reduced(full.width, by: factor), height: Self.reduced(full.height, by: factor))
        }.filter(limits.contain)
    }

    /// 1 and its doublings, as long as the condition holds for the previous factor.
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

/// The limits on the size of an image: `maxWidth`, which is `maxHeight` too, and `maxArea` (§5.2).
extension PixelLimits {
    func contain(_ size: PixelSize) -> Bool {
        max(size.width, size.height) <= maxOutputSide && size.area <= maxOutputPixels
    }

    /// The size itself if it is within the limits, otherwise the largest size of its aspect ratio.
    func fitted(_ size: PixelSize) -> PixelSize { contain(size) ? size : largest(like: size) }

    /// The largest size of this aspect ratio, apart from rounding, within the limits. Every side is at least 1.
    func largest(like size: PixelSize) -> PixelSize {
        let (across, down) = (Double(size.width), Double(size.height))
        let factor = min(
            Double(maxOutputSide) / max(across, down), (Double(maxOutputPixels) / (across * down)).squareRoot())
        func scaled(_ rule: FloatingPointRoundingRule) -> PixelSize {
            PixelSize(
                width: max(1, Int((across * factor).rounded(rule))), height: max(1, Int((down * factor).rounded(rule))))
        }
        let nearest = scaled(.toNearestOrAwayFromZero)
        return contain(nearest) ? nearest : scaled(.down)
    }

    /// Refuses an image whose canvas exceeds the limits once it is rotated.
    func check(_ size: PixelSize, rotatedBy degrees: Double) throws(InvalidParameter) {
        let (across, down) = size.canvas(rotatedBy: degrees)
        let canvas = PixelSize(width: IIIFNumbers.rounded(across), height: IIIFNumbers.rounded(down))
        try require(
            contain(canvas), "size",
            "Parameter 'size' must be smaller: the rotated image would be \(canvas) pixels, and at most "
                + "\(maxOutputSide) per side and \(maxOutputPixels) in total are allowed.")
    }
}

/// The media types of the document about an image (IIIF Image API 3.0 §5.1).
package enum IIIFMediaType: String, Sendable {
    case linkedData = #"application/ld+json;profile="http://iiif.io/api/image/3/context.json""#
    case json = "application/json"

    /// JSON if the field `Accept` prefers it, otherwise JSON-LD.
    package init(accept: String?) {
        let ranges = accept.map { FieldList($0).members } ?? []
        self =
            Self.weight(of: "application/json", in: ranges) > Self.weight(of: "application/ld+json", in: ranges)
            ? .json : .linkedData
    }

    /// The weight of the most specific range that includes a type (RFC 9110 §12.5.1), in thousandths; 0 = no range
    /// includes it.
    private static func weight(of type: String, in ranges: [Substring]) -> Int {
        for name in [type, "application/*", "*/*"] {
            let weights = ranges.filter { range in
                range.prefix { $0 != ";" }.trimmingBlanks.lowercased() == name
            }.map { FormatNegotiation.weight(of: $0) }
            if let weight = weights.max() { return weight }
        }
        return 0
    }
}
