/// The size that an SVG has in a browser by itself, as the attributes of its root element state it.
struct SVGViewport: Hashable, Sendable {
    /// In pixels of CSS; nil = not stated.
    private(set) var width: Double?
    /// In pixels of CSS; nil = not stated.
    private(set) var height: Double?
    /// The size of the `viewBox`, or of the viewport without one.
    private(set) var box: SIMD2<Double>?
    /// The `viewBox` that browsers use instead of one that is not valid; librsvg draws nothing then.
    private(set) var correctedBox: String?

    init() {}

    /// - Parameter attributes: of the root element, by their names.
    init(_ attributes: [String: String]) {
        (width, height) = (attributes["width"].flatMap(Self.pixels), attributes["height"].flatMap(Self.pixels))
        let stated = attributes["viewBox"].map(Self.numbers)
        if case .some(.some(let numbers)) = stated, numbers.count == 4, numbers[2] > 0, numbers[3] > 0 {
            box = SIMD2(numbers[2], numbers[3])
            let ratio = numbers[2] / numbers[3]
            if width == nil, height == nil { (width, height) = (numbers[2], numbers[3]) }
            width = width ?? height.map { $0 * ratio }
            height = height ?? width.map { $0 / ratio }
        } else if let width, let height {
            box = SIMD2(width, height)
            // Nothing is drawn in a box without a side.
            if case .some(.some(let numbers)) = stated, numbers.count != 4 || !numbers.suffix(2).contains(0) {
                correctedBox = "0 0 \(width) \(height)"
            }
        }
    }

    /// Numbers that blanks or commas separate; nil for numbers that are separated by their signs only, and an empty
    /// list for anything else.
    private static func numbers(_ text: String) -> [Double]? {
        guard text.utf8.allSatisfy({ "+-.,0123456789eE \t\r\n".utf8.contains($0) }) else { return [] }
        let words = text.split { $0 == "," || $0.isWhitespace }
        let numbers = words.compactMap { Double($0) }
        return numbers.count == words.count && numbers.allSatisfy(\.isFinite) ? numbers : nil
    }

    /// A length in pixels; nil for a percentage and unknown units.
    static func pixels(_ text: String) -> Double? {
        let text = text.trimmingWhitespace.lowercased()
        let digits = text.prefix { $0.isNumber || "+-.".contains($0) }
        guard let number = Double(digits), number > 0, number < 1e6,
            let unit = units[String(text.dropFirst(digits.count))]
        else { return nil }
        return number * unit
    }

    private static let units: [String: Double] = [
        "": 1, "px": 1, "em": 16, "rem": 16, "ex": 8, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96, "pt": 4.0 / 3,
        "pc": 16, "q": 96 / 101.6,
    ]

    /// Whether a media feature about the size holds (Media Queries 5, §4); nil = unknown.
    ///
    /// - Parameter feature: in parentheses, in lower case and without blanks.
    func holds(_ feature: some StringProtocol) -> Bool? {
        guard let width, let height, feature.hasPrefix("("), feature.hasSuffix(")") else { return nil }
        let text = String(feature.dropFirst().dropLast()).replacing("&gt;", with: ">").replacing("&lt;", with: "<")
        let name = text.prefix { $0.isLetter || $0 == "-" }
        let (rest, sides) = (text.dropFirst(name.count), ["width": width, "height": height])
        let sign = rest.prefix { ":<>=".contains($0) }
        let value = String(rest.dropFirst(sign.count))
        if name == "orientation", sign == ":" {
            return ["landscape": width > height, "portrait": height >= width][value]
        }
        let isBound = name.hasPrefix("min-") || name.hasPrefix("max-")
        guard let side = sides[String(isBound ? name.dropFirst(4) : name)],
            let length = value.allSatisfy({ $0 == "0" }) && !value.isEmpty ? 0 : Self.pixels(value)
        else { return nil }
        switch isBound ? name.prefix(4) + sign : sign[...] {
        case "min-:", ">=": return side >= length
        case "max-:", "<=": return side <= length
        case ">": return side > length
        case "<": return side < length
        case ":", "=": return side == length
        default: return nil
        }
    }

    /// A transform around an origin (CSS Transforms 1, §4) as one around the origin of the coordinate system; nil for
    /// an origin that is not known. Percentages are of the box of the root element.
    ///
    /// - Parameter unit: of the lengths in the transform.
    func transform(_ transform: String, around origin: String, unit: String) -> String? {
        var words = origin.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        guard !words.isEmpty else { return nil }
        if words.count == 1 { words.append("center") }
        if ["top", "bottom"].contains(words[0]) || ["left", "right"].contains(words[1]) { words.swapAt(0, 1) }
        guard words.count == 2 || words.count == 3, let x = coordinate(words[0], box?.x),
            let y = coordinate(words[1], box?.y)
        else { return nil }
        let (to, back) = ("\(x)\(unit),\(y)\(unit)", "\(-x)\(unit),\(-y)\(unit)")
        return "translate(\(to)) \(transform) translate(\(back))"
    }

    private func coordinate(_ word: String, _ side: Double?) -> Double? {
        let shares = ["left": 0.0, "top": 0, "center": 50, "right": 100, "bottom": 100]
        let percentage = shares[word] ?? (word.hasSuffix("%") ? Double(word.dropLast()) : nil)
        if let percentage {
            return percentage == 0 ? 0 : side.map { abs(percentage) < 1e6 ? $0 * percentage / 100 : 0 }
        }
        let isNegative = word.hasPrefix("-")
        let digits = isNegative ? String(word.dropFirst()) : word
        return Double(digits) == 0 ? 0 : Self.pixels(digits).map { isNegative ? -$0 : $0 }
    }
}
