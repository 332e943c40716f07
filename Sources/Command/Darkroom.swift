import ArgumentParser

/// The command line.
struct Darkroom: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "darkroom", abstract: "An image service for pictures you don't control.",
        version: release, subcommands: [Serve.self, Sign.self, TransformFile.self, Version.self])

    /// This program's own version.
    static let release = "0.1.0"
}
