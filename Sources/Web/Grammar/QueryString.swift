/// The name-value pairs of a query, percent-decoded once.
///
/// As RFC 3986 reads a query, a `+` is a plus and not a space: source URLs often stand here unencoded and may hold one.
struct QueryString: Hashable, Sendable {
    struct Pair: Hashable, Sendable {
        var name: String
        /// Nil where nothing follows the name, not even a `=`.
        var value: String?
    }

    var pairs: [Pair]

    init(pairs: [Pair] = []) {
        self.pairs = pairs
    }

    /// - Parameter text: what follows the `?`, as received. Empty members (`a=1&&b=2`) are skipped.
    init(parsing text: String) throws(InvalidParameter) {
        pairs = []
        for member in text.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = member.firstIndex(of: UInt8(ascii: "="))
            guard let name = Self.decoded(member[..<(equals ?? member.endIndex)]) else {
                throw InvalidParameter(nil, "A parameter's name is not valid percent-encoded UTF-8.")
            }
            guard let equals else {
                pairs.append(Pair(name: name))
                continue
            }
            guard let value = Self.decoded(member[equals...].dropFirst()) else {
                throw InvalidParameter(
                    name,
                    "The value of '\(InvalidParameter.clipped(name))' is not valid percent-encoded UTF-8; "
                        + "a plain % is written %25.")
            }
            pairs.append(Pair(name: name, value: value))
        }
    }

    /// Nil for a `%` without two hexadecimal digits, and for bytes that are no UTF-8.
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
