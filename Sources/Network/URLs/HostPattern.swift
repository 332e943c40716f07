/// A pattern of hosts as people write it, in the spelling that ``HostPolicy`` compares hosts in.
///
/// Letter case and a final dot are ignored, international names become A-labels, and addresses have their canonical
/// spelling without brackets. A pattern that matches no host is refused, since it would silently refuse everything.
package struct HostPattern: Hashable, Sendable {
    /// The pattern, as in ``HostPolicy/allowHosts``.
    package let text: String

    /// Why a text is no pattern of hosts.
    package enum Flaw: Error, Hashable {
        /// It matches no host. The suggestion is the pattern that was probably meant; nil = there is none.
        case matchesNothing(suggestion: String?)
        /// It is a network, such as `10.0.0.0/8`.
        case network
    }

    /// Parses a host name or an address, with `*` and `?` as wildcards.
    package init(parsing text: String) throws(Flaw) {
        if let pattern = Self.canonical(text) {
            self.text = pattern
        } else {
            guard !text.contains("/") || (try? CIDR(parsing: text)) == nil else { throw .network }
            throw .matchesNothing(suggestion: Self.suggestion(for: text))
        }
    }

    /// Nil for a text that matches no host.
    private static func canonical(_ text: String) -> String? {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        let address = isBracketed ? String(text.dropFirst().dropLast()) : text
        if isBracketed || text.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1 { return addressPattern(address) }
        var labels = text.split(separator: ".", omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard labels.allSatisfy({ !$0.isEmpty }) else { return nil }
        let name = labels.joined(separator: ".")
        guard name.contains(where: isWildcard) else {
            return (try? SourceHostParser.parse(Array(name.utf8)[...]))?.description
        }
        let patterns = labels.map { label in
            label.contains(where: isWildcard) ? labelPattern(label) : try? SourceHostParser.asciiName(Array(label.utf8))
        }
        guard !patterns.contains(nil) else { return nil }
        return patterns.compactMap(\.self).joined(separator: ".")
    }

    /// An IPv6 address, or a pattern of its canonical spelling.
    private static func addressPattern(_ text: String) -> String? {
        if let value = IPAddress.parseV6(Array(text.utf8)[...]) { return IPAddress.v6(value).description }
        let isPattern = text.contains(":") && text.contains(where: isWildcard)
        let characters = text.lowercased().utf8
        return isPattern && characters.allSatisfy { $0.isLowercaseHexDigit || ":*?".utf8.contains($0) }
            ? text.lowercased() : nil
    }

    private static func labelPattern(_ label: Substring) -> String? {
        let characters = label.utf8
        return characters.allSatisfy { $0.isPlainNameCharacter || "*?".utf8.contains($0) } ? label.lowercased() : nil
    }

    private static func isWildcard(_ character: Character) -> Bool { "*?".contains(character) }

    /// The host of a URL, a host without its port, or the subdomains of `.example.com`.
    private static func suggestion(for text: String) -> String? {
        var rest = text[...]
        if let scheme = rest.firstRange(of: "://") {
            guard ["http", "https"].contains(rest[..<scheme.lowerBound].lowercased()) else { return nil }
            rest = rest[scheme.upperBound...]
        }
        rest = rest.drop { $0 == "/" }.prefix { !"/\\#".contains($0) }
        if let at = rest.lastIndex(of: "@") { rest = rest[at...].dropFirst() }
        let end = rest.lastIndex(of: "]").map { rest.index(after: $0) } ?? rest.lastIndex(of: ":") ?? rest.endIndex
        let host = rest[..<end]
        let name = host.drop { $0 == "." }
        guard !name.isEmpty else { return nil }
        return canonical(host.hasPrefix(".") ? "*.\(name)" : String(name))
    }
}

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
