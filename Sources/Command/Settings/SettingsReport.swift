/// The current settings and the source of each, as `darkroom config print` prints them.
///
/// The report is YAML that the server reads with the same result, unless there are secrets, which are masked.
struct SettingsReport {
    let settings: Settings
    let sources: SettingSources

    var text: String {
        SettingsTable.themes.map { theme in
            "# \(theme.title)\n" + theme.rows.map { line(of: $0) + "\n" }.joined()
        }.joined(separator: "\n")
    }

    /// `port: 8080  # default`
    private func line(of row: any SettingRow) -> String {
        let value = row.text(in: settings.values)
        guard let given = sources[row.name] else {
            // A setting without a value has no spelling in YAML.
            if value == "none" { return Self.line("# \(row.name): \(row.defaultText)", "default") }
            let words = value == row.defaultText ? "" : ": \(row.defaultText)"
            return Self.line("\(row.name): \(Self.quoted(value))", "default\(words)")
        }
        let written = row.isSecret ? "\"********\"" : given.value.members.isEmpty ? "[]" : Self.quoted(value)
        return Self.line("\(row.name): \(written)", given.source)
    }

    private static func line(_ text: String, _ source: String) -> String {
        text + String(repeating: " ", count: max(40 - text.count, 0)) + "  # \(source)"
    }

    /// A plain scalar if YAML reads it as this text, else a quoted scalar.
    private static func quoted(_ text: String) -> String {
        if text.wholeMatch(of: /[A-Za-z0-9.\/][A-Za-z0-9.\/_,=&+-]*(?::[A-Za-z0-9.\/_,=&+-]+)*/) != nil { return text }
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                "\\x\(scalar.value < 0x10 ? "0" : "")\(String(scalar.value, radix: 16))"
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}
