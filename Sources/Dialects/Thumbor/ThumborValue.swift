import DarkroomNetwork
import DarkroomQuery
import DarkroomRequests

/// Reads numbers as imagor's filters do.
enum ThumborNumber {
    /// A decimal number with an optional sign; 0 for any other text, as in imagor.
    static func number(_ text: String?) -> Double {
        guard let text, text.utf8.count <= 24, let number = Double(text.hasPrefix(".") ? "0\(text)" : text),
            number.isFinite, !text.utf8.contains(where: { "xXpPnN".utf8.contains($0) })
        else { return 0 }
        return number.clamped(to: -1e9...1e9)
    }

    /// An integer; 0 for any other text.
    static func integer(_ text: String?) -> Int {
        guard let text, text.utf8.count <= 10 else { return 0 }
        return Int(text) ?? 0
    }
}

/// Reads colors as imagor does.
enum ThumborColor {
    /// A color for a step: `auto`, or eight hexadecimal digits. A name that is not known is black, and a digit that is
    /// not hexadecimal is 0.
    static func text(_ text: String) -> String {
        let name = text.lowercased().drop { $0 == "#" }
        if name == "auto" { return "auto" }
        return color(String(name)).hex
    }

    /// The color of an image such as `color:red` or `color:ff880080`; nil for another image.
    static func canvas(_ image: String) -> Color? {
        let prefix = "color:"
        guard image.lowercased().hasPrefix(prefix) else { return nil }
        let name = image.dropFirst(prefix.count).trimmingPrefix("#").lowercased()
        if ["none", "transparent"].contains(name) { return .transparent }
        return [3, 6, 8].contains(name.utf8.count) || name.utf8.contains { $0.hexDigitValue == nil }
            ? Color(parsing: name) : nil
    }

    static func color(_ text: String) -> Color {
        let name = text.lowercased().drop { $0 == "#" }
        if name == "none" || name == "transparent" { return .transparent }
        if name.utf8.contains(where: { $0.hexDigitValue == nil }), let named = Color(parsing: String(name)) {
            return named
        }
        let digits = Array(name.utf8.map { $0.hexDigitValue ?? 0 })
        let bytes: [UInt8] =
            switch digits.count {
            case 3: digits.map { $0 * 17 }
            case 6, 8: (0..<3).map { digits[2 * $0] * 16 + digits[2 * $0 + 1] }
            default: [0, 0, 0]
            }
        return Color(red: bytes[0], green: bytes[1], blue: bytes[2])
    }
}

/// The position of an overlay along a side, in the notation of imagor.
struct ThumborPlace: Hashable {
    /// Nil = side by side over the whole side.
    private var place: Place? = Place(.start)

    /// Reads pixels from the near edge, or from the far edge if negative; `20p` or `0.2` for a part of the image;
    /// `center`, `repeat`, or the name of an edge, which may have a distance outward.
    init(_ text: String?) {
        guard let text, !text.isEmpty else { return }
        let words: [(String, Place.Edge)] = [
            ("left", .start), ("top", .start), ("l", .start), ("t", .start), ("right", .end), ("bottom", .end),
            ("r", .end), ("b", .end),
        ]
        if text == "center" {
            place = Place(.center)
        } else if text == "repeat" {
            place = nil
        } else if let word = words.first(where: { text == $0.0 || text.hasPrefix($0.0 + "-") }) {
            let outward = ThumborNumber.integer(String(text.dropFirst(word.0.count + 1)))
            place = Place(word.1, distance: .pixels(-outward.clamped(to: -99_999...99_999)))
        } else {
            place = Self.number(text)
        }
    }

    private static func number(_ text: String) -> Place {
        let digits = text.drop { $0 == "-" }
        let edge: Place.Edge = text.hasPrefix("-") ? .end : .start
        if digits.hasSuffix("p") {
            let part = ThumborNumber.integer(String(digits.dropLast()))
            return Place(edge, distance: .percent(Percentage(hundredths: part.clamped(to: 0...100) * 100)))
        }
        guard !digits.hasPrefix("0.") else {
            let part = ThumborNumber.number(String(digits)).clamped(to: 0...1)
            return Place(edge, distance: .percent(Percentage(hundredths: Int((part * 10_000).rounded()))))
        }
        let pixels = ThumborNumber.integer(String(digits)).clamped(to: -99_999...99_999)
        return Place(pixels == 0 ? .start : edge, distance: .pixels(pixels))
    }

    /// The place as steps spell it, with the letters of the edges.
    func text(_ start: Character, _ end: Character) -> String { place?.text(start, end) ?? "tile" }
}
