import DarkroomHTTPServer
import DarkroomWeb
import Foundation

/// The keys of `signing-keys-file`: a JSON list of objects, of which nothing unknown is overlooked and nothing is repeated that is said of it.
struct SigningKeyFile {
    private let entries: [Entry]
    private let place: String

    init(reading text: SettingText) throws(SettingError) {
        place = "\(text.spelling): \(text.text)"
        guard let data = FileManager.default.contents(atPath: text.text) else {
            throw SettingError("\(place) cannot be read.")
        }
        do {
            entries = try JSONDecoder().decode([Entry].self, from: data)
        } catch let error as DecodingError {
            throw SettingError("\(place)\(error.sentence)")
        } catch {
            throw SettingError("\(place) is no JSON list of keys.")
        }
    }

    /// - Parameter presets: those there are.
    func keys(_ presets: Presets) throws(SettingError) -> [SigningKey] {
        var keys: [SigningKey] = []
        for (index, entry) in entries.enumerated() { keys.append(try key(entry, "\(place)[\(index)]", presets)) }
        return keys
    }

    private func key(_ entry: Entry, _ place: String, _ presets: Presets) throws(SettingError) -> SigningKey {
        if let unknown = entry.presets?.first(where: { !presets.names.contains($0) }) {
            throw SettingError("\(place).presets: there is no preset '\(unknown)'; 'presets' names those there are.")
        }
        guard entry.hosts?.isEmpty != true, entry.presets?.isEmpty != true else {
            throw SettingError("\(place): an empty list would let nothing pass; leave it out, and everything does.")
        }
        let rate = entry.rate.map { Rate($0) }
        if case .some(.none) = rate { throw SettingError("\(place).rate: a rate is such as 20/s, 600/m or 1000/h.") }
        do throws(SigningKey.Flaw) {
            return try SigningKey(
                id: entry.id, secret: entry.secret, hosts: entry.hosts ?? [], presets: entry.presets.map(Set.init),
                rate: rate.flatMap(\.self))
        } catch {
            throw SettingError("\(place): \(error.sentence)")
        }
    }

    private struct Entry: Decodable {
        let id: String
        let secret: String
        let hosts: [String]?
        let presets: [String]?
        let rate: String?

        private enum Member: String, CodingKey, CaseIterable {
            case id, secret, hosts, presets, rate
        }

        private struct AnyMember: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            for member in try decoder.container(keyedBy: AnyMember.self).allKeys
            where Member(rawValue: member.stringValue) == nil {
                let known = Member.allCases.map(\.rawValue).joined(separator: ", ")
                throw DecodingError.keyNotFound(
                    member,
                    .init(
                        codingPath: decoder.codingPath,
                        debugDescription:
                            "'\(member.stringValue.prefix(100))' is no member of a key; those are \(known)"))
            }
            let members = try decoder.container(keyedBy: Member.self)
            id = try members.decode(String.self, forKey: .id)
            secret = try members.decode(String.self, forKey: .secret)
            hosts = try members.decodeIfPresent([String].self, forKey: .hosts)
            presets = try members.decodeIfPresent([String].self, forKey: .presets)
            rate = try members.decodeIfPresent(String.self, forKey: .rate)
        }
    }
}

extension DecodingError {
    /// What follows the name of the file: where it is wrong and how, without any value.
    fileprivate var sentence: String {
        switch self {
        case .keyNotFound(let key, let context):
            let isKnown = ["id", "secret"].contains(key.stringValue)
            return
                "\(Self.text(of: context.codingPath)): \(isKnown ? "'\(key.stringValue)' is missing" : context.debugDescription)."
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            return "\(Self.text(of: context.codingPath)): a value of another type is needed here; "
                + "the file is a list of objects of texts, where hosts and presets are lists of texts."
        default: return " is no JSON document."
        }
    }

    private static func text(of path: [any CodingKey]) -> String {
        path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
    }
}
