/// Percent-encoding of RFC 3986 §2.1 with the character sets of its §3.3 and §3.4, which are those of the WHATWG URL
/// Standard and a few bytes stricter, so that no later URL parser finds anything left to correct.
package enum PercentEncoding {
    /// Bytes that stay as they are.
    package struct Kept: Sendable {
        fileprivate let bytes: Set<UInt8>

        private static let unreserved = letters + "0123456789-._~"
        private static let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

        /// One segment of a path.
        package static let path = Kept(bytes: Set((unreserved + "!$&'()*+,;=:@").utf8))
        /// A whole path with its slashes.
        package static let localPath = Kept(bytes: path.bytes.union("/".utf8))
        /// A query; the apostrophe is encoded as in every special scheme's.
        package static let query = Kept(bytes: Set((unreserved + "!$&()*+,;=:@/?").utf8))
    }

    /// Encodes what is not kept. A `%` that begins a well-formed escape stays; a stray one becomes `%25`.
    package static func encode(_ bytes: ArraySlice<UInt8>, keeping kept: Kept) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        for index in bytes.indices {
            let byte = bytes[index]
            if kept.bytes.contains(byte) || byte == UInt8(ascii: "%") && escapedByte(at: index, of: bytes) != nil {
                output.append(byte)
            } else {
                output += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0xf)]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Replaces every well-formed escape by its byte, once; stray `%` stay.
    package static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
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

    private static func escapedByte(at index: Int, of bytes: ArraySlice<UInt8>) -> UInt8? {
        guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.endIndex,
            let high = bytes[index + 1].hexDigitValue, let low = bytes[index + 2].hexDigitValue
        else { return nil }
        return UInt8(high << 4 | low)
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }
}
