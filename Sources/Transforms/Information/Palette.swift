/// The colours that a picture is made of; what is transparent does not count.
struct Palette {
    /// Up to six that can be told apart, those that fill most of the picture first; white where nothing is to be seen.
    let colors: [Color]
    /// The mean in linear light, which is what a strong blur shows.
    let average: Color

    /// The colour that most of the picture has.
    var dominant: Color { colors.first ?? .white }

    static let maxColors = 6

    init(_ picture: Thumbnail) {
        average = Self.average(picture.pixels)
        var bins: [Int: Bin] = [:]
        for pixel in picture.pixels where pixel.alpha > 0 { bins[Bin.index(pixel), default: Bin()].add(pixel) }
        // By place where weights are equal, so that equal pictures have equal palettes.
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
        let linear = Linear.table
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
            red: Linear.encoded(sum.red / sum.weight), green: Linear.encoded(sum.green / sum.weight),
            blue: Linear.encoded(sum.blue / sum.weight))
    }
}

/// Pixels of about one colour: sums weighted by alpha.
private struct Bin {
    var weight = 0
    private var red = 0
    private var green = 0
    private var blue = 0

    /// Sixteen steps a channel.
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

    /// Whether an eye would call them one colour in a small palette.
    func isNear(_ other: Bin) -> Bool {
        let (mine, theirs) = (mean, other.mean)
        let distances = zip(mine.rgb, theirs.rgb).map { ($0 - $1) * ($0 - $1) }
        return distances.reduce(0, +) < 48 * 48
    }
}

extension Color {
    /// `#rrggbb`, as CSS has it; alpha is left out.
    var css: String { "#" + hex.prefix(6) }
}
