import ArgumentParser
import DarkroomDialects
import Foundation
import NIOCore

struct Config: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check and print settings.", subcommands: [CheckConfig.self, PrintConfig.self])
}

struct CheckConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a file of settings without starting a server.",
        discussion: """
            Reads the file and the environment as 'darkroom serve --config FILE' does. Exits with 0 if the settings \
            are valid, with warnings about combinations that are seldom intended; otherwise prints every mistake, as \
            startup would, and exits with 78, or with 1 if nothing but files or folders are missing.
            """)

    @Argument(help: "YAML file of settings.") var file: String

    func run() throws {
        var lines: [String] = []
        do throws(SettingError) {
            let sources = try SettingSources(file: file)
            lines = try Settings(sources).warnings(sources).map { "Warning: \($0)" }
        } catch {
            throw error.report()
        }
        lines.append("\(file) is valid.")
        StandardOutput.note(lines.joined(separator: "\n"))
    }
}

struct PrintConfig: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "print", abstract: "Print the settings in force, and where each comes from.",
        usage: "darkroom config print [--config FILE] [--SETTING VALUE ...]",
        discussion: """
            Takes the flags of 'darkroom serve'. The output is YAML: each value is followed by the flag, the \
            environment variable or the line of the file that gives it, or by 'default'. Secrets are masked.
            """)

    @Argument(parsing: .captureForPassthrough, help: .hidden) var arguments: [String] = []

    func run() throws {
        let flags = try self.flags()
        let text: String
        do throws(SettingError) {
            let sources = try SettingSources(flags: flags.values, file: flags.config)
            text = SettingsReport(settings: try Settings(sources), sources: sources).text
        } catch {
            throw error.report()
        }
        try StandardOutput.write(ByteBuffer(string: text))
    }
}

/// A command that takes every setting as a flag.
///
/// Flags come from the table of settings instead of properties.
protocol SettingsCommand: ParsableCommand {
    /// Everything after the command's name.
    var arguments: [String] { get }
    /// The names of flags that are no settings.
    static var ownFlags: Set<String> { get }
}

extension SettingsCommand {
    static var ownFlags: Set<String> { [] }

    func validate() throws {
        guard !arguments.contains("--help"), !arguments.contains("-h") else { throw CleanExit.helpRequest(self) }
        guard !arguments.contains("--version") else { throw CleanExit.message(Darkroom.release) }
        _ = try flags()
    }

    /// Throws for an argument that is not a flag of this command, with the nearest name.
    func flags() throws(ValidationError) -> SettingFlags { try SettingFlags(arguments, besides: Self.ownFlags) }
}

extension SettingError {
    /// Reports each mistake on standard error.
    /// - Returns: the exit status for them. `EX_CONFIG` means that another start is pointless before the settings have
    ///   changed.
    func report() -> ExitCode {
        for mistake in mistakes { StandardError.write(mistake.sentence) }
        return mistakes.contains { $0.cause == .settings } ? ExitCode(EX_CONFIG) : .failure
    }
}

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

struct ImportSettings: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-settings", abstract: "Turn the environment variables of another service into settings.",
        usage: "darkroom import-settings imgproxy|imagor FILE > darkroom.yaml",
        discussion: """
            Reads NAME=VALUE lines, as Docker and shells have them, and prints a YAML file of settings. Variables \
            without a counterpart become comments that say why. The output contains secrets. Check it with \
            'darkroom config check'.
            """)

    @Argument(help: "Service that the variables belong to: imgproxy or imagor.") var service: ImportedSettings.Service
    @Argument(help: "File of variables.") var file: String

    func run() throws {
        let text: String
        do throws(FileError) { text = String(buffer: try FileBytes.read(file, upTo: 1 << 20)) } catch {
            StandardError.write(error.sentence)
            throw ExitCode.failure
        }
        try StandardOutput.write(ByteBuffer(string: ImportedSettings(text, of: service).yaml))
    }
}

extension ImportedSettings.Service: ExpressibleByArgument {}
