import Crypto
package import Foundation

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
