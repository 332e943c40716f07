import Foundation

/// Base64url without padding (RFC 4648 §5). Each sequence of bytes has exactly one accepted spelling.
enum Base64URL {
    static func text(of bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString(options: [.base64URLAlphabet, .omitPaddingCharacter])
    }

    /// Nil for every spelling but the one that ``text(of:)`` gives.
    static func bytes(of text: String) -> Data? {
        // Foundation decodes the standard alphabet only, with padding, and ignores trailing bits.
        let standard = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        let padding = String(repeating: "=", count: (4 - standard.count % 4) % 4)
        guard let bytes = Data(base64Encoded: String(standard) + padding),
            Self.text(of: bytes).utf8.elementsEqual(text.utf8)
        else { return nil }
        return bytes
    }
}
