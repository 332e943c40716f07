import DarkroomQuery
import DarkroomRequests
import Foundation

/// The arguments of one option, read as imgproxy reads them.
struct ImgproxyArguments {
    /// The option as the path spells it.
    let option: String
    let texts: [Substring]

    /// Throws unless the option has at most this many arguments.
    func require(atMost count: Int) throws(InvalidParameter) {
        guard texts.count > count else { return }
        throw error("takes at most \(count) \(count == 1 ? "argument" : "arguments"), got \(texts.count)")
    }

    /// The text at a place; nil if it is missing or empty.
    subscript(place: Int) -> Substring? {
        guard place < texts.count, !texts[place].isEmpty else { return nil }
        return texts[place]
    }

    /// The only argument of an option.
    func single() throws(InvalidParameter) -> Substring {
        try require(atMost: 1)
        return texts.first ?? ""
    }

    func error(_ sentence: String) -> InvalidParameter {
        let name = InvalidParameter.clipped(option)
        return InvalidParameter(option, "Option '\(name)' \(sentence).")
    }

    func error(_ text: Substring, isNot expected: String) -> InvalidParameter {
        error("must be \(expected), got '\(InvalidParameter.clipped(String(text)))'")
    }

    // MARK: Values

    /// True for `1`, `t` and `true`; imgproxy takes any other text for false.
    func flag(_ text: Substring) -> Bool { ["1", "t", "T", "true", "TRUE", "True"].contains(text) }

    func integer(
        _ text: Substring, in range: ClosedRange<Int> = 0...1_000_000_000, _ expected: String
    ) throws(InvalidParameter) -> Int {
        let digits = text.hasPrefix("+") ? text.dropFirst() : text
        guard digits.utf8.count <= 18, let number = Int(digits), range.contains(number) else {
            throw error(text, isNot: expected)
        }
        return number
    }

    func number(
        _ text: Substring, in range: ClosedRange<Double>, _ expected: String
    ) throws(InvalidParameter) -> Double {
        let isDecimal = text.utf8.count <= 32 && text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        guard isDecimal, let number = Double(text), number.isFinite, range.contains(number) else {
            throw error(text, isNot: expected)
        }
        return number
    }

    /// A color of three or six hexadecimal digits.
    func color(_ text: Substring) throws(InvalidParameter) -> Color {
        guard [3, 6].contains(text.utf8.count), text.allSatisfy(\.isHexDigit), let color = Color(parsing: String(text))
        else { throw error(text, isNot: "a color in hexadecimal such as ff8800") }
        return color
    }

    /// Text in base64url.
    func decoded(_ text: Substring) throws(InvalidParameter) -> String {
        guard let decoded = Base64URL.lenientText(of: text), !decoded.utf8.contains(0) else {
            throw error(text, isNot: "UTF-8 in base64url")
        }
        return decoded
    }

    /// A gravity at a place, with the offsets after it. A smart gravity chooses the part by its content.
    func gravity(from place: Int, allowsSmart: Bool) throws(InvalidParameter) -> Layout.Gravity {
        let text = texts[place]
        if allowsSmart, text == "obj", texts.dropFirst(place + 1) == ["face"] { return Layout.Gravity(.faces(.all)) }
        guard let point = Self.anchors[text].map(Layout.Gravity.Point.anchor) ?? Self.points[text],
            allowsSmart || point != .attention
        else {
            let hint = text.hasPrefix("obj") ? ": of objects, only faces are found, with obj:face" : ""
            throw error(text, isNot: "a gravity such as ce, no, soea\(allowsSmart ? ", sm" : "") or fp\(hint)")
        }
        let offsets = texts.dropFirst(place + 1)
        guard point != .attention || offsets.isEmpty, point != .focal || offsets.count == 2, offsets.count <= 2 else {
            throw error("has a gravity '\(text)' with a wrong number of offsets")
        }
        let range = point == .focal ? 0.0...1.0 : -1e6...1e6
        var gravity = Layout.Gravity(point)
        let expected = point == .focal ? "a point from 0 to 1" : "an offset"
        if let x = self[place + 1] { gravity.x = try number(x, in: range, expected) }
        if let y = self[place + 2] { gravity.y = try number(y, in: range, expected) }
        return gravity
    }

    private static let points: [Substring: Layout.Gravity.Point] = ["sm": .attention, "fp": .focal]

    static let anchors: [Substring: Anchor] = [
        "ce": .center, "no": .top, "so": .bottom, "ea": .right, "we": .left, "noea": .topRight, "nowe": .topLeft,
        "soea": .bottomRight, "sowe": .bottomLeft,
    ]
}
