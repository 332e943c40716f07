import ArgumentParser
import DarkroomDialects
import NIOCore

/// `darkroom import-settings`
struct ImportSettings: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-settings", abstract: "Turn the environment variables of another service into settings.",
        usage: "darkroom import-settings imgproxy|imagor FILE > darkroom.yaml",
        discussion: """
            Reads NAME=VALUE lines, as Docker and shells have them, and prints a YAML file of settings. Variables \
            without a counterpart become comments that say why. The output contains secrets. Check it with \
            'darkroom config check'.
            """)

    @Argument(help: "Service that the variables belong to: imgproxy or imagor.") var service: Service
    @Argument(help: "File of variables.") var file: String

    enum Service: String, ExpressibleByArgument, CaseIterable {
        case imgproxy, imagor
    }

    func run() throws {
        let text: String
        do throws(FileError) { text = String(buffer: try FileBytes.read(file, upTo: 1 << 20)) } catch {
            StandardError.write("\(file): \(error.sentence)")
            throw ExitCode.failure
        }
        let kind: ImportedSettings.Service = service == .imgproxy ? .imgproxy : .imagor
        print(ImportedSettings(text, of: kind).yaml, terminator: "")
    }
}
