import DarkroomRequests

/// The main colors of an image. Transparent pixels do not count.
struct Palette {
    /// Up to six distinct colors, the most frequent first; white for a transparent image.
    let colors: [Color]
    /// The mean in linear light, the color of a strong blur.
    let average: Color

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
        colors = found.isEmpty ? [.white] : found.sorted { $0.weight > $1.weight }.map(\.color)
    }

    private static func average(_ pixels: [Color]) -> Color {
        let linear = SRGBCurve.lightOfBytes
        var sum = SIMD4<Double>.zero
        for pixel in pixels {
            let light = SIMD4(linear[Int(pixel.red)], linear[Int(pixel.green)], linear[Int(pixel.blue)], 1)
            sum += light * Double(pixel.alpha)
        }
        guard sum.w > 0 else { return .white }
        let mean = sum / sum.w
        return Color(red: SRGBCurve.byte(mean.x), green: SRGBCurve.byte(mean.y), blue: SRGBCurve.byte(mean.z))
    }
}

/// Pixels of similar color, as sums weighted by alpha.
private struct Bin {
    /// Of red, green, blue and the weight.
    private var sums = SIMD4<Int>.zero
    /// The winner of a vote in which two different colors cancel each other out, and by how much it won.
    private var (leader, lead) = (Color.white, 0)

    var weight: Int { sums.w }

    /// Sixteen steps per channel.
    static func index(_ color: Color) -> Int {
        Int(color.red >> 4) << 8 | Int(color.green >> 4) << 4 | Int(color.blue >> 4)
    }

    mutating func add(_ color: Color) {
        sums &+= SIMD4(Int(color.red), Int(color.green), Int(color.blue), 1) &* Int(color.alpha)
        vote(for: Color(red: color.red, green: color.green, blue: color.blue), weight: Int(color.alpha))
    }

    mutating func add(_ other: Bin) {
        sums &+= other.sums
        vote(for: other.leader, weight: other.lead)
    }

    private mutating func vote(for color: Color, weight: Int) {
        if color == leader {
            lead += weight
        } else if weight > lead {
            (leader, lead) = (color, weight - lead)
        } else {
            lead -= weight
        }
    }

    /// The color of a flat area, which its blurred edges do not change; otherwise the mean.
    var color: Color { lead * 4 > weight ? leader : mean }

    private var mean: Color {
        func rounded(_ sum: Int) -> UInt8 { UInt8((sum + weight / 2) / weight) }
        return Color(red: rounded(sums.x), green: rounded(sums.y), blue: rounded(sums.z))
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
