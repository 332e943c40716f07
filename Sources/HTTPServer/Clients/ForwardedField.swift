import DarkroomNetwork

extension TrustedProxies {
    /// The addresses in the `for` parameters of a line of `Forwarded` (RFC 7239 §4), in the order of the hops; nil
    /// where one is `unknown`, obfuscated, malformed or missing. A line with unbalanced quotes has one element, which
    /// is nil, because its element boundaries are ambiguous.
    static func addresses(ofForwarded line: String) -> [IPAddress?] {
        let elements = FieldList(line)
        // Empty list elements are ignored (RFC 9110 §5.6.1.2).
        return elements.hasUnclosedQuote ? [nil] : elements.members.filter { !$0.isEmpty }.map(address)
    }

    private static func address(ofElement element: Substring) -> IPAddress? {
        let pairs = FieldList(element, separator: UInt8(ascii: ";"))
        guard !pairs.hasUnclosedQuote else { return nil }
        var names: Set<String> = []
        var found: IPAddress?
        for pair in pairs.members where !pair.isEmpty {
            // A malformed or repeated parameter invalidates the whole element.
            guard let (name, value) = pair.parameter, names.insert(name).inserted else { return nil }
            if name == "for" { found = IPAddress(node: value) }
        }
        return found
    }
}

extension IPAddress {
    /// The address of a node of `Forwarded` and `X-Forwarded-For` (RFC 7239 §6), with brackets if it is IPv6, and an
    /// optional port. Nil for `unknown`, for obfuscated identifiers such as `_gazonk`, and for malformed text.
    init?(node text: String) {
        guard let address = Self.bracketed(text) ?? Self.dotted(text) else { return nil }
        self = address.unmapped
    }

    private static func bracketed(_ text: String) -> IPAddress? {
        guard text.first == "[", let end = text.firstIndex(of: "]"), isPort(text[text.index(after: end)...]),
            case .v6(let value)? = IPAddress(String(text[text.index(after: text.startIndex)..<end]))
        else { return nil }
        return .v6(value)
    }

    private static func dotted(_ text: String) -> IPAddress? {
        let host = text.prefix { $0 != ":" }
        guard isPort(text[host.endIndex...]), case .v4(let value)? = IPAddress(String(host)) else { return nil }
        return .v4(value)
    }

    /// Whether the text is empty, or a colon and a port: up to five digits, or an obfuscated name.
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.first else { return true }
        let port = text.dropFirst()
        guard colon == ":", !port.isEmpty else { return false }
        if port.first == "_" {
            return port.count > 1 && port.dropFirst().utf8.allSatisfy(\.isPlainNameCharacter)
        }
        return port.utf8.count <= 5 && port.utf8.allSatisfy(\.isASCIIDigit)
    }
}
