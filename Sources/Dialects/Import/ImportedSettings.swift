import DarkroomRequests
import Foundation

/// The settings of Darkroom that follow from the environment variables of another service.
package struct ImportedSettings: Sendable {
    /// The services whose variables can be imported.
    package enum Service: String, CaseIterable, Sendable {
        case imgproxy, imagor

        var variables: [ImportedVariable] {
            self == .imgproxy ? ImportedVariable.imgproxy : ImportedVariable.imagor
        }
    }

    private struct Line: Sendable {
        let name: String
        var value: String
        var comment: String
    }

    private var lines: [Line] = []
    private var notes: [String] = []
    /// Options of the preset `default` of imgproxy paths, and the presets that the variables define.
    var defaultOptions: [String] = []
    var presets: [String] = []
    /// Values of variables that together form one setting.
    var parts: [String: String] = [:]
    private let service: Service

    /// Reads a file of variables as Docker and shells have it: `NAME=VALUE` lines, with or without `export` and quotes.
    package init(_ text: String, of service: Service) {
        self.service = service
        let dialect = service == .imgproxy ? Dialect.imgproxy : .thumbor
        set("compat", dialect.rawValue, for: "URLs of \(service.rawValue)")
        let known = Dictionary(
            service.variables.flatMap { row in row.names.map { ($0, row) } }, uniquingKeysWith: { first, _ in first })
        for (name, value) in Self.variables(in: text) {
            guard !value.isEmpty else { continue }
            if let row = known[name] {
                row.read(value, name, &self)
            } else {
                let groups = service == .imgproxy ? ImportedVariable.imgproxyGroups : ImportedVariable.imagorGroups
                note(name, groups.first { name.hasPrefix($0.prefix) }?.reason ?? "There is no such setting.")
            }
        }
        finish()
    }

    /// A YAML file of settings, with a comment for each variable that has no counterpart.
    package var yaml: String {
        let settings = lines.map { line in
            "\(line.name): \(Self.quoted(line.value))" + (line.comment.isEmpty ? "" : "  # \(line.comment)")
        }
        let notes = notes.isEmpty ? [] : ["", "# Without a setting:"] + notes.map { "# \($0)" }
        return (["# Settings of Darkroom, made of variables of \(service.rawValue)."] + settings + notes)
            .map { $0 + "\n" }.joined()
    }

    // MARK: Writing

    /// Sets a setting, in place of an earlier value.
    mutating func set(_ name: String, _ value: String, for variable: String) {
        if let place = lines.firstIndex(where: { $0.name == name }) {
            lines[place].value = value
            if !lines[place].comment.contains(variable) { lines[place].comment += ", \(variable)" }
        } else {
            lines.append(Line(name: name, value: value, comment: variable))
        }
    }

    func value(of name: String) -> String? { lines.first { $0.name == name }?.value }

    /// Adds a member to a list.
    mutating func add(_ value: String, to name: String, for variable: String) {
        set(name, self.value(of: name).map { "\($0),\(value)" } ?? value, for: variable)
    }

    /// Explains a variable without a setting. Its value is not repeated, because it may be a secret.
    mutating func note(_ variable: String, _ reason: String) { notes.append("\(variable): \(reason)") }

    private mutating func finish() {
        if let keys = parts["key"] {
            let salts = parts["salt"]?.split(separator: ",", omittingEmptySubsequences: false) ?? []
            let pairs = zip(keys.split(separator: ",", omittingEmptySubsequences: false), salts).map { "\($0):\($1)" }
            if !pairs.isEmpty { set("imgproxy-keys", pairs.joined(separator: ","), for: "IMGPROXY_KEY, IMGPROXY_SALT") }
        }
        var definitions = presets.flatMap { $0.split(separator: parts["presets-separator"] ?? ",") }
            .map { String($0).trimmingSpaces }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        if !defaultOptions.isEmpty {
            let options = defaultOptions.joined(separator: "/")
            if let place = definitions.firstIndex(where: { $0.hasPrefix("default=") }) {
                definitions[place] = "default=\(options)/\(definitions[place].dropFirst("default=".count))"
            } else {
                definitions.insert("default=\(options)", at: 0)
            }
        }
        if !definitions.isEmpty {
            set("imgproxy-presets", definitions.joined(separator: ","), for: "IMGPROXY_PRESETS and defaults of options")
        }
        fitDefaults()
    }

    /// Adjusts the settings whose defaults the server would refuse next to imported values.
    private mutating func fitDefaults() {
        lower("download-timeout", to: "request-timeout", fromDefault: 15_000, Self.milliseconds)
        lower("connect-timeout", to: "download-timeout", fromDefault: 5_000, Self.milliseconds)
        if let pixels = value(of: "max-source-pixels"), Int(pixels).map({ $0 > 120_000_000 }) == true {
            set("max-animation-pixels", pixels, for: "at least 'max-source-pixels'")
        }
    }

    /// Lowers a setting to an imported value that it must not exceed.
    private mutating func lower(
        _ name: String, to bound: String, fromDefault default: Int, _ number: (String) -> Int?
    ) {
        guard let text = value(of: bound), let limit = number(text),
            (value(of: name).flatMap(number) ?? `default`) > limit
        else { return }
        set(name, text, for: "at most '\(bound)'")
    }

    /// A duration of one unit.
    private static func milliseconds(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units: [Substring: Int] = ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let count = Int(digits), count < 1_000_000_000, let unit = units[text[digits.endIndex...]] else {
            return nil
        }
        return count * unit
    }

    // MARK: Reading

    private static func variables(in text: String) -> [(name: String, value: String)] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            var line = line.drop { $0 == " " || $0 == "\t" }
            if line.hasPrefix("export ") { line = line.dropFirst("export ".count) }
            guard !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { return nil }
            let name = String(line[..<equals]).trimmingSpaces
            let value = String(line[equals...].dropFirst()).trimmingSpaces
            for quote in ["\"", "'"] where value.hasPrefix(quote) && value.hasSuffix(quote) && value.count > 1 {
                return (name, String(value.dropFirst().dropLast()))
            }
            return (name, value)
        }
    }

    /// A double-quoted text of YAML.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension String {
    /// Without spaces and tabs at both ends.
    var trimmingSpaces: String {
        trimmingCharacters(in: [" ", "\t"])
    }
}

