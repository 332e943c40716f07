import NIOCore

/// A tag of an SVG whose attributes librsvg ignores or refuses, and the edits with which it draws what browsers draw.
struct SVGTag {
    private var element = ""
    /// The end of its name, behind which an attribute can be added.
    private var nameEnd = 0
    private var places: [(name: String, value: Range<Int>)] = []
    /// The shift of the lines of the current `text`, in its font size.
    private var shift = 0.0

    mutating func begin(_ element: String, nameEnd: Int) {
        (self.element, self.nameEnd) = (element, nameEnd)
        places.removeAll(keepingCapacity: true)
    }

    mutating func add(_ attribute: SVGScanner.Attribute) {
        if Self.names.contains(attribute.name), attribute.value.count <= Self.maxLength {
            places.append((attribute.name, attribute.value))
        }
    }

    private static let names: Set<String> = [
        "dominant-baseline", "alignment-baseline", "x", "y", "dx", "dy", "style", "transform", "transform-origin",
        "preserveAspectRatio", "width", "height", "viewBox", "class", "id", "font-size",
    ]
    /// The longest value that is read, in bytes.
    private static let maxLength = 4096

    /// The attributes by their names; of equal ones the first.
    func attributes(_ bytes: UnsafeRawBufferPointer) -> [String: String] {
        let texts = places.map { ($0.name, String(decoding: bytes[$0.value], as: UTF8.self)) }
        return Dictionary(texts, uniquingKeysWith: { first, _ in first })
    }

    /// An edit that adds an attribute.
    func adding(_ name: String, _ value: String) -> SVGDocument.Edit {
        (nameEnd..<nameEnd, ByteBuffer(string: " \(name)=\"\(value)\""))
    }

    /// An edit that replaces the value of an attribute that the tag has.
    func replacing(_ name: String, by value: String) -> SVGDocument.Edit? {
        places.first { $0.name == name }.map { ($0.value, ByteBuffer(string: value)) }
    }

    /// The edits at the end of the tag.
    ///
    /// - Parameters:
    ///   - end: where the tag ends.
    ///   - gaps: is extended by what is not drawn. A tag with its edits has no further ones.
    mutating func edits(
        _ bytes: UnsafeRawBufferPointer, end: Int, _ viewport: SVGViewport, _ gaps: inout SVGGaps
    ) -> [SVGDocument.Edit] {
        let isText = element == "text" || element == "tspan"
        guard isText || places.contains(where: { $0.name == "transform-origin" || $0.name == "preserveAspectRatio" })
        else { return [] }
        let attributes = attributes(bytes)
        var edits = isText ? baseline(attributes, &gaps) : []
        if isText, edits.isEmpty { edits = positions(bytes, end, attributes, &gaps) }
        if let origin = attributes["transform-origin"], let transform = attributes["transform"], origin != "0 0" {
            let around = viewport.transform(transform, around: origin, unit: "")
            if around == nil { gaps.insert(.properties) }
            edits += around.map { [replacing("transform", by: $0), replacing("transform-origin", by: "0 0")] } ?? []
        } else if attributes["transform-origin"] != nil, attributes["style"]?.contains("transform") ?? false {
            gaps.insert(.properties)
        }
        if let ratio = attributes["preserveAspectRatio"], !Self.isRatio(ratio) {
            edits.append(replacing("preserveAspectRatio", by: "xMidYMid"))
        }
        return edits.compactMap(\.self)
    }

    // MARK: Text

    /// The edits that make characters with positions elements of their own: librsvg uses only the first of a list.
    private mutating func positions(
        _ bytes: UnsafeRawBufferPointer, _ end: Int, _ attributes: [String: String], _ gaps: inout SVGGaps
    ) -> [SVGDocument.Edit?] {
        let lists = ["x", "y", "dx", "dy"].compactMap { name in
            attributes[name].map { (name: name, values: $0.split { $0 == "," || $0.isWhitespace }) }
        }
        guard lists.contains(where: { $0.values.count > 1 }) else { return [] }
        guard lists.allSatisfy({ $0.values.allSatisfy { Double($0) != nil && !$0.contains(where: \.isLetter) } }),
            let content = plainContent(bytes, end)
        else {
            gaps.insert(.properties)
            return []
        }
        var text = ""
        for (index, character) in content.text.enumerated() {
            let places = lists.filter { index > 0 && index < $0.values.count }
            let attributes = places.map { " \($0.name)=\"\($0.values[index])\"" }.joined()
            text += places.isEmpty ? "\(character)" : "<tspan\(attributes)>\(character)</tspan>"
        }
        allowance -= text.utf8.count
        guard allowance >= 0 else {
            gaps.insert(.properties)
            return []
        }
        let firsts = lists.filter { $0.values.count > 1 }.map { replacing($0.name, by: String($0.values[0])) }
        return firsts + [(content.range, ByteBuffer(string: text))]
    }

