import DarkroomRequests

/// Texts of CSS in an SVG, as librsvg understands them: with lengths in pixels and without variables.
///
/// libvips draws at 72 dots per inch, where CSS has 96 pixels per inch, and librsvg knows no `var()`.
struct SVGStyle {
    /// The values of variables that hold for the whole document; nil = the value depends on the element.
    private(set) var variables: [String: String?] = [:]
    /// The values of variables that only rules for other elements declare, all with this value; nil = with several.
    private var scoped: [String: String?] = [:]
    /// What was found that is not drawn as browsers draw it.
    private(set) var gaps: SVGGaps = []
    /// Whether lengths depend on a font size.
    private(set) var usesFontSize = false
    private var viewport = SVGViewport()
    private var units = absoluteUnits
    /// The selectors of rules that hold for the root element.
    private var rootSelectors: Set<String> = [":root", "svg", "*"]

    /// - Parameter root: the attributes of the root element.
    mutating func begin(_ root: [String: String], _ viewport: SVGViewport) {
        self.viewport = viewport
        if let width = viewport.width, let height = viewport.height {
            units += [
                ("vw", width), ("vh", height), ("vmin", min(width, height)), ("vmax", max(width, height)),
            ].map { (Array($0.0.utf8), $0.1 / 100) }
        }
        if root["font-size"] == nil, !(root["style"]?.contains("font") ?? false) {
            units.append((Array("rem".utf8), 16))
        }
        let classes = (root["class"] ?? "").split(whereSeparator: \.isWhitespace).prefix(16).map { ".\($0)" }
        for name in classes + (root["id"].map { ["#\($0)"] } ?? []) { rootSelectors.formUnion([name, "svg\(name)"]) }
    }

    // MARK: Variables

