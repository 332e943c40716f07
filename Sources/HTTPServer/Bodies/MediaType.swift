import DarkroomNetwork
import HTTPTypes
package import Hummingbird
package import NIOCore

/// The value of a `Content-Type` field (RFC 9110 §8.3.1), or of another field of that form.
package struct MediaType: Hashable, Sendable {
    /// Type and subtype in lower case, such as `image/png`; of other fields the first word, such as `form-data`.
    package let name: String
    /// The parameters by name in lower case, without quotes and escapes.
    package let parameters: [String: String]

    /// Nil for a malformed value, or for a value with a repeated parameter.
    package init?(_ text: some StringProtocol) {
        let members = FieldList(text, separator: UInt8(ascii: ";"))
        guard !members.hasUnclosedQuote, let first = members.members.first, Self.isName(first) else { return nil }
        name = first.lowercased()
        var parameters: [String: String] = [:]
        // An empty member, as after a final semicolon, is not a parameter (§5.6.6).
        for member in members.members.dropFirst() where !member.isEmpty {
            guard let (name, value) = member.parameter, parameters[name] == nil else { return nil }
            parameters[name] = value
        }
        self.parameters = parameters
    }

    /// Whether this is the type of an image of any format.
    package var isImage: Bool { name.hasPrefix("image/") }

    private static func isName(_ text: Substring) -> Bool {
        let words = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return words.count <= 2 && words.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isTokenCharacter) }
    }
}

extension Substring {
    /// A parameter's name in lower case, and its value without quotes and escapes; nil if the text is malformed.
    var parameter: (name: String, value: String)? {
        var reader = FieldReader(self)
        guard let name = reader.token(), reader.skip("="), let value = reader.quotedString() ?? reader.token(),
            reader.isAtEnd
        else { return nil }
        return (name.lowercased(), value)
    }
}

extension Request {
    /// The body of a request that declares it as JSON.
    package func jsonBody(upTo maxBytes: Int) async throws(Problem) -> ByteBuffer {
        guard headers[.contentType].flatMap({ MediaType($0) })?.name == "application/json" else {
            throw Problem(.unsupportedBody, "The body must be JSON, sent with 'Content-Type: application/json'.")
        }
        do {
            return try await body.collect(upTo: maxBytes)
        } catch is NIOTooManyBytesError {
            throw Problem(.bodyTooLarge, "The body must be at most \(maxBytes) bytes long; send several requests.")
        } catch {
            throw Problem(.invalidBody, "The body is incomplete.")
        }
    }
}
