import Foundation

/// The value of `s`: the id of a key, a dot, and the HMAC-SHA256 (RFC 2104) of a ``SignedRequest``'s text in base64url.
struct Signature: Hashable, Sendable {
    let keyID: String
    let code: Data

    init(keyID: String, code: Data) {
        self.keyID = keyID
        self.code = code
    }

    /// Nil for anything else, however long it is.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maxBytes, let dot = text.firstIndex(of: "."),
            let code = Base64URL.bytes(of: String(text[dot...].dropFirst())), code.count == 32
        else { return nil }
        keyID = String(text[..<dot])
        self.code = code
    }

    var text: String { "\(keyID).\(Base64URL.text(of: code))" }

    /// An id of 32 characters, the dot, and 43 characters for 32 bytes.
    private static let maxBytes = 76
}
