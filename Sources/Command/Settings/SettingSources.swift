import ArgumentParser
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

struct GivenSetting: Sendable {
    /// The key as the user wrote it: `--port`, `DARKROOM_PORT` or `darkroom.yaml:3: port`.
    let spelling: String
    /// The flag, the variable, or the line of the file: `darkroom.yaml:3`.
    let source: String
    let value: SettingValue
    /// What ``spelling(for:)`` looks for in a file.
    fileprivate var lines: FileLines?

    /// The key with the line that a reason is about: the line of the first member or value that the reason names, else
    /// the line of the key.
    func spelling(for reason: String) -> String { lines?.spelling(for: reason) ?? spelling }
}

/// The lines of a setting's members and values.
private struct FileLines: Sendable {
    private let path: String
    private let name: String
    /// By how reasons name them: `'avatar'`, `.k1` or `[0]`.
    private var lines: [String: Int] = [:]

    init(of node: Node, path: String, name: String) {
        (self.path, self.name) = (path, name)
        add(node)
        guard case .sequence(let members) = node else { return }
        for (index, member) in members.enumerated() { lines["[\(index)]"] = member.mark?.line }
    }

    private mutating func add(_ node: Node) {
        switch node {
        case .mapping(let members):
            for (key, value) in members {
                if let text = key.string { record("." + text, key) }
                add(key)
                add(value)
            }
        case .sequence(let members):
            for member in members { add(member) }
        case .scalar(let scalar):
            record("'\(scalar.string)'", node)
            // A member such as `NAME=VALUE` is named by its beginning.
            if let equals = scalar.string.firstIndex(of: "=") { record("'\(scalar.string[..<equals])'", node) }
        case .alias: break
        }
    }

    private mutating func record(_ text: String, _ node: Node) {
        if lines[text] == nil, text.utf8.count > 2 || text.hasPrefix(".") { lines[text] = node.mark?.line }
    }

    func spelling(for reason: String) -> String? {
        let found = lines.compactMap { text, line in
            reason.range(of: text).map { (start: $0.lowerBound, length: text.utf8.count, line: line) }
        }
        let first = found.min { ($0.start, -$0.length) < ($1.start, -$1.length) }
        return first.map { "\(path):\($0.line): \(name)" }
    }
}

/// The given settings. A flag takes precedence over the environment, and the environment over the file.
struct SettingSources {
    /// The beginning of the names of environment variables that hold settings.
    static let environmentPrefix = "DARKROOM_"

    private let given: [String: GivenSetting]
    /// The variables that are ignored because Kubernetes sets them, in alphabetical order.
    let serviceLinks: [String]
    /// Names that are no settings.
    private(set) var mistakes = SettingMistakes()

    /// What flags (by setting name), variables and a YAML file give. Variables that begin with `DARKROOM_` must be
    /// settings or service links.
    init(
        flags: [String: String] = [:], environment: [String: String] = ProcessInfo.processInfo.environment,
        file: String?
    ) throws(SettingError) {
        let environment = environment.filter { $0.key.hasPrefix(Self.environmentPrefix) }
        let links = environment.filter { isServiceLink($0.key, value: $0.value) }
        serviceLinks = links.keys.sorted()
        var mistakes = SettingMistakes()
        var given: [String: GivenSetting] = [:]
        if let file { given = try Self.settings(inFile: file, &mistakes) }
        let variables = environment.filter { links[$0.key] == nil }
        given.merge(Self.settings(in: variables, &mistakes)) { $1 }
        for row in SettingsTable.rows {
            guard let text = flags[row.name] else { continue }
            given[row.name] = GivenSetting(spelling: row.flag, source: row.flag, value: .text(text))
        }
        self.given = given
        self.mistakes = mistakes
    }

    subscript(name: String) -> GivenSetting? { given[name] }

    private static func settings(
        in environment: [String: String], _ mistakes: inout SettingMistakes
    ) -> [String: GivenSetting] {
        let names = Dictionary(uniqueKeysWithValues: SettingsTable.rows.map { ($0.environmentName, $0.name) })
        var given: [String: GivenSetting] = [:]
        for (variable, value) in environment.sorted(by: { $0.key < $1.key }) {
            guard let name = names[variable] else {
                let suffix = variable.dropFirst(Self.environmentPrefix.count).lowercased()
                let hint = SettingsTable.suggestion(for: suffix.split(separator: "_").joined(separator: "-")) {
                    $0.environmentName
                }
                mistakes.add("\(variable.prefix(100)) is not a setting.\(hint)")
                continue
            }
            given[name] = GivenSetting(spelling: variable, source: variable, value: .text(value))
        }
        return given
    }

