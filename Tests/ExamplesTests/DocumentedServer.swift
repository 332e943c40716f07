import Foundation

/// The built executable, serving the fixtures on a free port as the documents assume it.
final class DocumentedServer {
    private static let token = "an-admin-token-for-recipes"
    private let base: String
    private let folder: URL
    private let process = Process()

    /// Starts the server and returns once it listens.
    init(_ flags: [String] = [], environment: [String: String] = [:]) throws {
        folder = try Self.temporaryFolder()
        let output = Pipe()
        process.executableURL = Self.binary
        process.arguments =
            [
                "serve", "--port", "0", "--cache-dir", folder.appendingPathComponent("cache").path, "--log-level",
                // Long enough for a machine that is busy with other work.
                "error", "--request-timeout", "4m",
            ]
            + ["--local-root", Document.package.appendingPathComponent("Fixtures/images").path] + flags
        process.environment = Self.environment.merging(environment) { $1 }.merging(["DARKROOM_ADMIN_TOKEN": Self.token])
        {
            $1
        }
        process.standardOutput = output
        try process.run()
        var text = ""
        var found: Range<String.Index>?
        while found == nil, case let data = output.fileHandleForReading.availableData, !data.isEmpty {
            text += String(decoding: data, as: UTF8.self)
            found = text.range(of: #"http://[0-9.]+:[0-9]+"#, options: .regularExpression)
        }
        guard let found else { throw StartFailure() }
        base = String(text[found])
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    struct StartFailure: Error {}

    /// Runs a recipe with its addresses replaced by this server's and its fixture's.
    ///
    /// - Parameter acceptsProblems: whether an error status is no failure.
    func run(_ recipe: String, acceptsProblems: Bool = false) throws -> (status: Int32, output: String) {
        let script = recipe.replacing("http://127.0.0.1:8080", with: base)
            .replacing("https%3A%2F%2Fexample.com%2Fphoto.jpg", with: "local%3A%2F%2F%2Fsample.jpg")
            .replacing("https://example.com/photo.jpg", with: "local:///sample.jpg")
        let curl = "curl() { command curl -sS \(acceptsProblems ? "" : "--fail") \"$@\"; }\n"
        let fixtures = folder.appendingPathComponent("Fixtures")
        if !FileManager.default.fileExists(atPath: fixtures.path) {
            try FileManager.default.createSymbolicLink(
                at: fixtures, withDestinationURL: Document.package.appendingPathComponent("Fixtures"))
        }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["bash", "-euo", "pipefail", "-c", curl + script]
        process.currentDirectoryURL = folder
        let path = Self.binary.deletingLastPathComponent().path + ":" + (Self.environment["PATH"] ?? "")
        process.environment = Self.environment.merging(["TOKEN": Self.token, "PATH": path]) { $1 }
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    /// A new empty folder.
    static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recipes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// `.build/debug/darkroom` beside the test bundle, or what `DARKROOM_BINARY` names.
    private static var binary: URL {
        if let named = ProcessInfo.processInfo.environment["DARKROOM_BINARY"] { return URL(fileURLWithPath: named) }
        return URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("darkroom")
    }

    private static var environment: [String: String] {
        ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("DARKROOM_") }
    }
}
