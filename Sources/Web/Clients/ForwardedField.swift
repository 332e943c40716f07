import DarkroomNetwork
import DarkroomOrigin

/// One line of a `Forwarded` field (RFC 7239 §4): what each hop says of who asked it, in the order of the hops.
struct ForwardedField {
    /// The address in each element's `for`; nil where it is `unknown`, obfuscated, malformed or missing. A line whose quotes do not
    /// match has one element, and that is nil: where elements end is then anybody's guess.
    let addresses: [IPAddress?]

    init(_ line: String) {
        let elements = FieldList(line)
        guard !elements.hasUnclosedQuote else {
            addresses = [nil]
            return
        }
        // RFC 9110 §5.6.1.2: empty elements of a list do not count.
        addresses = elements.members.filter { !$0.isEmpty }.map(Self.address)
    }

    private static func address(ofElement element: Substring) -> IPAddress? {
        let pairs = FieldList(element, separator: UInt8(ascii: ";"))
        guard !pairs.hasUnclosedQuote else { return nil }
        var names: Set<String> = []
        var found: IPAddress?
        for pair in pairs.members where !pair.isEmpty {
            // Nothing of an element counts where some of it is malformed or stands there twice.
            guard let (name, value) = parameter(pair), names.insert(name).inserted else { return nil }
            if name == "for" { found = NodeName(value)?.address }
        }
        return found
    }

    /// A name and its value, which is a token or a quoted string (RFC 7239 §4).
    private static func parameter(_ pair: Substring) -> (name: String, value: String)? {
        var reader = FieldReader(pair)
        guard let name = reader.token(), reader.skip("="), let value = reader.quotedString() ?? reader.token(),
            reader.isAtEnd
        else { return nil }
        return (name.lowercased(), value)
    }
}
