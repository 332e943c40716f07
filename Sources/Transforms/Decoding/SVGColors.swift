import Foundation

/// Colors of CSS Color 4 and 5 as the sRGB colors that browsers show, which librsvg knows.
enum SVGColors {
    /// A text with these colors as `rgb()` and `rgba()`. Colors that depend on others stay as they are.
    static func inSRGB(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var (result, copied, position): ([UInt8], Int, Int) = ([], 0, 0)
        while let open = bytes[position...].firstIndex(of: UInt8(ascii: "(")) {
            position = open + 1
            let start = bytes[copied..<open].lastIndex { !isLetter($0) }.map { $0 + 1 } ?? copied
            let name = String(decoding: bytes[start..<open], as: UTF8.self).lowercased()
            guard names.contains(name), let close = close(bytes, open),
                let color = color(name, String(decoding: bytes[(open + 1)..<close], as: UTF8.self).lowercased())
            else { continue }
            result += bytes[copied..<start]
            result += Array(color.utf8)
            (copied, position) = (close + 1, close + 1)
        }
        return copied > 0 ? String(decoding: result + bytes[copied...], as: UTF8.self) : text
    }

    private static let names: Set<String> = ["oklch", "oklab", "lch", "lab", "hwb", "color", "light-dark"]

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "-")
    }

    /// The parenthesis that closes a function of at most ``maxLength`` bytes.
    private static func close(_ bytes: [UInt8], _ open: Int) -> Int? {
        var depth = 0
        for index in open..<min(bytes.count, open + maxLength) {
            if bytes[index] == UInt8(ascii: "(") { depth += 1 }
            if bytes[index] == UInt8(ascii: ")") { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    private static let maxLength = 256

    /// - Parameter content: what is in the parentheses, in lower case.
    private static func color(_ name: String, _ content: String) -> String? {
        if name == "light-dark" {
            // Of a light screen.
            guard let comma = content.utf8.firstIndex(of: UInt8(ascii: ",")), !content[..<comma].contains("(") else {
                return nil
            }
            return content[..<comma].trimmingCharacters(in: .whitespaces)
        }
        let halves = content.split(separator: "/", omittingEmptySubsequences: false)
        var words = halves[0].split(whereSeparator: \.isWhitespace)
        let space = name == "color" && !words.isEmpty ? String(words.removeFirst()) : name
        guard words.count == 3, halves.count <= 2 else { return nil }
        let alpha = halves.count == 2 ? halves[1].trimmingCharacters(in: .whitespaces)[...] : "1"
        guard let light = light(space, words), let opacity = number(alpha, 1) else { return nil }
        let joined = (0..<3).map { String(SRGBCurve.byte(light[$0])) }.joined(separator: ",")
        return opacity >= 1 ? "rgb(\(joined))" : "rgba(\(joined),\((max(opacity, 0) * 1000).rounded() / 1000))"
    }

    /// A number, or a percentage of `whole`; nil for another word, and for numbers that no color has.
    private static func number(_ word: Substring, _ whole: Double) -> Double? {
        if word == "none" { return 0 }
        let isPercentage = word.hasSuffix("%")
        guard let value = Double(isPercentage ? word.dropLast() : word), abs(value) < 10_000 else { return nil }
        return isPercentage ? value / 100 * whole : value
    }

    /// An angle in radians.
    private static func angle(_ word: Substring) -> Double? {
        let units = [("deg", 1.0), ("grad", 0.9), ("rad", 180 / Double.pi), ("turn", 360)]
        guard let unit = units.first(where: { word.hasSuffix($0.0) }) else {
            return number(word, 0).map { $0 * .pi / 180 }
        }
        return number(word.dropLast(unit.0.count), 0).map { $0 * unit.1 * .pi / 180 }
    }

    /// The light of red, green and blue in sRGB, perhaps beyond 0…1 (CSS Color 4, §7 to §10 and §18).
    private static func light(_ space: String, _ words: [Substring]) -> SIMD3<Double>? {
        func values(_ wholes: Double...) -> SIMD3<Double>? {
            let numbers = zip(words, wholes).compactMap { number($0, $1) }
            return numbers.count == 3 ? SIMD3(numbers[0], numbers[1], numbers[2]) : nil
        }
        func polar(_ light: Double, _ chroma: Double) -> SIMD3<Double>? {
            guard let l = number(words[0], light), let c = number(words[1], chroma), let h = angle(words[2]) else {
                return nil
            }
            return SIMD3(l, c * cos(h), c * sin(h))
        }
        switch space {
        case "oklch": return polar(1, 0.4).map(fromOklab)
        case "oklab": return values(1, 0.4, 0.4).map(fromOklab)
        case "lch": return polar(100, 150).map(fromLab)
        case "lab": return values(100, 125, 125).map(fromLab)
        case "hwb": return hwb(words)
        default:
            guard let values = values(1, 1, 1), let source = spaces[space] else { return nil }
            let light = SIMD3((0..<3).map { source.curve.light(max(values[$0], 0)) })
            return fromXYZ(source.toXYZ * light)
        }
    }

    private static let spaces: [String: ColorSpace] = {
        func space(_ primaries: Chromaticities, _ curve: TransferCurve) -> ColorSpace? {
            primaries.toXYZ.map { ColorSpace(toXYZ: $0, curve: curve) }
        }
        return [
            "srgb": .sRGB, "srgb-linear": space(.bt709, .power(1)), "display-p3": space(.p3, .sRGB),
            "rec2020": space(.bt2020, .power(2.4)),
            "a98-rgb": space(
                Chromaticities(red: [0.64, 0.33], green: [0.21, 0.71], blue: [0.15, 0.06]), .power(563 / 256)),
        ].compactMapValues(\.self)
    }()

    private static func fromXYZ(_ xyz: SIMD3<Double>) -> SIMD3<Double> {
        (ColorSpace.sRGB.toXYZ.inverse ?? ColorMatrix(diagonal: [1, 1, 1])) * xyz
    }

    private static func fromOklab(_ color: SIMD3<Double>) -> SIMD3<Double> {
        let cones = SIMD3(
            color.x + 0.3963377774 * color.y + 0.2158037573 * color.z,
            color.x - 0.1055613458 * color.y - 0.0638541728 * color.z,
            color.x - 0.0894841775 * color.y - 1.2914855480 * color.z)
        let matrix = ColorMatrix(
            red: [4.0767416621, -1.2684380046, -0.0041960863], green: [-3.3077115913, 2.6097574011, -0.7034186147],
            blue: [0.2309699292, -0.3413193965, 1.7076147010])
        return matrix * (cones * cones * cones)
    }

    /// Of Lab with the white of ICC profiles.
    private static func fromLab(_ color: SIMD3<Double>) -> SIMD3<Double> {
        let y = (color.x + 16) / 116
        func part(_ root: Double) -> Double { root > 6.0 / 29 ? root * root * root : (root - 4.0 / 29) * 108 / 841 }
        let xyz = SIMD3(part(y + color.y / 500), part(y), part(y - color.z / 200)) * [0.9642, 1, 0.8249]
        return fromXYZ(xyz)
    }

    private static func hwb(_ words: [Substring]) -> SIMD3<Double>? {
        guard let hue = angle(words[0]), let white = number(words[1], 100), let black = number(words[2], 100) else {
            return nil
        }
        let scale = 1 / max(white + black, 100)
        let samples = SIMD3(
            [0.0, 8, 4].map { (offset: Double) -> Double in
                // The pure hue (CSS Color 4, §7.1).
                let place = (offset + hue * 6 / .pi).truncatingRemainder(dividingBy: 12)
                let k = place < 0 ? place + 12 : place
                let pure = 0.5 - 0.5 * max(-1, min(k - 3, 9 - k, 1))
                return pure * (1 - (white + black) * scale) + white * scale
            })
        return SIMD3((0..<3).map { SRGBCurve.light(samples[$0]) })
    }
}
