import ArgumentParser
import DarkroomWeb
import Foundation

struct Translate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the equivalent Darkroom URLs of image URLs of another service.",
        usage: """
            darkroom translate --compat thumbor https://img.example.com/unsafe/300x200/example.com/photo.jpg
            darkroom translate --config darkroom.yaml < urls.txt > translated.txt
            """,
        discussion: """
            Prints one line for each URL, in order; an empty line stands for a URL that the server would refuse, whose \
            reason goes to standard error. The exit status is 1 if any URL was refused. The settings must be the same \
            as for the server, in the environment or in the file that --config names. With signing keys, the printed \
            URLs are signed.
            """)

    @Argument(help: "URLs, or paths with their queries. Without any, lines are read from standard input.")
    var urls: [String] = []
    @Option(help: "The service that the URLs were written for: wsrv, imgproxy, thumbor or cloudflare. Default: compat.")
    var compat: String?
    @Option(help: "YAML file of the server's settings.")
    var config: String?

    func run() throws {
        let translator: URLTranslator
        do {
            let flags = compat.map { ["compat": $0] } ?? [:]
            let settings = try Settings(SettingSources(flags: flags, file: config))
            guard let chosen = URLTranslator(settings.webConfiguration) else {
                StandardError.write("The setting compat names no other service; give --compat.")
                throw ExitCode.validationFailure
            }
            translator = chosen
        } catch let error as SettingError {
            throw error.report()
        }
        var hasRefusal = false
        var line = 0
        func translate(_ url: String) throws {
            line += 1
            var translated = ""
            do throws(URLTranslator.Refusal) { translated = try translator.translate(url) } catch {
                hasRefusal = true
                StandardError.write("\(line): \(error.description)")
            }
            try StandardOutput.print(translated)
        }
        if urls.isEmpty {
            while let url = readLine() { try translate(url.trimmingCharacters(in: .whitespaces)) }
        } else {
            try urls.forEach(translate)
        }
        if hasRefusal { throw ExitCode.failure }
    }
}
