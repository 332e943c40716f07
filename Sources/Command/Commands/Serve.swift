import ArgumentParser
import DarkroomHTTPServer
import DarkroomWeb
import Foundation
import Tracing

/// `darkroom serve`
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve pictures over HTTP.",
        discussion: """
            Each setting can be given as a flag, as an environment variable (--max-source-bytes is \
            DARKROOM_MAX_SOURCE_BYTES) or in a YAML file (max-source-bytes:), and counts in that order. Bytes take KiB, \
            MiB and GiB; durations ms, s, m, h and d.
            """)

    @Option(help: "YAML file of settings.") var config: String?
    @OptionGroup var flags: SettingFlags

    func run() async throws {
        let settings: Settings
        do {
            settings = try Settings(
                try await SettingLayers(
                    flags: flags.given, environment: ProcessInfo.processInfo.environment, file: config))
        } catch {
            FileHandle.standardError.write(Data("Error: \(error)\n".utf8))
            throw ExitCode(EX_CONFIG)
        }
        InstrumentationSystem.bootstrap(W3CTraceContext())
        try await ImageServer(settings).run()
    }
}
