package import Foundation

/// The value of `s`: a key ID, a dot, and the HMAC-SHA256 (RFC 2104) of a ``SignedRequest`` in base64url.
package struct Signature: Hashable, Sendable {
    package let keyID: String
    package let code: Data

    init(keyID: String, code: Data) {
        self.keyID = keyID
        self.code = code
    }

    /// Nil for any other text, of any length.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maxBytes, let dot = text.firstIndex(of: "."),
            let code = Base64URL.bytes(of: String(text[dot...].dropFirst())), code.count == 32
        else { return nil }
        keyID = String(text[..<dot])
        self.code = code
    }

    package var text: String { "\(keyID).\(Base64URL.text(of: code))" }

    /// An ID of 32 characters, a dot, and 43 characters for 32 bytes.
    private static let maxBytes = 76
}
