import Crypto
package import Foundation

/// The content that a signature covers: a path and its percent-decoded parameters, so that signer and server see the
/// same request.
package struct SignedRequest: Hashable, Sendable {
    package let path: String
    /// All parameters but `s`, each once.
    package let parameters: QueryString

    /// The signed text, one for all spellings of the request: a line for the version of these rules, one for the path,
    /// and ``query``.
    package var text: String { "darkroom 1\n\(path)\n\(query)" }

    /// The parameters in one spelling, sorted by the bytes of their names.
    package var query: String {
        QueryString(pairs: parameters.pairs.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }).text
    }

    /// The parameters of a verified ``text``, in their order there: in some dialects the order has a meaning, so it
    /// must not be the client's.
    static func parameters(of text: VerifiedText) throws(InvalidParameter) -> QueryString {
        try QueryString(parsing: text.text.split(separator: "\n").dropFirst(2).joined())
    }
}

/// The text of a request that may be parsed: byte for byte what a key has signed, or what needs no signature.
///
/// Parsers of signed requests take this type, which only its functions create: a signature covers all that they read.
package struct VerifiedText: Hashable, Sendable {
    package let text: String
    package let isSigned: Bool

    private init(_ text: String, isSigned: Bool) {
        (self.text, self.isSigned) = (text, isSigned)
    }

    /// The first spelling that was signed; nil if none was.
    ///
    /// - Parameters:
    ///   - spellings: The texts that the client may have signed, in which the request means the same to it.
    ///   - code: The code that the client sent, decoded.
    ///   - codes: The codes of a text by the keys that are valid. Each is compared in constant time.
    package static func signed(
        _ spellings: [String], as code: some Sequence<UInt8>, codes: (String) -> [Data]
    ) -> VerifiedText? {
        // Keys compare in constant time.
        let given = SymmetricKey(data: Data(code))
        return spellings.first { text in codes(text).reduce(false) { SymmetricKey(data: $1) == given || $0 } }
            .map { VerifiedText($0, isSigned: true) }
    }

    /// A text that no signature covers. The request is refused, except to the administrator, if the server has keys.
    package static func unsigned(_ text: some StringProtocol) -> VerifiedText {
        VerifiedText(String(text), isSigned: false)
    }
}

/// The value of `s`: a key ID, a dot, and the HMAC-SHA256 (RFC 2104) of a ``SignedRequest`` in base64url.
package struct Signature: Hashable, Sendable {
    package let keyID: String
    package let code: Data

    package var text: String { "\(keyID).\(Base64URL.text(of: code))" }
}

extension Signature {
    /// Nil for any other text, of any length.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maxBytes, let dot = text.firstIndex(of: "."),
            case let keyID = String(text[..<dot]), SigningKey.isName(keyID),
            let code = Base64URL.bytes(of: String(text[dot...].dropFirst())), code.count == 32
        else { return nil }
        self.init(keyID: keyID, code: code)
    }

    /// An ID of 32 characters, a dot, and 43 characters for 32 bytes.
    private static let maxBytes = 76
}

/// `/signed/{signature}/{query}`: the same as `/image?{query}&s={signature}`, for caches that key on paths alone.
///
/// The query is in base64url, because proxies decode, merge and refuse percent-encoded slashes within a path.
package enum SignedPath {
    package static let pattern = "\(prefix){signature}/{query}"
    /// The path that the signature is made for.
    package static let signedPath = "/image"
    /// The beginning of every path that contains a query.
    package static let prefix = "/signed/"

    package static func path(_ signature: Signature, of request: SignedRequest) -> String {
        "\(prefix)\(signature.text)/\(Base64URL.text(of: request.query.utf8))"
    }

    /// The parameters of a request target, its signature among them as `s`. Each request has one target, so that caches
    /// keep one copy.
    package static func parameters(of target: String) throws(AuthorizationError) -> QueryString {
        let parts = target.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard target.hasPrefix(prefix), parts.count == 2, let bytes = Base64URL.bytes(of: String(parts[1])),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw .signatureWrong }
        var parameters = try AuthorizationError.wrapping(QueryString(parsing: text))
        let query = SignedRequest(path: signedPath, parameters: parameters).query
        parameters.append(AccessParameters.signature.name, String(parts[0]))
        try AuthorizationError.wrapping(parameters.requireUniqueNames())
        guard query.utf8.elementsEqual(text.utf8) else { throw .signatureWrong }
        return parameters
    }
}

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