    private static func settings(
        inFile path: String, _ mistakes: inout SettingMistakes
    ) throws(SettingError) -> [String: GivenSetting] {
        // A file of comments alone has no root and no settings.
        guard let root = try root(ofFile: path) else { return [:] }
        var count = 0
        try requireBounded(root, inFile: path, depth: 1, &count)
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
                mistakes.add("\(place): '\(name.prefix(100))' is not a setting.\(hint)")
                continue
            }
            given[name] = GivenSetting(
                spelling: "\(place): \(name)", source: place, value: SettingValue(node),
                lines: FileLines(of: node, path: path, name: name))
        }
        return given
    }

    /// Refuses a file whose nested aliases stand for exponentially many values, before anything visits them all.
    /// - Parameter count: the values so far, also behind aliases.
    private static func requireBounded(
        _ node: Node, inFile path: String, depth: Int, _ count: inout Int
    ) throws(SettingError) {
        count += 1
        guard count <= 100_000 else {
            throw SettingError(
                "--config: \(path) has more than 100,000 values, as each alias repeats its anchor; use fewer.")
        }
        guard depth <= 64 else {
            throw SettingError("--config: \(path) has values more than 64 levels deep, aliases included; use fewer.")
        }
        switch node {
        case .mapping(let members):
            for (key, value) in members {
                try requireBounded(key, inFile: path, depth: depth + 1, &count)
                try requireBounded(value, inFile: path, depth: depth + 1, &count)
            }
        case .sequence(let members):
            for member in members { try requireBounded(member, inFile: path, depth: depth + 1, &count) }
        case .scalar, .alias: break
        }
    }

    private static func root(ofFile path: String) throws(SettingError) -> Node? {
        guard let data = FileManager.default.contents(atPath: path), let text = String(bytes: data, encoding: .utf8)
        else { throw SettingError("--config: \(path) is missing, unreadable or not UTF-8 text.") }
        do {
            return try Yams.compose(yaml: text)
        } catch {
            let (place, reason) = (error as? YamlError)?.placeAndReason(in: text) ?? (nil, "unknown reason")
            throw SettingError("--config: \(path)\(place.map { ":\($0)" } ?? "") is not valid YAML: \(reason).")
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
        // Composing replaces aliases by their targets.
        case .alias: self = .null
        }
    }
}

extension YamlError {
    /// Where the file is wrong, by line and column, and how, without its text, which may hold secrets.
    fileprivate func placeAndReason(in text: String) -> (place: String?, reason: String) {
        switch self {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return ("\(mark)", problem)
        case .duplicatedKeysInMapping(let names, let context):
            let name = names.sorted().first ?? ""
            return (
                Self.repetition(of: name, from: context.mark, in: text) ?? "\(context.mark)",
                "the key '\(name)' is given twice"
            )
        case .reader(let problem, _, _, _), .writer(let problem), .emitter(let problem), .representer(let problem):
            return (nil, problem)
        case .no, .memory, .dataCouldNotBeDecoded: return (nil, "it cannot be read")
        }
    }

    /// The second line with a key in the mapping that begins at a mark, which is all that the parser reports; nil if
    /// the mapping is not in block style.
    private static func repetition(of name: String, from mark: Mark, in text: String) -> String? {
        let keys = [name, "'\(name)'", "\"\(name)\""].map { String(repeating: " ", count: mark.column - 1) + $0 + ":" }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().filter { line in
            line.offset >= mark.line - 1 && keys.contains { line.element.hasPrefix($0) }
        }
        return lines.dropFirst().first.map { "\($0.offset + 1):\(mark.column)" }
    }
}

/// Whether a variable, which begins with `DARKROOM_`, is one that Kubernetes sets in every pod for a Service of its
/// namespace.
///
/// The variables of a Service named `darkroom` or `darkroom-…` have the prefix of settings, and `DARKROOM_PORT` even
/// the name of a setting. Only name and value together distinguish them from settings:
/// https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
private func isServiceLink(_ variable: String, value: String) -> Bool {
    let address = /[0-9a-fA-F:.]+/
    let number = /[0-9]{1,5}/
    let url = /(?:tcp|udp|sctp):\/\/[0-9a-fA-F:.\[\]]+:[0-9]{1,5}/
    let shapes: [(name: Regex<Substring>, value: Regex<Substring>)] = [
        (/DARKROOM_(?:[A-Z0-9_]+_)?SERVICE_HOST/, address),
        (/DARKROOM_(?:[A-Z0-9_]+_)?SERVICE_PORT(?:_[A-Z0-9_]+)?/, number),
        (/DARKROOM_(?:[A-Z0-9_]+_)?PORT/, url),
        (/DARKROOM_(?:[A-Z0-9_]+_)?PORT_[0-9]+_(?:TCP|UDP|SCTP)/, url),
        (/DARKROOM_(?:[A-Z0-9_]+_)?PORT_[0-9]+_(?:TCP|UDP|SCTP)_PROTO/, /tcp|udp|sctp/),
        (/DARKROOM_(?:[A-Z0-9_]+_)?PORT_[0-9]+_(?:TCP|UDP|SCTP)_PORT/, number),
        (/DARKROOM_(?:[A-Z0-9_]+_)?PORT_[0-9]+_(?:TCP|UDP|SCTP)_ADDR/, address),
    ]
    return shapes.contains { variable.wholeMatch(of: $0.name) != nil && value.wholeMatch(of: $0.value) != nil }
}

/// The flags of a command that takes every setting: `--name VALUE` or `--name=VALUE`. The last one of a name counts.
struct SettingFlags: Equatable {
    /// The YAML file that `--config` names.
    private(set) var config: String?
    /// Values by setting name, not read yet.
    private(set) var values: [String: String] = [:]
    /// The values of flags that are no settings, by name.
    private(set) var others: [String: String] = [:]

    /// Throws for an argument that is not a flag of the command, with the nearest name.
    init(_ arguments: [String], besides others: Set<String> = []) throws(ValidationError) {
        let names = Set(SettingsTable.rows.map(\.name) + ["config"]).union(others)
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else { throw ValidationError("Unexpected argument '\(argument)'.") }
            let halves = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = halves.first.map(String.init) ?? ""
            guard names.contains(name) else {
                let hint = SettingsTable.suggestion(for: name, \.flag)
                throw ValidationError("Unknown option '--\(name)'.\(hint)")
            }
            let value: String
            if halves.count == 2 {
                value = String(halves[1])
            } else if let next = rest.first, !next.hasPrefix("--") {
                value = next
                rest = rest.dropFirst()
            } else {
                throw ValidationError("Missing value for '--\(name)'.")
            }
            if name == "config" {
                config = value
            } else if others.contains(name) {
                self.others[name] = value
            } else {
                values[name] = value
            }
        }
    }
}
