import Foundation

/// Base64 with `-` and `_` and without padding (RFC 4648 §5). Each sequence of bytes has one spelling.
enum Base64URL {
    static func text(of bytes: some Sequence<UInt8>) -> String {
        String(
            Data(bytes).base64EncodedString().compactMap { character in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }

    /// Nil for another spelling than ``text(of:)`` gives.
    static func bytes(of text: String) -> Data? {
        let plain = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        let padding = String(repeating: "=", count: (4 - plain.count % 4) % 4)
        guard let bytes = Data(base64Encoded: String(plain) + padding),
            Self.text(of: bytes).utf8.elementsEqual(text.utf8)
        else { return nil }
        return bytes
    }
}
