import DarkroomHTTPServer
import DarkroomQuery
import DarkroomWeb
import Foundation

/// A preset as configured: its query is checked against the grammar once the limits are known.
struct PresetDefinition: Equatable, Sendable {
    let name: String
    let query: String
}

extension Access {
    /// The rules of these settings. Messages about signing keys never repeat a secret.
    init(_ settings: Settings, _ sources: SettingSources) throws(SettingError) {
        self.init()
        presets = try Self.presets(settings, spelling: sources.spelling(of: \.access.presets))
        presetsOnly = settings.access.presetsOnly
        guard !presetsOnly || !presets.isEmpty else {
            throw SettingError("\(sources.spelling(of: \.access.presetsOnly)) needs at least one of presets.")
        }
        let keys = try Self.signingKeys(settings, sources, presets)
        signingKeys = keys.map(\.key)
        for case (let key, let rate?) in keys { keyRates[key.id] = rate }
        origins = settings.access.corsOrigins
    }

    private static func presets(_ settings: Settings, spelling: String) throws(SettingError) -> Presets {
        var presets = Presets()
        for preset in settings.access.presets {
            do throws(Presets.Flaw) {
                try presets.add(
                    preset.name, preset.query, limits: settings.grammarLimits, sources: settings.sourceNames)
            } catch {
                throw SettingError("\(spelling): \(error)")
            }
        }
        return presets
    }

    /// The keys of both settings.
    private static func signingKeys(
        _ settings: Settings, _ sources: SettingSources, _ presets: Presets
    ) throws(SettingError) -> [(key: SigningKey, rate: Rate?)] {
        let spelling = sources.spelling(of: \.access.signingKeys)
        var keys: [(key: SigningKey, rate: Rate?)] = []
        for definition in settings.access.signingKeys { keys.append(try definition.key(presets, in: spelling)) }
        if let path = settings.access.signingKeysFile {
            let spelling = "\(sources.spelling(of: \.access.signingKeysFile)): \(path)"
            for definition in try SigningKeyDefinition.definitions(inFile: path, spelling: spelling) {
                keys.append(try definition.key(presets, in: spelling))
            }
        }
        var ids: Set<String> = []
        for (key, _) in keys where !ids.insert(key.id).inserted {
            throw SettingError("\(spelling): the key '\(key.id)' is given twice.")
        }
        return keys
    }
}

extension SettingKind where Value == [PresetDefinition] {
    /// `NAME=QUERY,…`; in YAML also a map of names to queries or to maps of parameters, or a list of either form.
    static var presets: SettingKind {
        let grammar = "NAME=QUERY, such as avatar=w=96&h=96&fit=cover, with %2C for a comma within a query"
        return SettingKind("NAME=QUERY,...", grammar) { presets in
            let texts = presets.map { "\($0.name)=\($0.query.replacing(",", with: "%2C"))" }
            return texts.isEmpty ? "none" : texts.joined(separator: ",")
        } parseValue: { value throws(SettingRefusal) in
            var presets: [PresetDefinition] = []
            for member in value.members {
                if case .map(let named) = member {
                    for (name, query) in named {
                        presets.append(PresetDefinition(name: name, query: try query.presetQuery(of: name)))
                    }
                    continue
                }
                guard let text = member.text, let equals = text.firstIndex(of: "=") else {
                    throw .expected(grammar, got: member.text ?? member.shape)
                }
                let query = String(text[equals...].dropFirst())
                presets.append(PresetDefinition(name: String(text[..<equals]), query: query))
            }
            return presets
        }
    }
}

extension SettingValue {
    /// A query as such, or as a map of parameters to unencoded values.
    fileprivate func presetQuery(of name: String) throws(SettingRefusal) -> String {
        if let text { return text }
        guard case .map(let parameters) = self else {
            throw .because("the preset '\(name.prefix(100))' must be a query or a map of parameters.")
        }
        var pairs: [String] = []
        for (parameter, value) in parameters {
            switch value {
            case .null: pairs.append(Self.encoded(parameter))
            case .text(let text), .boolean(_, let text):
                pairs.append("\(Self.encoded(parameter))=\(Self.encoded(text))")
            case .list, .map: throw .because("the parameter '\(parameter.prefix(100))' of a preset must be a text.")
            }
        }
        return pairs.joined(separator: "&")
    }

    /// Percent-encodes everything but ASCII letters and digits.
    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}

extension SettingKind where Value == CORSPolicy {
    /// Origins as browsers send them (scheme, host and port, without the default port), or `*` alone.
    static var corsOrigins: SettingKind {
        let grammar = "* or a list of origins such as https://www.example.com"
        return SettingKind("ORIGIN,...", grammar) { origins in
            switch origins {
            case .none: "none"
            case .all: "*"
            case .listed(let origins): origins.sorted().joined(separator: ",")
            }
        } parseValue: { value throws(SettingRefusal) in
            if value.members.compactMap(\.text) == ["*"] { return .all }
            var origins: Set<String> = []
            for member in value.members {
                guard let url = try? SettingKind<String>.webURL.parse(member),
                    url.split(separator: "/", omittingEmptySubsequences: false).count == 3
                else { throw .expected(grammar, got: member.text ?? member.shape) }
                origins.insert(url)
            }
            return origins.isEmpty ? .none : .listed(origins)
        }
    }
}
