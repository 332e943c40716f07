import HTTPTypes

extension HTTPFields {
    /// Whether a `Via` field names that recipient (RFC 9110 §7.6.3): `1.1 name`, `HTTP/1.1 name (comment)`, in a list.
    func viaContains(_ pseudonym: String) -> Bool {
        guard let via = self[.via] else { return false }
        return via.utf8.split(separator: UInt8(ascii: ",")).contains { hop in
            let words = hop.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            return words.count >= 2 && words[1].elementsEqual(pseudonym.utf8)
        }
    }
}
