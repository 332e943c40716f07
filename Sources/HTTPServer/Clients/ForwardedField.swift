import DarkroomNetwork

/// One line of a `Forwarded` field (RFC 7239 §4): the address of the client of each hop, in the order of the hops.
struct ForwardedField {
    /// The address in each element's `for` parameter; nil where it is `unknown`, obfuscated, malformed or missing. A
    /// line with unbalanced quotes has one element, which is nil, because its element boundaries are ambiguous.
    let addresses: [IPAddress?]

    init(_ line: String) {
        guard let elements = Self.split(Array(line.utf8)[...], at: UInt8(ascii: ",")) else {
            addresses = [nil]
            return
        }
        // Empty list elements are ignored (RFC 9110 §5.6.1.2).
        addresses = elements.map(Self.trimmed).filter { !$0.isEmpty }.map(Self.address)
    }

    private static func address(ofElement element: ArraySlice<UInt8>) -> IPAddress? {
        guard let pairs = split(element, at: UInt8(ascii: ";")) else { return nil }
        var names: Set<String> = []
        var found: IPAddress?
        for pair in pairs.map(trimmed) where !pair.isEmpty {
            // A malformed or repeated parameter invalidates the whole element.
            guard let (name, value) = parameter(pair), names.insert(name).inserted else { return nil }
            if name == "for" { found = NodeName(value)?.address }
        }
        return found
    }

    private static func parameter(_ pair: ArraySlice<UInt8>) -> (name: String, value: String)? {
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = pair[..<equals]
        guard isToken(name), let value = unquoted(pair[(equals + 1)...]) else { return nil }
        return (String(decoding: name, as: UTF8.self).lowercased(), value)
    }

    /// A token, or the content of a quoted string (RFC 9110 §5.6.4).
    private static func unquoted(_ value: ArraySlice<UInt8>) -> String? {
        let quote = UInt8(ascii: "\"")
        guard value.first == quote else { return isToken(value) ? String(decoding: value, as: UTF8.self) : nil }
        var text: [UInt8] = []
        var rest = value.dropFirst()
        while let byte = rest.popFirst() {
            if byte == quote { return rest.isEmpty ? String(decoding: text, as: UTF8.self) : nil }
            guard byte != UInt8(ascii: "\\") else {
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped)
                continue
            }
            text.append(byte)
        }
        return nil
    }

    /// The parts between separators outside quoted strings; nil when a quoted string is not terminated.
    private static func split(_ text: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>]? {
        var (parts, start, isQuoted, isEscaped) = ([ArraySlice<UInt8>](), text.startIndex, false, false)
        for index in text.indices {
            let byte = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted && byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == separator && !isQuoted {
                parts.append(text[start..<index])
                start = index + 1
            }
        }
        return isQuoted ? nil : parts + [text[start...]]
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let head = text.drop(while: isBlank)
        return head.dropLast(head.reversed().prefix(while: isBlank).count)
    }

    /// Whether the bytes are a token (RFC 9110 §5.6.2).
    private static func isToken(_ text: ArraySlice<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }
}

/// A node of `Forwarded` and `X-Forwarded-For` (RFC 7239 §6): an address, with brackets if it is IPv6, and an optional
/// port.
struct NodeName {
    let address: IPAddress

    /// Nil for `unknown`, for obfuscated identifiers such as `_gazonk`, and for malformed text.
    init?(_ text: some StringProtocol) {
        guard let address = Self.bracketed(String(text)) ?? Self.dotted(String(text)) else { return nil }
        self.address = address.unmapped
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
            let name = port.dropFirst().utf8
            return !name.isEmpty && name.allSatisfy { $0.isASCIIAlphanumeric || "._-".utf8.contains($0) }
        }
        return port.utf8.count <= 5 && port.utf8.allSatisfy(\.isASCIIDigit)
    }
}
