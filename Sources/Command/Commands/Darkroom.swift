import ArgumentParser
import DarkroomRequests
import DarkroomTransforms
import DarkroomWorkers
import Foundation

@main
enum EntryPoint {
    /// The internal subcommand with which `darkroom serve` starts the process that its workers are forked from.
    static let zygoteCommand = "zygote"

    /// Workers must be forked by a process with a single thread, and an asynchronous `main` starts threads before its
    /// first line runs.
    static func main() {
        StandardStreams.prepare()
        if CommandLine.arguments.dropFirst().elementsEqual([zygoteCommand]) { Zygote.run() }
        Task {
            exit(await Darkroom.exitStatus().rawValue)
        }
        dispatchMain()
    }
}

struct Darkroom: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "darkroom", abstract: "Resize, convert and cache images from the web.",
        version: release,
        subcommands: [
            Serve.self, CheckHealth.self, Sign.self, Translate.self, TransformFiles.self, Prefetch.self, Purge.self,
            Config.self, ImportSettings.self, PrintSettings.self, Version.self,
        ])

    /// The version of this program. `make lint` lists places that state another version.
    static let release = "0.1.0"

    /// Runs the command that the arguments name and returns its exit status. The main function of ArgumentParser would
    /// report success although its text, such as the help, was not written.
    static func exitStatus() async -> ExitCode {
        do {
            if let script = completionScript(Array(CommandLine.arguments.dropFirst())) {
                try StandardOutput.print(script)
                return .success
            }
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return .success
        } catch {
            let (status, text) = (exitCode(for: error), fullMessage(for: error))
            guard !text.isEmpty else { return status }
            guard status == .success else {
                StandardError.write(text: text + "\n")
                return status
            }
            do throws(ExitCode) { try StandardOutput.print(text) } catch { return error }
            return status
        }
    }
}

struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the versions of Darkroom, libvips and the codecs, and the supported formats.")

    @Flag(help: "Also print the vector instructions in use, the fonts, and missing scripts and codecs.") var verbose =
        false

    func run() throws {
        let report = InstalledCodecs.current
        var lines = ["darkroom \(Darkroom.release)", "libvips \(report.libvips)"] + report.codecs
        lines.append("reads \(report.readable.map(\.rawValue).joined(separator: ", "))")
        lines.append("writes \(report.writable.map(\.rawValue).joined(separator: ", "))")
        lines.append("animates \(report.animated.map(\.rawValue).joined(separator: ", "))")
        if verbose {
            lines.append("computes with \(report.vectorUnit)")
            let fonts = InstalledCodecs.fontFamilies
            lines.append(fonts.isEmpty ? "has no fonts" : "has the fonts \(fonts.joined(separator: ", "))")
            let scripts = InstalledFonts.current
            if !scripts.missing.isEmpty {
                let packages = scripts.packages.joined(separator: ", ")
                lines.append("lacks fonts for \(scripts.missing.joined(separator: ", ")): install \(packages)")
            }
            lines += report.missing.map { "lacks \($0): install \($0.remedy)" }
        }
        try StandardOutput.print(lines.joined(separator: "\n"))
    }
}