    /// The content of the element, if it is text without references, line ends and blanks that are left out.
    private func plainContent(_ bytes: UnsafeRawBufferPointer, _ end: Int) -> (range: Range<Int>, text: String)? {
        guard end < bytes.count, bytes[end] == UInt8(ascii: ">"), bytes[end - 1] != UInt8(ascii: "/"),
            bytes[nameEnd - element.utf8.count - 1] == UInt8(ascii: "<"),
            let close = bytes.position(of: UInt8(ascii: "<"), from: end),
            bytes[(close + 1)...].first == UInt8(ascii: "/"),
            let text = String(validating: bytes[(end + 1)..<close], as: UTF8.self),
            text.allSatisfy({ $0 != "&" && ($0 == " " || !$0.isWhitespace) }),
            text.first != " ", text.last != " ", !text.contains("  ")
        else { return nil }
        return ((end + 1)..<close, text)
    }

    /// The bytes by which positions may still make the document longer.
    private var allowance = 1 << 20

    /// The distance of a baseline from the alphabetic one, downwards, in the font size. Fonts differ by a few
    /// hundredths; these are of Arial and DejaVu Sans. `middle` is half of the height of an x.
    private static let baselines: [String: Double] = [
        "auto": 0, "alphabetic": 0, "baseline": 0, "middle": 0.265, "central": 0.346, "hanging": 0.733,
        "mathematical": 0.458, "text-before-edge": 0.915, "before-edge": 0.915, "text-top": 0.915,
        "text-after-edge": -0.224, "after-edge": -0.224, "text-bottom": -0.224, "ideographic": -0.224,
    ]

    /// The edits that shift text to its baseline. A line of its own has a `y`.
    private mutating func baseline(_ attributes: [String: String], _ gaps: inout SVGGaps) -> [SVGDocument.Edit?] {
        let names = ["dominant-baseline", "alignment-baseline"]
        let attribute = names.first { attributes[$0] != nil }
        let stated =
            attribute.flatMap { attributes[$0] }
            ?? names.lazy.compactMap { Self.value(of: $0, in: attributes["style"] ?? "") }.first
        let own = stated.flatMap { Self.baselines[$0.trimmingWhitespace] }
        if element == "text" {
            shift = own ?? 0
        } else if attributes["y"] == nil {
            // It would shift the text behind it, too.
            if own != nil, own != shift { gaps.insert(.properties) }
            return []
        }
        let needed: Double = own ?? shift
        guard needed != 0 else { return [] }
        var (added, edits): (String, [SVGDocument.Edit?]) = ("", [])
        if let stated = attributes["dy"]?.trimmingWhitespace {
            let digits = stated.hasSuffix("em") ? stated.dropLast(2) : stated[...]
            guard let number = Double(digits), number == 0 || stated.hasSuffix("em"), abs(number) < 1000 else {
                gaps.insert(.properties)
                return []
            }
            edits.append(replacing("dy", by: "\(((number + needed) * 1000).rounded() / 1000)em"))
        } else {
            added = " dy=\"\(needed)em\""
        }
        if let attribute {
            edits.append(replacing(attribute, by: "auto"))
        } else if own != nil {
            added += " dominant-baseline=\"auto\""
        }
        return edits + [(nameEnd..<nameEnd, ByteBuffer(string: added))]
    }

    private static func value(of property: String, in declarations: String) -> String? {
        declarations.split(separator: ";").lazy.map { $0.split(separator: ":", maxSplits: 1) }
            .first { $0.count == 2 && $0[0].trimmingWhitespace == property }.map { $0[1].trimmingWhitespace }
    }

    /// Whether a value of `preserveAspectRatio` is valid (SVG 2, §8.6). Browsers take others as its default, librsvg
    /// as an error.
    private static func isRatio(_ text: String) -> Bool {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard let align = words.first, words.count == 1 || words.count == 2 && ["meet", "slice"].contains(words[1])
        else { return false }
        let sides = ["Min", "Mid", "Max"]
        return align == "none" || sides.contains { x in sides.contains { "x\(x)Y\($0)" == align } }
    }
}
