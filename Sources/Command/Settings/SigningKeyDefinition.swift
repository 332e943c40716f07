import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomQuery
import DarkroomWeb
import Foundation

/// A signing key as configured, with the place for messages.
struct SigningKeyDefinition: Equatable, Sendable {
    let id: String
    let secret: String
    var hosts: [String]?
    var presets: [String]?
    var rate: String?
    var cache: String?
    var processor: String?
    var egress: String?
    /// The position in the list or map, such as `[0]`; empty for a single key.
    var place = ""
}

extension SigningKeyDefinition {
    /// The limits that all requests with a key share. Without a rate, the server's rate applies to each client.
    typealias Limits = (rate: Rate?, quotas: KeyQuotas)

    /// The key, which may be limited to known presets, and its own limits. Messages name the setting or the file.
    func key(_ known: Presets, in spelling: String) throws(SettingError) -> (key: SigningKey, limits: Limits) {
        let place = spelling + place
        if let unknown = presets?.first(where: { !known.names.contains($0) }) {
            throw SettingError("\(place).presets: there is no preset '\(unknown.prefix(100))'; presets defines them.")
        }
        guard hosts?.isEmpty != true, presets?.isEmpty != true else {
            throw SettingError("\(place): an empty list would allow nothing; leave the member out to allow everything.")
        }
        let limits = try limits(at: place)
        let patterns = try hostPatterns(at: place)
        do throws(SigningKey.Flaw) {
            let key = try SigningKey(id: id, secret: secret, hosts: patterns, presets: presets.map(Set.init))
            return (key, limits)
        } catch {
            throw SettingError("\(place): \(error.sentence)")
        }
    }

    /// The patterns of `hosts`, in canonical spelling. A wrong one is not repeated: it may be a misplaced secret, which
    /// seldom has dots.
    private func hostPatterns(at place: String) throws(SettingError) -> [String] {
        try (hosts ?? []).enumerated().map { index, text throws(SettingError) in
            if let bucket = HostPattern.ofBucket(text) { return bucket }
            do throws(HostPattern.Flaw) { return try HostPattern(parsing: text).text } catch {
                var sentence = "\(place).hosts[\(index)] must be \(HostPattern.grammar), or s3:// and a bucket's name"
                if case .matchesNothing(let host?) = error, host.contains(".") { sentence += "; write '\(host)'" }
                throw SettingError(sentence + ".")
            }
        }
    }

    private func limits(at place: String) throws(SettingError) -> Limits {
        func parsed<Value>(
            _ text: String?, _ member: String, _ grammar: String, _ parse: (String) -> Value?
        ) throws(SettingError) -> Value? {
            guard let text else { return nil }
            guard let value = parse(text) else { throw SettingError("\(place).\(member) must be \(grammar).") }
            return value
        }
        var limits: Limits = (nil, .unlimited)
        let rateGrammar = "a rate of 1 to 1000000 such as 20/s, 600/m or 1000/h"
        limits.rate = try parsed(rate, "rate", rateGrammar) { Rate($0) }
        limits.quotas.cacheBytes = try parsed(cache, "cache", "a number of bytes such as 512MiB or 10GiB") {
            try? SettingKind<Int>.bytes(atLeast: 0).parse(.text($0))
        }
        let timeGrammar = "a time on pixel workers per m, h or d, such as 600s/h"
        limits.quotas.processor = try parsed(processor, "processor", timeGrammar) {
            Allowance($0) { (try? SettingKind<Duration>.duration().parse(.text($0))).map { $0 / .seconds(1) } }
        }
        limits.quotas.egress = try parsed(egress, "egress", "a number of bytes per m, h or d, such as 10GiB/d") {
            Allowance($0) { (try? SettingKind<Int>.bytes(atLeast: 1).parse(.text($0))).map { Double($0) } }
        }
        return limits
    }

