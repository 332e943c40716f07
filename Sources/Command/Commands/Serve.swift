import ArgumentParser
import DarkroomHTTPServer
import DarkroomWeb
import Foundation
import Tracing

/// `darkroom serve`
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve images over HTTP.",
        usage: "darkroom serve [--config FILE] [--SETTING VALUE ...]",
        discussion: """
            Each setting can be given as a flag, as an environment variable
            (--max-source-bytes is DARKROOM_MAX_SOURCE_BYTES) or in the YAML file that
            --config names (max-source-bytes:), in this order of precedence. Byte counts
            take KiB, MiB and GiB; durations take ms, s, m, h and d.

            \(SettingsReference.help)
            """)

    // Flags come from the table of settings instead of one property each.
    @Argument(parsing: .captureForPassthrough, help: .hidden) var arguments: [String] = []

    func validate() throws {
        guard !arguments.contains("--help"), !arguments.contains("-h") else { throw CleanExit.helpRequest(self) }
        guard !arguments.contains("--version") else { throw CleanExit.message(Darkroom.release) }
        _ = try SettingFlags(arguments)
    }

    func run() async throws {
        let flags = try SettingFlags(arguments)
        let settings: Settings
        do throws(SettingError) {
            let environment = ProcessInfo.processInfo.environment
            settings = try Settings(SettingSources(flags: flags.values, environment: environment, file: flags.config))
        } catch {
            StandardError.write(error.description)
            throw ExitCode(EX_CONFIG)
        }
        InstrumentationSystem.bootstrap(W3CTraceContext())
        do {
            try await ImageServer(settings).run()
        } catch {
            StandardError.write((error as? ListenerFailure)?.sentence(settings) ?? "\(error)")
            throw ExitCode.failure
        }
    }
}

/// `darkroom settings`
struct PrintSettings: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Print the reference of all settings as Markdown.")

    func run() {
        print(SettingsReference.page, terminator: "")
    }
}
