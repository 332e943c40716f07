import Foundation
import NIOCore

/// What a client posts to `/prefetch`, as strict as a query: what is unknown or of another type is refused, never guessed.
struct PrefetchBody: Decodable, Hashable {
    /// Sources as they would be given to `/image`.
    var urls: [String]
    /// Queries of `/image` without the source.
    var queries: [String] = []
    /// Short for `w=` queries.
    var widths: [Int] = []

    private enum Member: String, CaseIterable {
        case urls, queries, widths

        /// What its value is, and each of its elements.
        var kinds: (whole: String, element: String) {
            switch self {
            case .urls: ("a list of addresses", "an address as a string")
            case .queries: ("a list of queries", "a query as a string")
            case .widths: ("a list of numbers", "a whole number")
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

    /// Reads the JSON of a body.
    init(parsing json: ByteBuffer) throws(InvalidBody) {
        do {
            self = try JSONDecoder().decode(PrefetchBody.self, from: Data(json.readableBytesView))
        } catch let error as InvalidBody {
            throw error
        } catch let error as DecodingError {
            throw InvalidBody(error)
        } catch {
            throw .notJSON
        }
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        for key in members.allKeys where Member(rawValue: key.stringValue) == nil {
            throw InvalidBody(unknown: key.stringValue, known: Member.allCases.map(\.rawValue))
        }
        urls = try members.decode([String].self, forKey: Key(.urls))
        // What is there has to be a list: null is none.
        if members.contains(Key(.queries)) { queries = try members.decode([String].self, forKey: Key(.queries)) }
        if members.contains(Key(.widths)) {
            widths = try members.decode([WholeNumber].self, forKey: Key(.widths)).map(\.value)
        }
        for (member, isEmpty) in [(Member.urls, urls.isEmpty), (.queries, queries.isEmpty), (.widths, widths.isEmpty)]
        where isEmpty && members.contains(Key(member)) {
            throw InvalidBody(member.rawValue, "'\(member.rawValue)' is empty; a list here has one element at least.")
        }
    }

    /// Fractions and what no `Int` holds are of the wrong type, where the decoder would call the whole document damaged.
    private struct WholeNumber: Decodable {
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

    /// What stands at a place of the document, as the end of "it has to be …".
    fileprivate static func kind(at path: [any CodingKey]) -> String {
        guard let member = path.first.flatMap({ Member(rawValue: $0.stringValue) }) else {
            return "an object with the member 'urls'"
        }
        return path.count == 1 ? member.kinds.whole : member.kinds.element
    }
}

/// A body that means nothing: which member is at fault, and what to write instead.
struct InvalidBody: Error, Hashable {
    /// As in `urls[3]`; nil where none can be named.
    let member: String?
    /// One sentence or two for the client.
    let detail: String

    init(_ member: String?, _ detail: String) {
        self.member = member.map(InvalidParameter.clipped)
        self.detail = detail
    }

    static let notJSON = InvalidBody(nil, "The body is no JSON document (RFC 8259).")

    fileprivate init(unknown name: String, known: [String]) {
        let matches = NameSuggestions.of(name, among: known).map { "'\($0)'" }
        let hint = matches.isEmpty ? "" : " Did you mean \(matches.joined(separator: " or "))?"
        self.init(name, "There is no member '\(InvalidParameter.clipped(name))'.\(hint)")
    }

    fileprivate init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, _):
            self.init(key.stringValue, "The member '\(key.stringValue)' is missing; it is a list of addresses.")
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            self.init(wrongTypeAt: context.codingPath)
        default: self = .notJSON
        }
    }

    private init(wrongTypeAt path: [any CodingKey]) {
        let name = path.map { key in key.intValue.map { "[\($0)]" } ?? key.stringValue }.joined()
        self.init(
            name.isEmpty ? nil : name,
            "\(name.isEmpty ? "The body" : "'\(name)'") has to be \(PrefetchBody.kind(at: path)).")
    }
}
