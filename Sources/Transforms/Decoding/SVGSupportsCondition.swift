/// The condition of a rule `@supports` (CSS Conditional Rules 3, §6).
struct SVGSupportsCondition {
    private var rest: Substring

    /// Whether it holds in browsers; nil = unknown, as for functions and for properties that few files ask for.
    static func holds(_ text: String) -> Bool? {
        var condition = SVGSupportsCondition(rest: text.lowercased()[...])
        let result = condition.list(depth: 0)
        return condition.rest.allSatisfy(\.isWhitespace) ? result : nil
    }

    /// Parts with `and`, or with `or`, between them.
    private mutating func list(depth: Int) -> Bool? {
        guard depth < Self.maxDepth else { return nil }
        var results = [part(depth)]
        var word: String?
        while let next = takes("and") ? "and" : takes("or") ? "or" : nil {
            guard word == nil || word == next else { return nil }
            word = next
            results.append(part(depth))
        }
        let decisive = word == "or"
        return results.contains(decisive) ? decisive : results.contains(nil) ? nil : !decisive
    }

    private mutating func part(_ depth: Int) -> Bool? {
        if takes("not") { return part(depth).map { !$0 } }
        guard takes("(") else {
            rest = rest[rest.endIndex...]
            return nil
        }
        skipBlanks()
        let isList = rest.first == "(" || rest.hasPrefix("not ") || rest.hasPrefix("not(")
        guard !isList else {
            let result = list(depth: depth + 1)
            return takes(")") ? result : nil
        }
        return declaration()
    }

    private mutating func declaration() -> Bool? {
        let name = rest.prefix { $0 != ":" && $0 != ")" }
        var (index, depth) = (rest.startIndex, 1)
        while index < rest.endIndex {
            if rest[index] == "(" { depth += 1 }
            if rest[index] == ")" { depth -= 1 }
            if depth == 0 { break }
            index = rest.index(after: index)
        }
        guard index < rest.endIndex, name.endIndex < index else {
            rest = rest[rest.endIndex...]
            return nil
        }
        let value = rest[rest.index(after: name.endIndex)..<index]
        rest = rest[index...].dropFirst()
        let property = name.trimmingWhitespace
        if property.hasPrefix("--") { return true }
        if property.hasPrefix("-ms-") || property.hasPrefix("-moz-") { return false }
        return Self.known.contains(property) && !value.contains("-webkit-") && !value.contains("-moz-") ? true : nil
    }

    private mutating func takes(_ word: String) -> Bool {
        skipBlanks()
        guard rest.hasPrefix(word) else { return false }
        rest = rest.dropFirst(word.count)
        return true
    }

    private mutating func skipBlanks() { rest = rest.drop(while: \.isWhitespace) }

    private static let maxDepth = 8

    /// The properties that files ask for and that browsers know, whatever their value is.
    private static let known: Set<String> = [
        "animation", "aspect-ratio", "background", "background-color", "clip-path", "color", "color-scheme", "display",
        "fill", "filter", "gap", "inset", "isolation", "mask", "mask-image", "mask-type", "mix-blend-mode", "opacity",
        "paint-order", "position", "rotate", "scale", "stop-color", "stroke", "transform", "transform-box",
        "transform-origin", "translate", "vector-effect",
    ]
}
