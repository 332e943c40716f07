import DarkroomNetwork
import DarkroomOrigin

/// One line of a `Forwarded` field (RFC 7239 §4): what each hop says of who asked it, in the order of the hops.
struct ForwardedField {
    /// The address in each element's `for`; nil where it is `unknown`, obfuscated, malformed or missing. A line whose quotes do not
    /// match has one element, and that is nil: where elements end is then anybody's guess.
    let addresses: [IPAddress?]

    init(_ line: String) {
        guard let elements = Self.split(Array(line.utf8)[...], at: UInt8(ascii: ",")) else {
            addresses = [nil]
            return
        }
        // RFC 9110 §5.6.1.2: empty elements of a list do not count.
        addresses = elements.map(Self.trimmed).filter { !$0.isEmpty }.map(Self.address)
    }

    private static func address(ofElement element: ArraySlice<UInt8>) -> IPAddress? {
        guard let pairs = split(element, at: UInt8(ascii: ";")) else { return nil }
        var names: Set<String> = []
        var found: IPAddress?
        for pair in pairs.map(trimmed) where !pair.isEmpty {
            // Nothing of an element counts where some of it is malformed or stands there twice.
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

    /// A token, or what stands in a quoted string (RFC 9110 §5.6.4).
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

    /// The parts between separators that stand outside quoted strings; nil = a quoted string has no end.
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

    /// RFC 9110 §5.6.2.
    private static func isToken(_ text: ArraySlice<UInt8>) -> Bool {
        !text.isEmpty
            && text.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }
}
