import ArgumentParser

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
