import ArgumentParser
import DarkroomWeb
import Foundation

/// `darkroom sign`
struct Sign: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the signed address of a picture.",
        usage:
            "darkroom sign 'url=https%3A%2F%2Fexample.com%2Fphoto.jpg&w=400' [--key-id k1] [--expires-in 1h] [--path]",
        discussion: """
            Keys, presets and public-url are those of the server: from the environment (DARKROOM_SIGNING_KEYS, \
            DARKROOM_SIGNING_KEYS_FILE) or the file that --config names, never from a flag, which others could see.
            """)

    @Argument(help: "The query of a picture, percent-encoded; or a path with its query, such as '/info?url=…'.")
    var request: String
    @Option(name: .customLong("key-id"), help: "The key that signs; the first one where it is left out.") var keyID:
        String?
    @Option(help: "For how long the address is good, such as 15m, 12h or 7d; for ever where it is left out.")
    var expiresIn: String?
    @Flag(help: "Put the query into the path, for caches that look at nothing else.") var path = false
    @Option(help: "YAML file of the server's settings.") var config: String?

    func run() async throws {
        do {
            let layers = try await SettingLayers(
                flags: [:], environment: ProcessInfo.processInfo.environment, file: config)
            let signer = URLSigner(try Settings(layers).webConfiguration)
            let lifetime = try expiresIn.map { try SettingText(spelling: "--expires-in", text: $0).duration() }
            print(
                try signer.sign(
                    request, keyID: keyID, expires: lifetime.map { Date() + $0 / .seconds(1) }, inPath: path))
        } catch let error as SettingError {
            throw Self.failure(error.description, ExitCode(EX_CONFIG))
        } catch let error as URLSigner.Refusal {
            throw Self.failure(error.description, .failure)
        }
    }

    private static func failure(_ sentence: String, _ code: ExitCode) -> ExitCode {
        FileHandle.standardError.write(Data("Error: \(sentence)\n".utf8))
        return code
    }
}