    /// The keys of a JSON array of objects with `id`, `secret` and, optionally, the other members of a key.
    static func definitions(
        inFile path: String, spelling: String
    ) throws(SettingError) -> [SigningKeyDefinition] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SettingError("\(spelling) cannot be read.", cause: .machine)
        }
        guard let json = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) else {
            throw SettingError("\(spelling) is not valid JSON.")
        }
        guard case .list(let keys) = SettingValue(json: json) else {
            throw SettingError("\(spelling) must be a JSON array of objects, one for each key.")
        }
        do throws(SettingRefusal) {
            return try keys.enumerated().map { index, key throws(SettingRefusal) in
                try SigningKeyDefinition(key, id: nil, place: "[\(index)]")
            }
        } catch {
            throw SettingError(error.sentence(about: spelling, isSecret: true))
        }
    }

    /// Reads a key from a map of its members.
    /// - Parameter id: the key of the map that the definition is in; nil = it has a member `id`.
    fileprivate init(_ value: SettingValue, id: String?, place: String) throws(SettingRefusal) {
        guard case .map(let members) = value else {
            throw .inside("\(place): a key must be a map of \(Self.memberNames).")
        }
        var texts: [String: String] = id.map { ["id": $0] } ?? [:]
        var lists: [String: [String]] = [:]
        for (name, value) in members {
            switch name {
            case _ where Self.textMembers.contains(name):
                guard case .text(let text) = value, name != "id" || id == nil else {
                    throw .inside("\(place).\(name) must be a text.")
                }
                texts[name] = text
            case "hosts", "presets":
                guard case .list(let list) = value, list.allSatisfy({ $0.text != nil }) else {
                    throw .inside("\(place).\(name) must be a list of texts.")
                }
                lists[name] = list.compactMap(\.text)
            default:
                throw .inside("\(place): '\(name.prefix(100))' is not a member of a key; \(Self.memberNames) are.")
            }
        }
        guard let id = texts["id"] else { throw .inside("\(place): 'id' is missing.") }
        guard let secret = texts["secret"] else { throw .inside("\(place): 'secret' is missing.") }
        self.init(
            id: id, secret: secret, hosts: lists["hosts"], presets: lists["presets"], rate: texts["rate"],
            cache: texts["cache"], processor: texts["processor"], egress: texts["egress"], place: place)
    }

    private static let textMembers: Set<String> = ["id", "secret", "rate", "cache", "processor", "egress"]
    private static let memberNames = "id, secret, hosts, presets, rate, cache, processor and egress"
}

extension SettingKind where Value == [SigningKeyDefinition] {
    /// `ID:SECRET,…`; in YAML also a map of ids to secrets or to maps, or a list of either form.
    static var signingKeys: SettingKind {
        SettingKind("ID:SECRET,...", "keys of the form ID:SECRET, separated by commas", format: masked) {
            value throws(SettingRefusal) in
            if case .map(let members) = value {
                return try members.map { id, value throws(SettingRefusal) in
                    guard let secret = value.text else {
                        return try SigningKeyDefinition(value, id: id, place: ".\(id)")
                    }
                    return SigningKeyDefinition(id: id, secret: secret, place: ".\(id)")
                }
            }
            return try value.members.enumerated().map { index, member throws(SettingRefusal) in
                guard let text = member.text else {
                    return try SigningKeyDefinition(member, id: nil, place: "[\(index)]")
                }
                let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard halves.count == 2 else {
                    throw .because("each key must have the form ID:SECRET, with commas between keys.")
                }
                return SigningKeyDefinition(id: halves[0], secret: halves[1])
            }
        }
    }
}

extension Allowance {
    /// Parses an amount per minute, hour or day, such as `10GiB/d`; nil for any other text.
    fileprivate init?(_ text: String, amount: (String) -> Double?) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let periods = ["m": Duration.seconds(60), "h": .seconds(3600), "d": .seconds(86_400)]
        guard parts.count == 2, let period = periods[parts[1]], let amount = amount(parts[0]) else { return nil }
        self.init(amount: amount, period: period)
    }
}

extension SettingValue {
    /// Texts, lists and maps of JSON. Other values are null: no member of a signing key is one.
    fileprivate init(json: Any) {
        switch json {
        case let text as String: self = .text(text)
        case let list as [Any]: self = .list(list.map(SettingValue.init(json:)))
        case let map as [String: Any]:
            self = .map(map.sorted { $0.key < $1.key }.map { ($0.key, SettingValue(json: $0.value)) })
        default: self = .null
        }
    }
}

extension SigningKey.Flaw {
    fileprivate var sentence: String {
        switch self {
        case .id: "the id of a key must be 1 to 32 letters A-Z and a-z, digits, - and _."
        case .secret:
            "the secret of a key must be at least 32 printable ASCII characters without spaces and commas; "
                + "'openssl rand -hex 32' makes one."
        }
    }
}
