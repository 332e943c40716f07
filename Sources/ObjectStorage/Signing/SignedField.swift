/// A header field that the signature covers.
struct SignedField: Equatable {
    /// The name in lower case.
    let name: String
    /// The value as sent.
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the value is printable ASCII without spaces at its ends. HTTP allows more, but intermediaries change it,
    /// and the signature would no longer match.
    var isValid: Bool {
        value.utf8.allSatisfy { (0x20...0x7e).contains($0) } && value.utf8.first != 0x20 && value.utf8.last != 0x20
    }

    /// The value in the canonical request: runs of spaces become one.
    var canonicalValue: String {
        var isAfterSpace = false
        let bytes = value.utf8.filter { byte in
            defer { isAfterSpace = byte == 0x20 }
            return !(isAfterSpace && byte == 0x20)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
