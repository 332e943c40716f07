import ArgumentParser
import DarkroomQuery
import DarkroomWeb
import Foundation

struct Sign: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a signed image URL.",
        usage: """
            darkroom sign 'url=https%3A%2F%2Fexample.com%2Fphoto.jpg&w=400' [--key-id k1] [--expires-in 1h] [--path]
            darkroom sign 'w=400' --upload --expires-in 10m
            darkroom sign 'https://img.example.com/image?url=https%3A%2F%2Fexample.com%2Fphoto.jpg&w=400'
            """,
        discussion: """
            Signing keys, presets and public-url must be the same as for the server. They are read from the \
            environment (DARKROOM_SIGNING_KEYS, DARKROOM_SIGNING_KEYS_FILE) or from the file that --config names, not \
            from flags, which are visible in the process list.
            """)

    @Argument(
        help: """
            Percent-encoded query of an image, a path with its query such as '/info?url=…', or a URL of the server \
            such as 'https://img.example.com/image?url=…'.
            """)
    var request: String
    @Option(name: .customLong("key-id"), help: "ID of the signing key. Default: the first key.")
    var keyID: String?
    @Option(help: "Lifetime of the URL, such as 15m, 12h or 7d. Default: unlimited.")
    var expiresIn: String?
    @Flag(help: "Put the query into the path, for caches that ignore query strings.")
    var path = false
    @Flag(help: "Sign a POST of any image, without a url; give it a short lifetime.")
    var upload = false
    @Option(help: "YAML file of the server's settings.")
    var config: String?

    func run() async throws {
        do {
            let settings = try Settings(SettingSources(file: config))
            let lifetime = try expiresIn.map { try SettingKind<Duration>.duration().read($0, of: "--expires-in") }
            let expires = lifetime.map { Date() + $0 / .seconds(1) }
            let signer = URLSigner(settings.webConfiguration)
            try StandardOutput.print(
                signer.sign(request, keyID: keyID, expires: expires, inPath: path, isUpload: upload))
        } catch let error as SettingError {
            throw error.report()
        } catch let error as URLSigner.Refusal {
            StandardError.write(error.description)
            throw ExitCode.failure
        }
    }
}
