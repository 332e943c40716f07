import ArgumentParser
import DarkroomTransforms
import DarkroomWorkers
import Foundation

/// The entry point of the process.
@main
enum EntryPoint {
    /// The internal subcommand with which `darkroom serve` starts the process that its workers are forked from.
    static let zygoteCommand = "zygote"

    /// Workers must be forked by a process with a single thread, and an asynchronous `main` starts threads before its
    /// first line runs.
    static func main() {
        if CommandLine.arguments.dropFirst().elementsEqual([zygoteCommand]) { Zygote.run() }
        Task {
            await Darkroom.main()
            exit(EXIT_SUCCESS)
        }
        dispatchMain()
    }
}

/// `darkroom`
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
}

/// `darkroom version`
struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the versions of Darkroom, libvips and the codecs, and the supported formats.")

    @Flag(help: "Also print the vector instructions in use, the fonts, and codecs that are missing.") var verbose =
        false

    func run() {
        let report = InstalledCodecs.current
        print("darkroom \(Darkroom.release)")
        print("libvips \(report.libvips)")
        for codec in report.codecs { print(codec) }
        print("reads \(report.readable.map(\.rawValue).joined(separator: ", "))")
        print("writes \(report.writable.map(\.rawValue).joined(separator: ", "))")
        guard verbose else { return }
        print("computes with \(report.vectorUnit)")
        let fonts = InstalledCodecs.fontFamilies
        print(fonts.isEmpty ? "has no fonts" : "has the fonts \(fonts.joined(separator: ", "))")
        for codec in report.missing { print("lacks \(codec): install \(codec.remedy)") }
    }
}

/// Standard error, where commands report what went wrong.
enum StandardError {
    /// Writes one line that begins with `Error:`.
    static func write(_ sentence: String) {
        FileHandle.standardError.write(Data("Error: \(sentence)\n".utf8))
    }
}
