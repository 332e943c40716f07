import DarkroomWeb
import Foundation
import Yams

/// A value as its source gives it: text from flags and the environment, any node from YAML or JSON.
indirect enum SettingValue: Sendable {
    case text(String)
    /// An unquoted YAML boolean such as `yes`, with its spelling.
    case boolean(Bool, String)
    case list([SettingValue])
    case map([(name: String, value: SettingValue)])
    case null

    /// The text of a scalar.
    var text: String? {
        switch self {
        case .text(let text), .boolean(_, let text): text
        case .list, .map, .null: nil
        }
    }

    /// The members of a list: comma-separated text or a list. An empty text is an empty list.
    var members: [SettingValue] {
        if case .list(let members) = self { return members }
        return text?.split(separator: ",").map { .text($0.trimmingCharacters(in: .whitespaces)) } ?? [self]
    }

    /// The kind of node, for messages about nodes that have no text.
    var shape: String {
        switch self {
        case .text, .boolean: "a text"
        case .list: "a list"
        case .map: "a map"
        case .null: "no value"
        }
    }
}

/// A setting that a source gives.
struct GivenSetting: Sendable {
    /// The key as the user wrote it: `--port`, `DARKROOM_PORT` or `darkroom.yaml:3: port`.
    let spelling: String
    /// The flag, the variable, or the line of the file: `darkroom.yaml:3`.
    let source: String
    let value: SettingValue
}

/// The given settings. A flag takes precedence over the environment, and the environment over the file.
struct SettingSources {
    private let given: [String: GivenSetting]
    /// The variables that are ignored because Kubernetes sets them, in alphabetical order; see ``ServiceLink``.
    let serviceLinks: [String]

    /// - Parameters:
    ///   - flags: values by setting name.
    ///   - environment: all variables of the process; those that begin with `DARKROOM_` must be settings or service
    ///     links.
    ///   - file: path of a YAML file; nil = none.
    init(flags: [String: String], environment: [String: String], file: String?) throws(SettingError) {
        let environment = environment.filter { $0.key.hasPrefix(EnvironmentName.prefix) }
        let links = environment.filter { ServiceLink.isServiceLink($0.key, value: $0.value) }
        serviceLinks = links.keys.sorted()
        var given = try file.map { path throws(SettingError) in try Self.settings(inFile: path) } ?? [:]
        for setting in try Self.settings(in: environment.filter { links[$0.key] == nil }) {
            given[setting.name] = setting.given
        }
        for row in SettingsTable.rows {
            guard let text = flags[row.name] else { continue }
            given[row.name] = GivenSetting(spelling: row.flag, source: row.flag, value: .text(text))
        }
        self.given = given
    }

    subscript(name: String) -> GivenSetting? { given[name] }

    private static func settings(
        in environment: [String: String]
    ) throws(SettingError) -> [(name: String, given: GivenSetting)] {
        let names = Dictionary(uniqueKeysWithValues: SettingsTable.rows.map { ($0.environmentName, $0.name) })
        var settings: [(name: String, given: GivenSetting)] = []
        for (variable, value) in environment.sorted(by: { $0.key < $1.key }) {
            guard let name = names[variable] else {
                let suffix = variable.dropFirst(EnvironmentName.prefix.count).lowercased()
                let hint = SettingsTable.suggestion(for: suffix.split(separator: "_").joined(separator: "-")) {
                    $0.environmentName
                }
                throw SettingError("\(variable.prefix(100)) is not a setting.\(hint)")
            }
            settings.append((name, GivenSetting(spelling: variable, source: variable, value: .text(value))))
        }
        return settings
    }

    private static func settings(inFile path: String) throws(SettingError) -> [String: GivenSetting] {
        // A file of comments alone has no root and no settings.
        guard let root = try root(ofFile: path) else { return [:] }
        guard let mapping = root.mapping else {
            throw SettingError("--config: \(path) must be a YAML mapping of setting names to values.")
        }
        let names = Set(SettingsTable.rows.map(\.name))
        var given: [String: GivenSetting] = [:]
        for (key, node) in mapping {
            let place = "\(path):\(key.mark?.line ?? 1)"
            guard let name = key.string, names.contains(name) else {
                let name = key.string ?? ""
                let hint = SettingsTable.suggestion(for: name, \.name)
                throw SettingError("\(place): '\(name.prefix(100))' is not a setting.\(hint)")
            }
            given[name] = GivenSetting(spelling: "\(place): \(name)", source: place, value: SettingValue(node))
        }
        return given
    }

    private static func root(ofFile path: String) throws(SettingError) -> Node? {
        guard let data = FileManager.default.contents(atPath: path), let text = String(bytes: data, encoding: .utf8)
        else { throw SettingError("--config: \(path) is missing, unreadable or not UTF-8 text.") }
        do {
            return try Yams.compose(yaml: text)
        } catch {
            let (mark, reason) = (error as? YamlError)?.markAndReason ?? (nil, "unknown reason")
            throw SettingError("--config: \(path)\(mark.map { ":\($0)" } ?? "") is not valid YAML: \(reason).")
        }
    }
}

extension SettingValue {
    fileprivate init(_ node: Node) {
        switch node {
        case .scalar(let scalar) where scalar.style == .plain && node.tag == Tag(.null): self = .null
        case .scalar(let scalar):
            let boolean = scalar.style == .plain && node.tag == Tag(.bool) ? node.bool : nil
            self = boolean.map { .boolean($0, scalar.string) } ?? .text(scalar.string)
        case .sequence(let sequence): self = .list(sequence.map { SettingValue($0) })
        case .mapping(let mapping): self = .map(mapping.map { ($0.string ?? "", SettingValue($1)) })
        // Composing replaces aliases by what they stand for.
        case .alias: self = .null
        }
    }
}

extension YamlError {
    /// Where the file is wrong, by line and column, and how, without its text, which may hold secrets.
    fileprivate var markAndReason: (mark: Mark?, reason: String) {
        switch self {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            (mark, problem)
        case .duplicatedKeysInMapping(let names, let context):
            (context.mark, "the key '\(names.sorted().first ?? "")' is given twice")
        case .reader(let problem, _, _, _), .writer(let problem), .emitter(let problem), .representer(let problem):
            (nil, problem)
        case .no, .memory, .dataCouldNotBeDecoded: (nil, "it cannot be read")
        }
    }
}