    /// Adds the variables that a style sheet or, for the root element alone, an attribute `style` declares.
    mutating func addVariables(of text: String, isRoot: Bool? = nil) {
        guard text.contains("--") else { return }
        var rest = text[...]
        while let start = rest.firstRange(of: "--") {
            searches += 1
            guard variables.count < Self.maxVariables, searches < Self.maxSearches else {
                // A later declaration may change any of them.
                variables = variables.mapValues { _ in nil }
                scoped = [:]
                return
            }
            let before = rest[..<start.lowerBound]
            let name = rest[start.lowerBound...].prefix { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
            rest = rest[name.endIndex...]
            let value = rest.drop(while: \.isWhitespace)
            guard value.first == ":", before.last.map({ $0 != "(" && !$0.isLetter && !$0.isNumber }) ?? true else {
                continue
            }
            let end = value.firstIndex { $0 == ";" || $0 == "}" } ?? value.endIndex
            let applies = isRoot ?? isOfRoot(text[..<start.lowerBound])
            let content = value[..<end].dropFirst().trimmingWhitespace
            let known = variables[String(name)]
            // What would end an attribute stays where it is.
            let isPlain =
                content.utf8.count <= Self.maxValueBytes && !content.contains(where: "\"'<&".contains)
            let isUsable = isPlain && applies && (known == nil || known == content)
            variables.updateValue(isUsable ? content : nil, forKey: String(name))
            let isAlone = isPlain && !applies && (known == nil || scoped[String(name)] == content)
            scoped.updateValue(isAlone ? content : nil, forKey: String(name))
            rest = value[end...]
        }
    }

    /// Whether a declaration behind this text holds for the root element and so, by inheritance, for all.
    private func isOfRoot(_ text: Substring) -> Bool {
        let text = text.utf8.suffix(Self.maxRuleLength)
        guard let open = text.lastIndex(of: UInt8(ascii: "{")) else { return false }
        let selectors = text[..<open]
        let start = selectors.lastIndex { "}{;/[".utf8.contains($0) }
        let isNested = start.map { selectors[$0] == UInt8(ascii: "{") } ?? false
        let names = (start.map { selectors[$0...].dropFirst() } ?? selectors).split(separator: UInt8(ascii: ","))
        return !isNested
            && names.contains {
                rootSelectors.contains(String(decoding: $0, as: UTF8.self)[...].trimmingWhitespace)
            }
    }

    /// The text with the values of its variables; nil if it has none. The values of unknown variables are a gap.
    private mutating func substituted(_ text: String, depth: Int = 0) -> String? {
        guard text.contains("var(") else { return nil }
        var (result, rest) = ("", text[...])
        while let start = rest.firstRange(of: "var(") {
            let inside = rest[start.upperBound...]
            guard depth < Self.maxDepth, let end = Self.closingParenthesis(inside) else { break }
            let parts = inside[..<end].split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
            let known = variables[String(parts[0].trimmingWhitespace)]
            let fallback = known == nil && parts.count == 2 ? parts[1].trimmingWhitespace : nil
            let next = inside[end...].dropFirst()
            let other = parts.count == 1 ? scoped[String(parts[0].trimmingWhitespace)]?.flatMap(\.self) : nil
            let value = known.flatMap(\.self) ?? fallback ?? other
            // A reference takes time, even to an empty value.
            allowance -= Self.referenceBytes + (value?.utf8.count ?? 0)
            guard allowance >= 0 else { break }
            if let value {
                result += rest[..<start.lowerBound]
                result += substituted(value, depth: depth + 1) ?? value
            } else {
                gaps.insert(.variables)
                result += rest[..<next.startIndex]
            }
            rest = next
        }
        if rest.contains("var(") { gaps.insert(.variables) }
        return result + rest
    }

    private static func closingParenthesis(_ text: Substring) -> Substring.Index? {
        var depth = 0
        for (index, character) in zip(text.indices, text) {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if depth < 0 { return index }
        }
        return nil
    }

    /// The bytes by which variables may still make the document longer.
    private var allowance = 1 << 20
    /// Variables that refer to each other could make a short text endless.
    private static let maxDepth = 8
    private static let referenceBytes = 16
    private static let (maxVariables, maxValueBytes, maxRuleLength) = (1000, 256, 4096)
    /// The most places of a document that may be declarations.
    private static let maxSearches = 5000
    private var searches = 0

    // MARK: Texts

    /// The opaque color that an attribute `style` of the root element states as its background; nil if it has none.
    static func background(of declarations: String) -> Color? {
        var (color, wins): (Color?, Bool) = (nil, false)
        for declaration in declarations.split(separator: ";") {
            let parts = declaration.split(separator: ":", maxSplits: 1).map(\.trimmingWhitespace)
            guard parts.count == 2, ["background", "background-color"].contains(parts[0].lowercased()) else { continue }
            let words = parts[1].lowercased().split(separator: "!", omittingEmptySubsequences: false)
                .map(\.trimmingWhitespace)
            let isImportant = words.count == 2 && words[1] == "important"
            guard isImportant || !wins else { continue }
            (color, wins) = (opaqueColor(words[0]), isImportant)
        }
        return color
    }

    /// Whether an attribute `style` of the root element states a background that is not one opaque color.
    static func hasOtherBackground(_ declarations: String) -> Bool {
        guard declarations.contains("background"), background(of: declarations) == nil else { return false }
        return declarations.split(separator: ";").contains { declaration in
            let parts = declaration.split(separator: ":", maxSplits: 1).map { $0.trimmingWhitespace.lowercased() }
            return parts.count == 2 && ["background", "background-color", "background-image"].contains(parts[0])
                && !["", "none", "transparent", "inherit", "initial", "unset"].contains(parts[1])
        }
    }

    /// The declarations with a background that a style sheet has for the root element, in order.
    func rootBackgrounds(of sheet: String) -> [String] {
        var found: [String] = []
        var rest = sheet[...]
        for _ in 0..<Self.maxBackgrounds {
            guard let start = rest.firstRange(of: "background") else { break }
            let end = rest[start.upperBound...].firstIndex(of: "}") ?? rest.endIndex
            if isOfRoot(sheet[..<start.lowerBound]) {
                let block = sheet[..<start.lowerBound].utf8.suffix(Self.maxRuleLength)
                let open = block.lastIndex(of: UInt8(ascii: "{")) ?? block.startIndex
                found.append(String(sheet[sheet.utf8.index(after: open)..<end]))
            }
            rest = rest[end...]
        }
        return found
    }

    private static let maxBackgrounds = 100

    private static func opaqueColor(_ text: String) -> Color? {
        if text.hasPrefix("rgb("), text.last == ")" {
            // A fourth value, also after a slash, is alpha.
            let values = text.dropFirst(4).dropLast().split { $0 == "," || $0.isWhitespace }.map { UInt8($0) }
            let bytes = values.compactMap(\.self)
            return values.count == 3 && bytes.count == 3 ? Color(red: bytes[0], green: bytes[1], blue: bytes[2]) : nil
        }
        let color = text.hasPrefix("#") ? Color(parsing: text) : Color.named(text)
        return color?.alpha == 255 ? color : nil
    }

    private static let colors = ["oklch(", "oklab(", "lab(", "lch(", "hwb(", "color(", "color-mix(", "light-dark("]

    /// A style sheet, or an attribute's value, with lengths in pixels and without variables; nil if it is the same.
    mutating func rewritten(_ text: String) -> String? {
        var current = substituted(text) ?? text
        if current.contains("(") {
            current = SVGColors.inSRGB(current)
            let lowercase = current.lowercased()
            if Self.colors.contains(where: lowercase.contains) { gaps.insert(.colors) }
            if current.contains("transform-origin") { current = withoutOrigins(current) }
        }
        if current.contains("@font-face") { gaps.insert(.fonts) }
        if Self.hasUnknownProperty(current) { gaps.insert(.properties) }
        let (pixels, hasUnknownUnit) = withPixels(Array(current.utf8))
        if hasUnknownUnit { gaps.insert(.units) }
        return pixels ?? (current == text ? nil : current)
    }

    /// The text with transforms in place of transforms around an origin, where one block of declarations has both.
    private func withoutOrigins(_ text: String) -> String {
        var parts: [String] = []
        var rest = text[...]
        for _ in 0..<Self.maxBackgrounds {
            guard let place = rest.firstRange(of: "transform-origin") else { break }
            let start = rest[..<place.lowerBound].lastIndex { $0 == "{" || $0 == "}" }
            let end = rest[place.upperBound...].firstIndex { $0 == "{" || $0 == "}" } ?? rest.endIndex
            let block = rest[(start.map { rest.index(after: $0) } ?? rest.startIndex)..<end]
            parts.append(String(rest[..<block.startIndex]))
            parts.append(transformed(block) ?? String(block))
            rest = rest[end...]
        }
        return parts.joined() + rest
    }

    private func transformed(_ block: Substring) -> String? {
        guard !block.contains("/*"), !block.contains("transform-box"), !block.contains("animation") else { return nil }
        var values: [String: Substring] = [:]
        var kept: [Substring] = []
        for declaration in block.split(separator: ";") {
            let parts = declaration.split(separator: ":", maxSplits: 1)
            let name = parts.first?.trimmingWhitespace ?? ""
            if parts.count == 2, name == "transform" || name == "transform-origin" {
                values[name] = parts[1]
            } else {
                kept.append(declaration)
            }
        }
        guard let transform = values["transform"]?.trimmingWhitespace, transform.contains("("),
            let origin = values["transform-origin"]?.trimmingWhitespace,
            let around = viewport.transform(transform, around: origin, unit: "px")
        else { return nil }
        return (kept.map(String.init) + ["transform:\(around)"]).joined(separator: ";")
    }

    /// Whether it names a property that changes a drawing, and that librsvg does not know.
    private static func hasUnknownProperty(_ text: String) -> Bool {
        guard text.contains("-") else { return false }
        return ["transform-origin", "transform-box", "non-scaling-stroke"].contains(where: text.contains)
            || text.contains("clip-path") && shapes.contains(where: text.contains)
    }

    private static let shapes = ["circle(", "ellipse(", "inset(", "polygon(", "path(", "rect(", "xywh("]

    /// Pixels in a unit, by its name in lower case.
    private static let absoluteUnits: [(name: [UInt8], pixels: Double)] = [
        (Array("mm".utf8), 96 / 25.4), (Array("cm".utf8), 96 / 2.54), (Array("in".utf8), 96),
        (Array("pt".utf8), 4.0 / 3), (Array("pc".utf8), 16), (Array("q".utf8), 96 / 101.6),
    ]

    private static let unknownUnits = ["rem", "vw", "vh", "vmin", "vmax", "vi", "vb", "ch", "lh", "rlh", "ic"]
        .map { Array($0.utf8) }
    private static let fontUnits = ["em", "ex"].map { Array($0.utf8) }

    /// The text with absolute lengths in pixels, outside of strings and addresses; nil if it has none. And whether it
    /// has lengths that librsvg does not know.
    private mutating func withPixels(_ text: [UInt8]) -> (text: String?, hasUnknownUnit: Bool) {
        var (result, copied): ([UInt8], Int) = ([], 0)
        var hasUnknownUnit = false
        var position = 0
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                position = (text[(position + 1)...].firstIndex(of: byte) ?? text.count - 1) + 1
            } else if Self.isNumeral(byte) {
                let end = Self.endOfNumber(text, position)
                let number = Double(String(decoding: text[position..<end], as: UTF8.self))
                if let unit = Self.unit(text, end, units), let number {
                    result += text[copied..<position]
                    result += Array("\((number * unit.pixels * 1e4).rounded() / 1e4)px".utf8)
                    copied = end + unit.name.count
                }
                position = Self.endOfWord(text, end)
                let word = text[end..<position]
                hasUnknownUnit =
                    hasUnknownUnit || copied < position && Self.unknownUnits.contains { $0.elementsEqual(word) }
                usesFontSize = usesFontSize || Self.fontUnits.contains { $0.elementsEqual(word) }
            } else if byte == UInt8(ascii: "-"), position + 1 < text.count, Self.isNumeral(text[position + 1]) {
                position += 1
            } else if Self.isWord(byte) {
                let end = Self.endOfWord(text, position)
                let isAddress = text[position..<end].elementsEqual("url".utf8)
                hasUnknownUnit = hasUnknownUnit || text[position..<end].elementsEqual("calc".utf8)
                position = isAddress ? text[end...].firstIndex(of: UInt8(ascii: ")")) ?? text.count : end
            } else {
                position += 1
            }
        }
        guard copied > 0 else { return (nil, hasUnknownUnit) }
        return (String(decoding: result + text[copied...], as: UTF8.self), hasUnknownUnit)
    }

    private static func endOfNumber(_ text: [UInt8], _ start: Int) -> Int {
        text[start...].firstIndex { !isNumeral($0) } ?? text.count
    }

    private static func unit(
        _ text: [UInt8], _ start: Int, _ units: [(name: [UInt8], pixels: Double)]
    ) -> (name: [UInt8], pixels: Double)? {
        let end = endOfWord(text, start)
        return units.first { unit in
            end - start == unit.name.count && zip(text[start..<end], unit.name).allSatisfy { $0 | 0x20 == $1 }
        }
    }

    /// The end of letters, digits, signs and anything that a name can have.
    private static func endOfWord(_ text: [UInt8], _ start: Int) -> Int {
        text[start...].firstIndex { !isWord($0) } ?? text.count
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isNumeral(_ byte: UInt8) -> Bool { isDigit(byte) || byte == UInt8(ascii: ".") }

    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte >= 0x80 || "-_#%".utf8.contains(byte)
    }
}

extension StringProtocol {
    var trimmingWhitespace: String {
        let start = drop(while: \.isWhitespace)
        let last = start.lastIndex { !$0.isWhitespace }
        return last.map { String(start[...$0]) } ?? ""
    }
}
