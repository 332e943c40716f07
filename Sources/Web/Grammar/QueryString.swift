import DarkroomNetwork

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
            guard let name = PercentEncoding.decode(member[..<(equals ?? member.endIndex)]) else {
                throw InvalidParameter(nil, "A parameter's name is not valid percent-encoded UTF-8.")
            }
            guard let equals else {
                pairs.append(Pair(name: name))
                continue
            }
            guard let value = PercentEncoding.decode(member[equals...].dropFirst()) else {
                throw InvalidParameter(
                    name,
                    "The value of '\(InvalidParameter.clipped(name))' is not valid percent-encoded UTF-8; "
                        + "a plain % is written %25.")
            }
            pairs.append(Pair(name: name, value: value))
        }
    }
}
