/// An sRGB color with straight alpha, 8 bits per channel.
public struct Color: Hashable, Codable, Sendable {
    /// 0…255.
    public var red: UInt8
    /// 0…255.
    public var green: UInt8
    /// 0…255.
    public var blue: UInt8
    /// 0 = transparent, 255 = opaque.
    public var alpha: UInt8

    /// A color of these channels, opaque by default.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Opaque white.
    public static let white = Color(red: 255, green: 255, blue: 255)
    /// Opaque black.
    public static let black = Color(red: 0, green: 0, blue: 0)
    /// Transparent black.
    public static let transparent = Color(red: 0, green: 0, blue: 0, alpha: 0)

    /// Parses `rgb`, `rgba`, `rrggbb` or `rrggbbaa` in hexadecimal, with or without `#`, or a CSS color name in any
    /// case; nil for anything else.
    public init?(parsing text: String) {
        let text = text.lowercased()
        if let named = Color.named(text) {
            self = named
            return
        }
        let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
        let values = digits.compactMap(\.hexDigitValue)
        guard values.count == digits.count, digits.utf8.count == values.count else { return nil }
        let bytes: [Int]
        switch values.count {
        case 3, 4: bytes = values.map { $0 * 17 }
        case 6, 8: bytes = stride(from: 0, to: values.count, by: 2).map { values[$0] * 16 + values[$0 + 1] }
        default: return nil
        }
        self.init(
            red: UInt8(bytes[0]), green: UInt8(bytes[1]), blue: UInt8(bytes[2]),
            alpha: bytes.count == 4 ? UInt8(bytes[3]) : 255)
    }

    /// `rrggbbaa` in lowercase, the spelling that keys use.
    public var hex: String {
        [red, green, blue, alpha].map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// The gray of the same luminance (weights of Rec. 709) and alpha.
    package var gray: Color {
        let weighted = zip(rgb, [0.2126, 0.7152, 0.0722]).map { $0 * $1 }
        let level = UInt8(weighted.reduce(0, +).rounded())
        return Color(red: level, green: level, blue: level, alpha: alpha)
    }

    /// The same color without transparency.
    var opaque: Color { Color(red: red, green: green, blue: blue) }
    /// Red, green and blue as libvips takes them.
    var rgb: [Double] { [Double(red), Double(green), Double(blue)] }
    /// Red, green, blue and alpha as libvips takes them.
    var rgba: [Double] { rgb + [Double(alpha)] }
}
