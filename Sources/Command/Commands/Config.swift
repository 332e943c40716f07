import ArgumentParser
import Foundation

/// `darkroom config`
struct Config: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check and print settings.", subcommands: [CheckConfig.self, PrintConfig.self])
}

/// `darkroom config check`
struct CheckConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a file of settings without starting a server.",
        discussion: """
            Reads the file and the environment as 'darkroom serve --config FILE' does. Exits with 0 if the settings \
            are valid, with warnings about combinations that are seldom intended; otherwise prints every mistake, as \
            startup would, and exits with 78.
            """)

    @Argument(help: "YAML file of settings.") var file: String

    func run() throws {
        do throws(SettingError) {
            let sources = try SettingSources(SettingFlags(config: file))
            for warning in try Settings(sources).warnings(sources) { print("Warning: \(warning)") }
            print("\(file) is valid.")
        } catch {
            throw error.report()
        }
    }
}

/// `darkroom config print`
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
        do throws(SettingError) {
            let sources = try SettingSources(flags)
            print(SettingsReport(try Settings(sources), sources).text, terminator: "")
        } catch {
            throw error.report()
        }
    }
}
