import DarkroomNetwork
import DarkroomRequests

/// Reads values as weserv/images does.
enum WsrvValue {
    /// The whole of an image's side.
    static let whole = Length.percent(Percentage(hundredths: 10_000))

    /// The largest number that is read (`VIPS_MAX_COORD`).
    private static let largest = 10_000_000.0

    /// The formats of `output`. Any other value selects the format of the source.
    static let formats = [
        "jpg": "jpg", "png": "png", "gif": "gif", "tiff": "tiff", "tif": "tiff", "webp": "webp", "avif": "avif",
        "av1": "avif", "jxl": "jxl", "json": "json", "origin": "origin",
    ]

    /// The integer that a text begins with, like C++'s `stoi`.
    static func integer(_ text: String?, in range: ClosedRange<Int> = Int.min...Int.max) -> Int? {
        guard let text else { return nil }
        let trimmed = text.utf8.drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
        let sign = trimmed.first == UInt8(ascii: "-") || trimmed.first == UInt8(ascii: "+") ? 1 : 0
        let digits = trimmed.dropFirst(sign).prefix(while: \.isASCIIDigit)
        guard (1...9).contains(digits.count), let number = Int(String(decoding: digits, as: UTF8.self)),
            Double(number) <= largest
        else { return nil }
        let signed = trimmed.first == UInt8(ascii: "-") ? -number : number
        return range.contains(signed) ? signed : nil
    }

    /// The decimal number that a text begins with, like C++'s `stof`.
    static func number(_ text: String?, in range: ClosedRange<Double> = -largest...largest) -> Double? {
        guard let text, text.utf8.count <= 64,
            let match = text.prefixMatch(of: /\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)/.asciiOnlyDigits()),
            let number = Double(spelled(match.1)), range.contains(number)
        else { return nil }
        return number
    }

    /// Swift reads no number that begins or ends with a point.
    private static func spelled(_ text: Substring) -> String {
        let sign = text.hasPrefix("-") ? "-" : ""
        let parts = text.drop { "+-".contains($0) }.split(maxSplits: 1, omittingEmptySubsequences: false) {
            "eE".contains($0)
        }
        let power = parts.count == 2 ? "e\(parts[1])" : ""
        return "\(sign)0\(parts[0])\(parts[0].hasSuffix(".") ? "0" : "")\(power)"
    }

    /// False for `false` and `0`; true for any other text, and for a parameter without a value.
    static func flag(_ text: String?) -> Bool? { text != "false" && text != "0" }

    /// Pixels, or a percentage from 0 to 100.
    static func length(_ text: String?) -> Length? {
        guard let text else { return nil }
        // A percent sign may be encoded twice.
        guard let end = text.hasSuffix("%") ? 1 : text.hasSuffix("%25") ? 3 : nil else {
            return integer(text).map(Length.pixels)
        }
        return number(String(text.dropLast(end)), in: 0...100)
            .map { .percent(Percentage(hundredths: Int(($0 * 100).rounded()))) }
    }

    static func modulo360(_ degrees: Int) -> Int { (degrees % 360 + 360) % 360 }

    /// A factor from 0; a factor beyond the largest that is made has the same effect as the largest.
    static func factor(_ text: String?) -> String? {
        number(text, in: 0...10_000).map { ValueSchema.plain(min($0, Saturation.factors.upperBound)) }
    }

    /// The reciprocal, because wsrv.nl darkens with exponents of 1 to 3. Without a value, or outside that range, the
    /// default exponent counts; none for 0.
    static func gamma(_ text: String?) -> String? {
        let number = number(text) ?? -1
        guard number != 0 else { return nil }
        let exponent = (1...3).contains(number) ? number : Gamma.defaultExponent
        return ValueSchema.plain((10_000 / exponent).rounded() / 10_000)
    }

    /// A standard deviation: "" without a value or outside the range, nil for 0.
    static func sigma(_ text: String?, in range: ClosedRange<Double>) -> String? {
        let number = number(text) ?? -1
        return number == 0 ? nil : range.contains(number) ? ValueSchema.plain(number) : ""
    }

    /// The items of a list that are not empty.
    static func items(_ text: String?) -> [String] { text?.split(separator: ",").map(String.init) ?? [] }

    /// `rgb`, `argb`, `rrggbb` or `aarrggbb` in hexadecimal, or a CSS color name; nil for a transparent color, which
    /// any other text means.
    static func color(_ text: String?) -> Color? {
        guard let text else { return nil }
        let digits = text.hasPrefix("#") ? text.dropFirst() : text.hasPrefix("%23") ? text.dropFirst(3) : text[...]
        let isHexadecimal = digits.utf8.allSatisfy(\.isHexadecimalDigit)
        let color: Color? =
            switch (isHexadecimal, digits.utf8.count) {
            case (true, 4): Color(parsing: "\(digits.dropFirst())\(digits.prefix(1))")
            case (true, 8): Color(parsing: "\(digits.dropFirst(2))\(digits.prefix(2))")
            case (true, 7): Color(parsing: "\(digits.dropFirst())f\(digits.prefix(1))")
            default: Color(parsing: String(digits))
            }
        return color?.alpha == 0 ? nil : color
    }

    /// Today's names, and the names before version 5.
    static func fit(_ text: String?) -> Fit {
        switch text {
        case "outside": .outside
        case "fill", "absolute": .fill
        case "contain", "letterbox": .contain
        case "cover", "square", "squaredown": .cover
        case let text?: text.hasPrefix("crop") ? .cover : .inside
        case nil: .inside
        }
    }

    /// A URL, whose scheme may be missing: `//` and `ssl:` mean `https://`, and a host alone means `http://`.
    static func source(_ text: String) -> String {
        let lower = text.lowercased()
        for prefix in ["ssl:", "//"] where lower.hasPrefix(prefix) {
            return "https://" + text.dropFirst(prefix.count).drop { $0 == "/" }
        }
        // A colon follows a scheme or a short name, or precedes a port.
        if text.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.-]*:(?!\d+([\/?#]|$))/) != nil { return text }
        return "http://" + text.drop { $0 == "/" }
    }

    /// A time from a day to a year, as an integer with the unit d, w, M (30 days) or y (365 days); nil for any other
    /// time.
    static func days(_ text: String) -> Int? {
        let units: [Character: Int] = ["d": 1, "w": 7, "M": 30, "y": 365]
        guard let unit = text.last.flatMap({ units[$0] }), text.utf8.count <= 5,
            let count = Digits.integer(String(text.dropLast())), (1...365).contains(count * unit)
        else { return nil }
        return count * unit
    }

    /// The text that makes a separate entry; nil for a text that Darkroom does not accept.
    static func version(_ text: String?) -> String? { text.map { ValueFormat<String>.version.read($0) } ?? "" }

    /// Letters and digits only.
    static func fileName(_ text: String) -> String? {
        (1...78).contains(text.utf8.count) && text.utf8.allSatisfy(\.isASCIIAlphanumeric) ? text : nil
    }
}

extension UInt8 {
    fileprivate var isHexadecimalDigit: Bool { isASCIIDigit || (0x61...0x66).contains(self | 0x20) }
}
