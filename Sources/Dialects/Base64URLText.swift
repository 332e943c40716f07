import Foundation

/// Base64url as URLs of other services have it: with or without padding, in any number of bits (RFC 4648 §5).
enum Base64URLText {
    /// The bytes of a text; nil for a character outside the alphabet, and for an impossible length.
    static func bytes(of text: some StringProtocol) -> Data? {
        var digits = Array(text.utf8)
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        var (buffer, bits) = (0 as UInt32, 0)
        var bytes = Data(capacity: digits.count * 3 / 4)
        for byte in digits {
            guard let value = value(of: byte) else { return nil }
            buffer = buffer << 6 | UInt32(value)
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
        }
        // One character more than whole bytes is not enough for another byte.
        return bits == 6 ? nil : bytes
    }

    /// The decoded text; nil unless the input is UTF-8 in base64url.
    static func decode(_ text: some StringProtocol) -> String? {
        bytes(of: text).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Without padding.
    static func text(of bytes: Data) -> String {
        bytes.base64EncodedString(options: [.base64URLAlphabet, .omitPaddingCharacter])
    }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
