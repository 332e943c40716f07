/// Help and documentation of all settings, rendered from ``SettingsTable``.
enum SettingsReference {
    /// The settings by theme, for `--help`, in lines of at most 79 characters.
    static var help: String {
        SettingsTable.themes.map { theme in
            let settings = theme.rows.map { row in
                let text = wrapped("\(row.help) Default: \(row.defaultText).", to: 71)
                return "  \(row.flag) \(row.placeholder)\n" + text.map { "        \($0)" }.joined(separator: "\n")
            }
            return "\(theme.title.uppercased()):\n" + settings.joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    /// `docs/settings.md`, as `darkroom settings` prints it.
    static var page: String {
        let themes = SettingsTable.themes.map { theme in
            let rows = theme.rows.map { row in
                "| `\(row.name)` | \(cell(values(of: row))) | \(cell(row.defaultText)) | \(cell(row.help)) |\n"
            }
            return "\n## \(theme.title)\n\n| setting | values | default | meaning |\n|---|---|---|---|\n"
                + rows.joined()
        }
        return introduction + themes.joined()
    }

    private static let introduction = """
        # Settings

        Each setting has one name in three spellings: the flag `--max-source-bytes`, the environment variable
        `DARKROOM_MAX_SOURCE_BYTES`, and the key `max-source-bytes:` in the YAML file that `--config FILE` names. A
        flag takes precedence over the environment, and the environment over the file. An unknown name or an invalid
        value stops startup with exit status 78 (64 for an unknown flag) and a message that names it. A missing folder
        or file, or a port in use, does so with 1.

        Byte counts take the units `KiB`, `MiB` and `GiB`; durations take `ms`, `s`, `m`, `h` and `d`. Lists are
        separated by commas. Usable CPU cores are the cores that the process may run on, or fewer if its control
        group (cgroup v1 or v2) or a parent of it has a CPU quota, which is rounded up. Usable memory is the memory of
        the machine, or the lowest memory limit of these groups.

        A running server takes new values of these settings from its file [after SIGHUP](running.md#reload):
        \(reloadable). All others need a restart.

        The file also takes YAML lists, the booleans `yes`, `no`, `on` and `off`, and maps where values have names,
        such as `presets`, `signing-keys`, `source-map`, `marks`, `s3-sources` and `origin-fields`:

        ```yaml
        \(exampleFile)
        ```

        """

    private static var reloadable: String {
        let names = SettingsTable.rows.filter(\.isReloadable).map { "`\($0.name)`" }
        return wrapped(names.joined(separator: ", "), to: 115).joined(separator: "\n")
    }

    static let exampleFile = """
        host: 0.0.0.0
        allow-hosts: [images.example.com, "*.example.org"]
        max-source-bytes: 20MiB
        cache-disk-bytes: 50GiB
        presets-only: no
        presets:
          avatar: w=96&h=96&fit=cover
          hero:
            w: 1600
            output: webp
        signing-keys:
          web: correct-horse-battery-staple-0123456789
          partner:
            secret: another-secret-of-at-least-32-characters
            presets: [avatar]
            rate: 20/s
            egress: 10GiB/d
        """

    /// The accepted values, without the article and the examples that error messages need.
    private static func values(of row: any SettingRow) -> String {
        var text = row.grammar.split(separator: " such as").first.map(String.init) ?? row.grammar
        for article in ["an ", "a ", "the "] where text.hasPrefix(article) { text.removeFirst(article.count) }
        return text.hasSuffix(",") ? String(text.dropLast()) : text
    }

    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|").replacing("*", with: "\\*") }

    private static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let line = lines[lines.count - 1]
            if line.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if line.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
