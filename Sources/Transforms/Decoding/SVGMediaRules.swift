/// The conditional rules of a style sheet, which librsvg leaves out: rules for light screens become plain rules, and
/// rules for other media are removed.
struct SVGMediaRules {
    /// The style sheet without the conditions that were decided; nil if it has none.
    private(set) var resolved: String?
    /// Whether there are conditions that depend on more, such as `@container` and the pointer of a user, or layers,
    /// whose precedence is lost.
    private(set) var hasUndecided = false

    private let text: [UInt8]
    private var (position, copied): (Int, Int) = (0, 0)
    private var kept: [UInt8] = []
    /// For each block around the position, whether it belongs to a condition that holds.
    private var blocks: [Bool] = []
    /// The conditions that were read.
    private(set) var count = 0
    private let limit: Int
    private let viewport: SVGViewport

    /// - Parameters:
    ///   - viewport: of the document.
    ///   - limit: the most conditions that are decided.
    init(_ sheet: String, in viewport: SVGViewport = SVGViewport(), limit: Int = maxCount) {
        (self.viewport, self.limit) = (viewport, limit)
        guard sheet.contains("@") else {
            text = []
            return
        }
        text = Array(sheet.utf8)
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "@"): readRule()
            case UInt8(ascii: "{"):
                blocks.append(false)
                position += 1
            case UInt8(ascii: "}"):
                if blocks.popLast() ?? false { remove(from: position, to: position + 1) }
                position += 1
            default: position = Self.next(text, position)
            }
        }
        if copied > 0 { resolved = String(decoding: kept + text[copied...], as: UTF8.self) }
    }

    private static let conditional: Set<String> = [
        "media", "supports", "layer", "container", "scope", "starting-style",
    ]

    /// Reads the condition of a rule at its `@`.
    private mutating func readRule() {
        let start = position
        position += 1
        let end = text[position...].firstIndex { !(0x61...0x7A).contains($0 | 0x20) && $0 != UInt8(ascii: "-") }
        let name = String(decoding: text[position..<(end ?? text.count)], as: UTF8.self).lowercased()
        position = end ?? text.count
        guard Self.conditional.contains(name), let open = openBrace() else { return }
        let condition = text[position..<open]
        count += 1
        let isDecided = condition.count <= Self.maxCondition && count <= limit
        switch isDecided ? holds(name, String(decoding: condition, as: UTF8.self)) : nil {
        case true?:
            // Rules outside of layers, and layers with an order of their own, would take precedence.
            hasUndecided = hasUndecided || name == "layer"
            remove(from: start, to: open + 1)
            blocks.append(true)
            position = open + 1
        case false?:
            position = endOfBlock(open)
            remove(from: start, to: position)
        case nil:
            hasUndecided = true
            position = endOfBlock(open)
        }
    }

    private func holds(_ rule: String, _ condition: String) -> Bool? {
        switch rule {
        case "media": Self.holds(condition, in: viewport)
        case "supports": SVGSupportsCondition.holds(condition)
        case "layer": true
        default: nil
        }
    }

    /// The longest condition that is decided, in bytes.
    static let maxCondition = 1024
    /// The most conditions of a document that are decided.
    static let maxCount = 1000

    /// The `{` of a rule whose name ends at the position; nil if it has no block, which is then behind the position. A
    /// reference of XML (`&gt;`) ends with a semicolon, too.
    private mutating func openBrace() -> Int? {
        var (isReference, index) = (false, position)
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "{"): return index
            case UInt8(ascii: "}"),
                UInt8(ascii: ";") where !isReference:
                position = index
                return nil
            case UInt8(ascii: ";"): isReference = false
            case UInt8(ascii: "&"): isReference = true
            default: break
            }
            index += 1
        }
        position = text.count
        return nil
    }

    private func endOfBlock(_ open: Int) -> Int {
        var (depth, index) = (0, open)
        while index < text.count {
            if text[index] == UInt8(ascii: "{") { depth += 1 }
            if text[index] == UInt8(ascii: "}") { depth -= 1 }
            index = Self.next(text, index)
            if depth == 0 { return index }
        }
        return text.count
    }

    private mutating func remove(from start: Int, to end: Int) {
        kept += text[copied..<start]
        copied = end
    }

    /// The position behind the string, the comment or the character at an index.
    private static func next(_ text: [UInt8], _ index: Int) -> Int {
        switch text[index] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            // A string ends with its line.
            (text[(index + 1)...].firstIndex { $0 == text[index] || $0 == UInt8(ascii: "\n") } ?? text.count - 1) + 1
        case UInt8(ascii: "/") where index + 1 < text.count && text[index + 1] == UInt8(ascii: "*"):
            endOfComment(text, index + 2)
        default: index + 1
        }
    }

    private static func endOfComment(_ text: [UInt8], _ start: Int) -> Int {
        var index = start
        while index + 1 < text.count {
            if text[index] == UInt8(ascii: "*"), text[index + 1] == UInt8(ascii: "/") { return index + 2 }
            index += 1
        }
        return text.count
    }

    // MARK: Conditions

    /// Whether a list of media queries holds for an image that is shown on a screen to a user without preferences
    /// (Media Queries 5, §2-3); nil = unknown.
    static func holds(_ list: String, in viewport: SVGViewport) -> Bool? {
        if list.allSatisfy(\.isWhitespace) { return true }
        let results = list.lowercased().split(separator: ",", omittingEmptySubsequences: false).map {
            query($0, viewport)
        }
        return results.contains(true) ? true : results.contains(nil) ? nil : false
    }

    private static func query(_ text: Substring, _ viewport: SVGViewport) -> Bool? {
        var words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")[...]
        let isNegated = words.hasPrefix("not ")
        if isNegated || words.hasPrefix("only ") { words = words.drop { $0 != " " }.dropFirst() }
        guard !words.isEmpty else { return nil }
        let results = words.split(separator: " and ").map { text in
            let feature = text.filter { $0 != " " }
            return features[feature] ?? viewport.holds(feature)
        }
        let result = results.contains(false) ? false : results.contains(nil) ? nil : true
        return isNegated ? result.map { !$0 } : result
    }

    private static let features: [String: Bool] = [
        "all": true, "screen": true, "print": false, "speech": false,
        "(prefers-color-scheme:light)": true, "(prefers-color-scheme:dark)": false, "(prefers-color-scheme)": true,
        "(prefers-reduced-motion:no-preference)": true, "(prefers-reduced-motion:reduce)": false,
        "(prefers-reduced-motion)": false, "(prefers-contrast:more)": false, "(prefers-contrast:no-preference)": true,
        "(forced-colors:active)": false, "(forced-colors:none)": true, "(-ms-high-contrast:active)": false,
        "(-ms-high-contrast:none)": false,
    ]
}
