package import Foundation

/// Base64url (RFC 4648 §5).
package enum Base64URL {
    /// Without padding.
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString(options: [.base64URLAlphabet, .omitPaddingCharacter])
    }

    /// Decodes the canonical form, which ``text(of:)`` produces, so that each sequence of bytes has one accepted
    /// spelling; nil for any other text.
    package static func bytes(of text: String) -> Data? {
        lenientBytes(of: text).flatMap { Self.text(of: $0).utf8.elementsEqual(text.utf8) ? $0 : nil }
    }

    /// Decodes text with or without padding, in any number of bits; nil for a character outside the alphabet, and for
    /// an impossible length.
    private static func lenientBytes(of text: some StringProtocol) -> Data? {
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

    /// The text that was encoded, in any spelling that ``lenientBytes(of:)`` reads; nil unless it is UTF-8.
    package static func lenientText(of text: some StringProtocol) -> String? {
        lenientBytes(of: text).flatMap { String(validating: $0, as: UTF8.self) }
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
