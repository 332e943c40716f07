/// Percent-encoding (RFC 3986 §2.1).
package enum PercentEncoding {
    /// The bytes that one part of a URL may contain unencoded.
    ///
    /// RFC 3986 §3.3 and §3.4 define the sets for paths and queries of our own URLs. URLs of web servers are encoded as
    /// browsers do: by the sets of the WHATWG URL Standard, which also allow a `%` without digits.
    package struct AllowedBytes: Sendable {
        /// One bit for each byte of ASCII.
        private let bits: UInt128

        private init(unreservedAnd others: String) {
            self.init((0..<UInt8(128)).filter(\.isURLUnreserved) + Array(others.utf8))
        }

        private init(printableExcept others: String) {
            self.init((0x21..<0x7f).filter { !others.utf8.contains($0) })
        }

        private init(_ bytes: [UInt8]) {
            bits = bytes.reduce(0) { $0 | 1 << UInt128($1) }
        }

        func contains(_ byte: UInt8) -> Bool { byte < 128 && bits >> UInt128(byte) & 1 == 1 }

        /// Letters, digits, `-`, `.`, `_` and `~`: safe in every part of a URL (RFC 3986 §2.3).
        package static let unreserved = AllowedBytes(unreservedAnd: "")
        package static let pathSegment = AllowedBytes(unreservedAnd: "!$&'()*+,;=:@")
        /// A whole path with its slashes.
        package static let path = AllowedBytes(unreservedAnd: "!$&'()*+,;=:@/")
        /// An object's key with its slashes, as Signature Version 4 of AWS encodes it.
        package static let objectKey = AllowedBytes(unreservedAnd: "/")
        /// A query. The apostrophe is encoded, as it is in every special scheme's query.
        package static let query = AllowedBytes(unreservedAnd: "!$&()*+,;=:@/?")
        /// One segment of a path of a web server's URL.
        static let webPathSegment = AllowedBytes(printableExcept: "\"#<>?^`{}/")
        /// The query of a web server's URL.
        static let webQuery = AllowedBytes(printableExcept: "\"#<>'")
    }

    /// Encodes every byte outside the set, `%` included, with capital hexadecimal digits.
    package static func encode(_ text: String, allowing allowed: AllowedBytes = .unreserved) -> String {
        encode(text.utf8, allowing: allowed)
    }

    /// Encodes every byte outside the set.
    static func encode(_ bytes: some Collection<UInt8>, allowing allowed: AllowedBytes) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        for byte in bytes { append(byte, to: &output, allowed) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Completes the encoding of a part that may be encoded already: a `%` that begins a well-formed escape stays, and
    /// any other `%` becomes `%25`.
    package static func complete(_ bytes: ArraySlice<UInt8>, allowing allowed: AllowedBytes) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        for index in bytes.indices {
            if escapedByte(at: index, of: bytes) != nil {
                output.append(bytes[index])
            } else {
                append(bytes[index], to: &output, allowed)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Replaces every well-formed escape by its byte, once. A stray `%` stays.
    package static func decodeLeniently(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let escaped = escapedByte(at: index, of: bytes)
            output.append(escaped ?? bytes[index])
            index += escaped == nil ? 1 : 3
        }
        return output
    }

    /// Replaces every escape by its byte, once. Returns nil for a `%` without two hexadecimal digits and for bytes that
    /// are not UTF-8.
    package static func decode(_ text: Substring.UTF8View) -> String? {
        guard text.contains(UInt8(ascii: "%")) else { return String(text) }
        var output: [UInt8] = []
        output.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                output.append(byte)
                continue
            }
            guard let high = rest.next()?.hexDigitValue, let low = rest.next()?.hexDigitValue else { return nil }
            output.append(high << 4 | low)
        }
        return String(validating: output, as: UTF8.self)
    }

    private static func append(_ byte: UInt8, to output: inout [UInt8], _ allowed: AllowedBytes) {
        if allowed.contains(byte) {
            output.append(byte)
        } else {
            output += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0xf)]
        }
    }

    private static func escapedByte(at index: Int, of bytes: ArraySlice<UInt8>) -> UInt8? {
        guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.endIndex,
            let high = bytes[index + 1].hexDigitValue, let low = bytes[index + 2].hexDigitValue
        else { return nil }
        return high << 4 | low
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }
}
