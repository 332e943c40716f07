import DarkroomHTTPServer
import DarkroomQuery
import DarkroomWeb
import Foundation
import NIOCore

/// A preset as configured: its query is checked against the grammar once the limits are known.
struct PresetDefinition: Equatable, Sendable {
    let name: String
    let query: String

    var text: String { "\(name)=\(query.replacing(",", with: "%2C"))" }
}

extension Access {
    /// The rules of these settings. Messages about signing keys never repeat a secret.
    init(_ settings: Settings, _ sources: SettingSources, _ mistakes: inout SettingMistakes) {
        self.init()
        for preset in settings.access.presets {
            do throws(Presets.Flaw) {
                try presets.add(
                    preset.name, preset.query, limits: settings.grammarLimits, sources: settings.sourceNames)
            } catch {
                // A reason need not name the preset.
                let spelling = sources.spelling(of: \.access.presets, for: "'\(preset.name)' \(error)")
                mistakes.add("\(spelling): \(error)")
            }
        }
        presetsOnly = settings.access.presetsOnly
        if presetsOnly, settings.access.presets.isEmpty, settings.dialects.imgproxyPresets.isEmpty {
            mistakes.add("\(sources.spelling(of: \.access.presetsOnly)) needs at least one of presets.")
        }
        let keys = Self.signingKeys(settings, sources, presets, &mistakes)
        signingKeys = keys.map(\.key)
        for (key, limits) in keys {
            keyRates[key.id] = limits.rate
            keyQuotas[key.id] = limits.quotas
        }
        origins = settings.access.corsOrigins
    }

    /// The keys of both settings.
    private static func signingKeys(
        _ settings: Settings, _ sources: SettingSources, _ presets: Presets, _ mistakes: inout SettingMistakes
    ) -> [(key: SigningKey, limits: SigningKeyDefinition.Limits)] {
        var definitions = settings.access.signingKeys.map { definition in
            (definition, sources.spelling(of: \.access.signingKeys, for: definition.place))
        }
        if let path = settings.access.signingKeysFile {
            let spelling = "\(sources.spelling(of: \.access.signingKeysFile)): \(path)"
            let keys = mistakes.collect { () throws(SettingError) in
                try SigningKeyDefinition.definitions(inFile: path, spelling: spelling)
            }
            definitions += (keys ?? []).map { ($0, spelling) }
        }
        var ids: Set<String> = []
        return definitions.compactMap { definition, spelling in
            let key = mistakes.collect { () throws(SettingError) in try definition.key(presets, in: spelling) }
            guard let key, !ids.insert(key.key.id).inserted else { return key }
            mistakes.add("\(spelling): the key '\(key.key.id)' is given twice.")
            return nil
        }
    }
}

enum AdminTokenFile {
    /// The token of either setting; nil without one. Messages never repeat it.
    static func token(_ settings: Settings, _ sources: SettingSources) throws(SettingError) -> String? {
        guard let path = settings.access.adminTokenFile else { return settings.access.adminToken }
        let spelling = "\(sources.spelling(of: \.access.adminTokenFile)): \(path)"
        let token = try token(inFile: path, spelling: spelling)
        guard settings.access.adminToken ?? token == token else {
            throw SettingError("\(spelling): admin-token is another token; give one of the two.")
        }
        return token
    }

    /// The flag of commands that ask a server.
    static let flag = "--admin-token-file"

    /// The token of a command: of the file, or of `DARKROOM_ADMIN_TOKEN` if no file is named; nil without both.
    static func token(inFile path: String?) throws(SettingError) -> String? {
        if let path { return try token(inFile: path, spelling: flag) }
        let variable = "DARKROOM_ADMIN_TOKEN"
        guard let text = ProcessInfo.processInfo.environment[variable], !text.isEmpty else { return nil }
        return try SettingKind.token.read(
            text.trimmingCharacters(in: .whitespacesAndNewlines), of: variable, isSecret: true)
    }

    private static func token(inFile path: String, spelling: String) throws(SettingError) -> String {
        try SettingKind.token.read(
            FileBytes.text(inFile: path, upTo: 4 << 10, spelling), of: spelling, isSecret: true)
    }
}

extension FileBytes {
    /// The text of a file, apart from white space at both ends. Messages begin with the spelling.
    static func text(inFile path: String, upTo limit: Int, _ spelling: String) throws(SettingError) -> String {
        do throws(FileError) {
            return String(buffer: try read(path, upTo: limit)).trimmingCharacters(in: .whitespacesAndNewlines)
        } catch {
            throw SettingError("\(spelling): \(error.sentence)", cause: .machine)
        }
    }
}

extension SettingKind where Value == [PresetDefinition] {
    /// `NAME=QUERY,…`; in YAML also a map of names to queries or to maps of parameters, or a list of either form.
    static var presets: SettingKind {
        let grammar = "NAME=QUERY, such as avatar=w=96&h=96&fit=cover, with %2C for a comma within a query"
        return SettingKind("NAME=QUERY,...", grammar, members: \.text) { value throws(SettingRefusal) in
            var presets: [PresetDefinition] = []
            for member in value.members {
                if case .map(let named) = member {
                    presets += try named.map { name, query throws(SettingRefusal) in
                        PresetDefinition(name: name, query: try query.presetQuery(of: name))
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
