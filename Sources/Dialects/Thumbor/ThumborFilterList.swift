import DarkroomNetwork
import DarkroomQuery

/// Reads `filters:name(arguments):…/`, whose arguments may contain slashes.
enum ThumborFilterList {
    /// The most filters of a path.
    static let maxCount = 64

    private static let prefix = "filters:"
    private static let encodedPrefixes = ["filters%3A", "filters%3a"]

    /// Removes the list and its slash from the beginning of a text, and reads it. A list whose colon is encoded was
    /// encoded as a whole: it is decoded before it is split. Otherwise each argument is decoded after it was split.
    static func read(_ text: inout Substring) throws(InvalidParameter) -> [ThumborPath.Filter] {
        if text.hasPrefix(prefix) {
            let list = try split(&text)
            return try filters(list, decode)
        }
        guard encodedPrefixes.contains(where: text.hasPrefix) else { return [] }
        let end = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.endIndex
        let decoded = try decode(text[..<end])
        text = text[end...].dropFirst()
        // A slash within the decoded list may end it, before an image that was encoded along with it.
        var whole = decoded[...] + "/"
        let list = try split(&whole)
        if !whole.isEmpty { text = text.isEmpty ? whole.dropLast() : whole + text }
        return try filters(list) { String($0) }
    }

    private static func decode(_ text: Substring) throws(InvalidParameter) -> String {
        try PercentEncoding.decode(text.utf8, "filters", "A filter")
    }

    /// Removes the list with its prefix and the slash that ends it.
    private static func split(_ text: inout Substring) throws(InvalidParameter) -> Substring {
        let bytes = text.utf8.dropFirst(prefix.utf8.count)
        var depth = 0
        var index = bytes.startIndex
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: "/") where depth == 0:
                let list = text[bytes.startIndex..<index]
                text = text[bytes.index(after: index)...]
                return list
            default: break
            }
            guard depth >= 0 else { break }
            index = bytes.index(after: index)
        }
        throw InvalidParameter(
            "filters", "The filters must have balanced parentheses and end with a slash before the image.")
    }

    private static func filters(
        _ list: Substring, _ decode: (Substring) throws(InvalidParameter) -> String
    ) throws(InvalidParameter) -> [ThumborPath.Filter] {
        var filters: [ThumborPath.Filter] = []
        for entry in parts(of: list, at: UInt8(ascii: ":")) where !entry.isEmpty {
            try require(filters.count < maxCount, "filters", "A path may have at most \(maxCount) filters.")
            guard let open = entry.utf8.firstIndex(of: UInt8(ascii: "(")), entry.utf8.last == UInt8(ascii: ")") else {
                throw InvalidParameter(
                    "filters",
                    "Filter '\(InvalidParameter.clipped(String(entry)))' must have parentheses, even without arguments."
                )
            }
            let inner = entry[entry.utf8.index(after: open)...].dropLast()
            var arguments: [String] = []
            if !inner.isEmpty {
                for argument in parts(of: inner, at: UInt8(ascii: ",")) { arguments.append(try decode(argument)) }
            }
            filters.append(ThumborPath.Filter(name: String(entry[..<open]), arguments: arguments))
        }
        return filters
    }

    /// The parts between separators outside of parentheses.
    private static func parts(of text: Substring, at separator: UInt8) -> [Substring] {
        var parts: [Substring] = []
        var (depth, start) = (0, text.startIndex)
        for index in text.utf8.indices {
            switch text.utf8[index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            case separator where depth == 0:
                parts.append(text[start..<index])
                start = text.utf8.index(after: index)
                if parts.count > 1000 { return parts }
            default: break
            }
        }
        return parts + [text[start...]]
    }
}
