/// The name-value pairs of a query, percent-decoded once: what a signature covers, and what every grammar reads.
///
/// As in RFC 3986, a `+` is a plus sign and not a space: source URLs are often given unencoded and may contain one.
package struct QueryString: Hashable, Sendable {
    package struct Pair: Hashable, Sendable {
        package var name: String
        /// Nil where the name stands alone, without `=`.
        package var value: String?

        package init(name: String, value: String? = nil) {
            self.name = name
            self.value = value
        }
    }

    package var pairs: [Pair]

    package init(pairs: [Pair] = []) {
        self.pairs = pairs
    }

    /// Reads a query.
    ///
    /// - Parameter text: What follows the `?`, as received. Empty members (`a=1&&b=2`) are skipped.
    package init(parsing text: String) throws(InvalidParameter) {
        pairs = []
        for member in text.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = member.firstIndex(of: UInt8(ascii: "="))
            guard let name = Self.decoded(member[..<(equals ?? member.endIndex)]) else {
                throw InvalidParameter(nil, "A parameter name is not valid percent-encoded UTF-8.")
            }
            guard let equals else {
                pairs.append(Pair(name: name))
                continue
            }
            guard let value = Self.decoded(member[equals...].dropFirst()) else {
                throw InvalidParameter(
                    name,
                    "The value of parameter '\(InvalidParameter.clipped(name))' is not valid percent-encoded UTF-8; "
                        + "write a literal % as %25.")
            }
            pairs.append(Pair(name: name, value: value))
        }
    }

    /// Whether a parameter is present, with or without a value.
    func contains(_ name: String) -> Bool { pairs.contains { $0.name == name } }

    /// Removes a parameter and returns its value: nil where it is absent, "" where it has no value.
    mutating func removeValue(of name: String) -> String? {
        guard let index = pairs.firstIndex(where: { $0.name == name }) else { return nil }
        return pairs.remove(at: index).value ?? ""
    }

    /// Adds a parameter at the end.
    package mutating func append(_ name: String, _ value: String?) {
        pairs.append(Pair(name: name, value: value))
    }

    /// Throws where a parameter appears more than once.
    func requireUniqueNames() throws(InvalidParameter) {
        var names: Set<String> = []
        for pair in pairs {
            guard names.insert(pair.name).inserted else { throw InvalidParameter(repeated: pair.name) }
        }
    }

    /// The query as written behind a `?`, in the order of ``pairs``, as `name=value` even where there is no value.
    ///
    /// Everything outside the unreserved set of RFC 3986 §2.3 is percent-encoded with uppercase digits, so that the
    /// text survives in HTML, in a `srcset` and next to a comma.
    package var text: String {
        pairs.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value ?? ""))" }.joined(separator: "&")
    }

    private static func encoded(_ value: String) -> String {
        var text: [UInt8] = []
        for byte in value.utf8 {
            if isUnreserved(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte | 0x20) || Digits.isDigit(byte) || "-._~".utf8.contains(byte)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    /// Nil for a `%` without two hexadecimal digits, and for bytes that are not UTF-8.
    private static func decoded(_ text: Substring.UTF8View) -> String? {
        guard text.contains(UInt8(ascii: "%")) else { return String(validating: text, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
