import DarkroomNetwork

extension QueryString {
    /// The value of a parameter, taken out: nil = it is not there, "" = it stands without a value.
    mutating func removeValue(of name: String) -> String? {
        guard let index = pairs.firstIndex(where: { $0.name == name }) else { return nil }
        return pairs.remove(at: index).value ?? ""
    }

    /// Refuses what stands twice: whoever reads the first and whoever reads the second would see different requests.
    func requireUnique() throws(InvalidParameter) {
        var names: Set<String> = []
        for pair in pairs {
            guard names.insert(pair.name).inserted else { throw InvalidParameter(givenTwice: pair.name) }
        }
    }

    /// As it follows a `?`, in this order: `name=value` even where there is no value.
    var text: String {
        pairs.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value ?? ""))" }.joined(separator: "&")
    }

    /// Everything but letters, digits, `-`, `.`, `_` and `~` percent-encoded (RFC 3986 §2.3), with capitals.
    static func encoded(_ value: String) -> String {
        PercentEncoding.encode(value)
    }
}

extension InvalidParameter {
    init(givenTwice name: String) {
        self.init(name, "The parameter '\(InvalidParameter.clipped(name))' was given more than once.")
    }
}
