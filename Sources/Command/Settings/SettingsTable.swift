import DarkroomQuery

/// Every setting, by theme. Each is written down once, as a stored property of its theme.
struct SettingsTable: Sendable {
    let listeners = ListenerSettings()
    let access = AccessSettings()
    let dialects = DialectSettings()
    let thumbor = ThumborSettings()
    let origins = OriginSettings()
    let objectStorage = ObjectStorageSettings()
    let sources = SourceSettings()
    let cache = CacheSettings()
    let freshness = FreshnessSettings()
    let edges = EdgeSettings()
    let limits = LimitSettings()
    let processing = ProcessingSettings()
    let formats = FormatSettings()
    let logging = LoggingSettings()
    let tracing = TracingSettings()

    static let all = SettingsTable()

    /// The themes in order of declaration.
    static let themes = Mirror(reflecting: all).children.compactMap { $0.value as? any SettingTheme }

    static let rows = themes.flatMap(\.rows)

    /// ` Did you mean …?` with the settings whose names are nearest, or where to read all names.
    static func suggestion(for name: String, _ spelling: (any SettingRow) -> String) -> String {
        let nearest = NameSuggestions.names(for: name, among: rows.map(\.name))
        let matches = nearest.compactMap { name in rows.first { $0.name == name }.map(spelling) }
        return matches.isEmpty
            ? " 'darkroom serve --help' lists all settings." : " Did you mean \(matches.joined(separator: " or "))?"
    }
}

/// Settings that belong together. Its rows are its stored properties.
protocol SettingTheme: Sendable {
    /// The heading in `--help` and in `docs/settings.md`.
    var title: String { get }
}

extension SettingTheme {
    /// The settings in order of declaration.
    var rows: [any SettingRow] { Mirror(reflecting: self).children.compactMap { $0.value as? any SettingRow } }
}
