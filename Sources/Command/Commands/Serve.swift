import ArgumentParser
import NIOCore
import Tracing

struct Serve: AsyncParsableCommand, SettingsCommand {
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

    @Argument(parsing: .captureForPassthrough, help: .hidden) var arguments: [String] = []

    func run() async throws {
        let flags = try self.flags()
        let sources = { @Sendable () throws(SettingError) in
            try SettingSources(flags: flags.values, file: flags.config)
        }
        let settings: Settings
        do throws(SettingError) {
            settings = try Settings(sources(), sockets: InheritedSockets.take())
        } catch {
            throw error.report()
        }
        if let fault = DescriptorLimit.fault { throw SettingError(fault, cause: .machine).report() }
        let server = ImageServer(settings, sources: sources)
        InstrumentationSystem.bootstrap(server.instrument)
        do {
            try await server.run()
        } catch {
            // The settings are valid: this machine, or another one, is not as they say, and may be at the next start.
            StandardError.write((error as? ListenerFailure)?.sentence(settings) ?? "\(error)")
            throw ExitCode.failure
        }
    }
}

struct PrintSettings: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Print the reference of all settings as Markdown.")

    func run() throws {
        try StandardOutput.write(ByteBuffer(string: SettingsReference.page))
    }
}