/// How an environment variable of another service is imported.
struct ImportedVariable: Sendable {
    let names: [String]
    let read: @Sendable (_ value: String, _ name: String, inout ImportedSettings) -> Void

}

extension ImportedVariable {
    init(_ names: String..., read: @escaping @Sendable (String, String, inout ImportedSettings) -> Void) {
        self.init(names: names, read: read)
    }

    /// A variable that is one setting. A value that is converted to nil has no counterpart.
    static func setting(
        _ names: String..., as setting: String, _ convert: @escaping @Sendable (String) -> String? = { $0 }
    ) -> ImportedVariable {
        ImportedVariable(names: names) { value, name, settings in
            if let converted = convert(value) {
                settings.set(setting, converted, for: name)
            } else {
                settings.note(name, "This value has no counterpart in '\(setting)', whose default applies.")
            }
        }
    }

    /// A variable that is the default of an option of paths.
    static func option(_ name: String, _ convert: @escaping @Sendable (String) -> String?) -> ImportedVariable {
        ImportedVariable(name) { value, _, settings in
            if let option = convert(value) { settings.defaultOptions.append(option) }
        }
    }

    /// The address of metrics, from which the port is taken.
    static func adminPort(_ name: String) -> ImportedVariable {
        ImportedVariable(name) { value, name, settings in
            guard let colon = value.lastIndex(of: ":"), let port = Int(value[colon...].dropFirst()) else { return }
            settings.set("admin-port", "\(port)", for: name)
        }
    }

    static func note(_ names: String..., because reason: String) -> ImportedVariable {
        ImportedVariable(names: names) { _, name, settings in settings.note(name, reason) }
    }

    // MARK: Conversions

    /// Whole seconds; nil for 0, which has another meaning here.
    static let seconds: @Sendable (String) -> String? = { limit($0).map { "\($0)s" } }

    /// A positive number; nil for 0, which stands for "unlimited".
    static let limit: @Sendable (String) -> String? = { text in
        Int(text).flatMap { $0 > 0 ? "\($0)" : nil }
    }

    static func isTrue(_ text: String) -> Bool { ["1", "t", "true", "yes", "on"].contains(text.lowercased()) }

    static let boolean: @Sendable (String) -> String? = { isTrue($0) ? "true" : "false" }
}
