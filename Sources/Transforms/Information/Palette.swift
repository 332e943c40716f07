/// The main colors of an image. Transparent pixels do not count.
struct Palette {
    /// Up to six distinct colors, the most frequent first; white for a transparent image.
    let colors: [Color]
    /// The mean in linear light, the color of a strong blur.
    let average: Color

    /// The most frequent color.
    var dominant: Color { colors.first ?? .white }

    static let maxColors = 6

    init(_ image: Thumbnail) {
        average = Self.average(image.pixels)
        var bins: [Int: Bin] = [:]
        for pixel in image.pixels where pixel.alpha > 0 { bins[Bin.index(pixel), default: Bin()].add(pixel) }
        // Ties are broken by index, so that equal images have equal palettes.
        var rest = bins.sorted { ($1.value.weight, $0.key) < ($0.value.weight, $1.key) }.map(\.value)
        let least = rest.reduce(0) { $0 + $1.weight } / 200
        var found: [Bin] = []
        while found.count < Self.maxColors, let first = rest.first {
            var color = first
            for bin in rest.dropFirst() where bin.isNear(first) { color.add(bin) }
            rest = rest.dropFirst().filter { !$0.isNear(first) }
            if color.weight > least { found.append(color) }
        }
        colors = found.isEmpty ? [.white] : found.sorted { $0.weight > $1.weight }.map(\.mean)
    }

    private static func average(_ pixels: [Color]) -> Color {
        let linear = SRGBCurve.lightOfBytes
        var sum = (red: 0.0, green: 0.0, blue: 0.0, weight: 0.0)
        for pixel in pixels {
            let weight = Double(pixel.alpha)
            sum.red += linear[Int(pixel.red)] * weight
            sum.green += linear[Int(pixel.green)] * weight
            sum.blue += linear[Int(pixel.blue)] * weight
            sum.weight += weight
        }
        guard sum.weight > 0 else { return .white }
        return Color(
            red: SRGBCurve.byte(sum.red / sum.weight), green: SRGBCurve.byte(sum.green / sum.weight),
            blue: SRGBCurve.byte(sum.blue / sum.weight))
    }
}

/// Pixels of similar color, as sums weighted by alpha.
private struct Bin {
    var weight = 0
    private var red = 0
    private var green = 0
    private var blue = 0

    /// Sixteen steps per channel.
    static func index(_ color: Color) -> Int {
        Int(color.red >> 4) << 8 | Int(color.green >> 4) << 4 | Int(color.blue >> 4)
    }

    mutating func add(_ color: Color) {
        let alpha = Int(color.alpha)
        weight += alpha
        red += Int(color.red) * alpha
        green += Int(color.green) * alpha
        blue += Int(color.blue) * alpha
    }

    mutating func add(_ other: Bin) {
        weight += other.weight
        red += other.red
        green += other.green
        blue += other.blue
    }

    var mean: Color {
        func rounded(_ sum: Int) -> UInt8 { UInt8((sum + weight / 2) / weight) }
        return Color(red: rounded(red), green: rounded(green), blue: rounded(blue))
    }

    /// Whether the two look like the same color in a small palette.
    func isNear(_ other: Bin) -> Bool {
        let (mine, theirs) = (mean, other.mean)
        let distances = zip(mine.rgb, theirs.rgb).map { ($0 - $1) * ($0 - $1) }
        return distances.reduce(0, +) < 48 * 48
    }
}

extension Color {
    /// The CSS notation `#rrggbb`, without alpha.
    var css: String { "#" + hex.prefix(6) }
}
