/// A pattern that matches whole texts: `*` matches any run of characters and `?` one. Letter case is ignored.
///
/// Matching backtracks to the last `*` only, so its time is at most proportional to |text|·|pattern|.
package struct Glob: Hashable, Sendable {
    private let pattern: [UInt8]

    /// A pattern. Every text is valid.
    package init(_ pattern: String) {
        self.pattern = Array(pattern.lowercased().utf8)
    }

    /// Whether the pattern matches the whole text.
    package func matches(_ text: some StringProtocol) -> Bool {
        let text = Array(text.lowercased().utf8)
        var (position, index) = (0, 0)
        var lastStar: (index: Int, position: Int)?
        while position < text.count {
            if index < pattern.count, pattern[index] == UInt8(ascii: "*") {
                lastStar = (index, position)
                index += 1
            } else if index < pattern.count, pattern[index] == UInt8(ascii: "?") || pattern[index] == text[position] {
                (position, index) = (position + 1, index + 1)
            } else if let star = lastStar {
                lastStar = (star.index, star.position + 1)
                (position, index) = (star.position + 1, star.index + 1)
            } else {
                return false
            }
        }
        return pattern[index...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
