import DarkroomNetwork

/// The name-value pairs of a query, percent-decoded once. Signatures cover these pairs, and every grammar reads them.
///
/// As in RFC 3986, a `+` is a plus sign and not a space: source URLs are often given unencoded and may contain one.
package struct QueryString: Hashable, Sendable {
    package struct Pair: Hashable, Sendable {
        package var name: String
        /// Nil for a name without `=`.
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

    /// Reads what follows the `?`, as received. Empty members (`a=1&&b=2`) are skipped.
    package init(parsing text: String) throws(InvalidParameter) {
        pairs = []
        for member in text.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = member.firstIndex(of: UInt8(ascii: "="))
            guard let name = PercentEncoding.decode(member[..<(equals ?? member.endIndex)]) else {
                throw InvalidParameter(nil, "A parameter name is not valid percent-encoded UTF-8.")
            }
            guard let equals else {
                pairs.append(Pair(name: name))
                continue
            }
            let value = try PercentEncoding.decode(
                member[equals...].dropFirst(), name, "The value of parameter '\(InvalidParameter.clipped(name))'")
            pairs.append(Pair(name: name, value: value))
        }
    }

    /// Reads what follows the `?`, as received, with a percent sign that encodes nothing as itself.
    init(decodingLeniently text: String) {
        pairs = text.utf8.split(separator: UInt8(ascii: "&")).map { member in
            let decoded = { (part: Substring.UTF8View) in
                String(decoding: PercentEncoding.decodeLeniently(Array(part)[...]), as: UTF8.self)
            }
            guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return Pair(name: decoded(member)) }
            return Pair(name: decoded(member[..<equals]), value: decoded(member[equals...].dropFirst()))
        }
    }

    /// Without the repetitions of parameters.
    var firstOfEachName: QueryString {
        var names: Set<String> = []
        return QueryString(pairs: pairs.filter { names.insert($0.name).inserted })
    }

    /// Whether a parameter is present, with or without a value.
    package func contains(_ name: String) -> Bool { pairs.contains { $0.name == name } }

    /// Removes a parameter and returns its value: nil where it is absent, "" where it has no value.
    mutating func removeValue(of name: String) -> String? {
        guard let index = pairs.firstIndex(where: { $0.name == name }) else { return nil }
        return pairs.remove(at: index).value ?? ""
    }

    /// Adds a parameter at the end.
    package mutating func append(_ name: String, _ value: String?) {
        pairs.append(Pair(name: name, value: value))
    }

    /// Adds a parameter at the end, unless its value is nil.
    package mutating func put(_ name: String, _ value: String?) {
        if let value { append(name, value) }
    }

    /// Adds a parameter with the value `true`, if the flag is set.
    package mutating func put(_ name: String, isSet flag: Bool?) {
        if flag == true { append(name, "true") }
    }

    /// Adds a parameter at the end, in place of an earlier one of its name.
    package mutating func set(_ name: String, _ value: String) {
        pairs.removeAll { $0.name == name }
        append(name, value)
    }

    /// Throws where a parameter appears more than once.
    func requireUniqueNames() throws(InvalidParameter) {
        // Most queries are so short that comparing all names is quicker than hashing them.
        guard pairs.count > 8 else {
            for (index, pair) in pairs.enumerated() where pairs[..<index].contains(where: { $0.name == pair.name }) {
                throw InvalidParameter(repeated: pair.name)
            }
            return
        }
        var names: Set<String> = []
        for pair in pairs {
            guard names.insert(pair.name).inserted else { throw InvalidParameter(repeated: pair.name) }
        }
    }

    /// The query as written after a `?`, in the order of ``pairs``, as `name=value` even without a value.
    ///
    /// Everything outside the unreserved set of RFC 3986 §2.3 is percent-encoded with uppercase digits, so that the
    /// text survives in HTML, in a `srcset` and next to a comma.
    package var text: String {
        pairs.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value ?? ""))" }.joined(
            separator: "&")
    }
}
