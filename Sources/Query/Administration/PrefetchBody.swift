package import Foundation

/// The body of `POST /prefetch`. An unknown member or a member of another type is refused, never guessed.
package struct PrefetchBody: Decodable, Hashable {
    /// The maximum size in bytes.
    package static let maxBytes = 1 << 20

    /// Source URLs, as `url` of `/image` takes them.
    var urls: [String]
    /// Queries of `/image` without the source.
    var queries: [String] = []
    /// Shorthands for `w=` queries.
    var widths: [Int] = []

    private enum Member: String, CaseIterable {
        case urls, queries, widths

        /// Phrases for the types of the value and of its elements, which complete "must be …".
        var types: (whole: String, element: String) {
            switch self {
            case .urls: ("a list of URLs", "a URL as a string")
            case .queries: ("a list of queries", "a query as a string")
            case .widths: ("a list of integers", "an integer")
            }
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ member: Member) { stringValue = member.rawValue }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package init(parsing json: Data) throws(InvalidBody) {
        do {
            self = try JSONDecoder().decode(PrefetchBody.self, from: json)
        } catch let error as InvalidBody {
            throw error
        } catch let error as DecodingError {
            throw InvalidBody(error)
        } catch {
            throw .notJSON
        }
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        for key in members.allKeys where Member(rawValue: key.stringValue) == nil {
            let hint = NameSuggestions.sentence(for: key.stringValue, among: Member.allCases.map(\.rawValue))
            throw InvalidBody(
                key.stringValue, "There is no member '\(InvalidParameter.clipped(key.stringValue))'.\(hint)")
        }
        urls = try members.decode([String].self, forKey: Key(.urls))
        // `decodeIfPresent` would accept null, which is not a list.
        if members.contains(Key(.queries)) { queries = try members.decode([String].self, forKey: Key(.queries)) }
        if members.contains(Key(.widths)) {
            widths = try members.decode([Integer].self, forKey: Key(.widths)).map(\.value)
        }
        for (member, isEmpty) in [(Member.urls, urls.isEmpty), (.queries, queries.isEmpty), (.widths, widths.isEmpty)]
        where isEmpty && members.contains(Key(member)) {
            throw InvalidBody(member.rawValue, "Member '\(member.rawValue)' must have at least one element, got none.")
        }
    }

    /// Reports fractions and numbers out of range as a wrong type, where the decoder would call the whole document
    /// corrupt.
    private struct Integer: Decodable {
        let value: Int

        init(from decoder: any Decoder) throws {
            do {
                value = try decoder.singleValueContainer().decode(Int.self)
            } catch {
                throw DecodingError.typeMismatch(
                    Int.self, DecodingError.Context(codingPath: decoder.codingPath, debugDescription: ""))
            }
        }
    }

    /// A phrase for the type at a place of the document, which completes "must be …".
    fileprivate static func type(at path: [any CodingKey]) -> String {
        guard let member = path.first.flatMap({ Member(rawValue: $0.stringValue) }) else {
            return "an object with the member 'urls'"
        }
        return path.count == 1 ? member.types.whole : member.types.element
    }
}

/// A body that was refused: the member at fault and a sentence that says what to send instead.
package struct InvalidBody: Error, Hashable {
    /// The member, such as `urls[3]`; nil where the body as a whole is at fault.
    package let member: String?
    /// One or two sentences for the client.
    package let detail: String

    init(_ member: String?, _ detail: String) {
        self.member = member.map(InvalidParameter.clipped)
        self.detail = detail
    }

    static let notJSON = InvalidBody(nil, "The body is not a JSON document (RFC 8259).")

    fileprivate init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, _):
            self.init(key.stringValue, "Member '\(key.stringValue)' is required: a list of URLs.")
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            let path = context.codingPath
            let name = path.map { key in key.intValue.map { "[\($0)]" } ?? key.stringValue }.joined()
            self.init(
                name.isEmpty ? nil : name,
                "\(name.isEmpty ? "The body" : "Member '\(name)'") must be \(PrefetchBody.type(at: path)).")
        default: self = .notJSON
        }
    }
}
