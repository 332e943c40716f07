import DarkroomMachine
import Foundation
import Testing

@testable import DarkroomCommand

/// `darkroom config`, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct ConfigCommandTests {
    @Test func `A valid file is valid`() throws {
        let file = try URL.temporaryFile("darkroom.yaml", SettingsReference.exampleFile)
        let run = try DarkroomProcess.run(["config", "check", file.path])
        #expect(run.status == 0)
        #expect(run.output == "\(file.path) is valid.\n")
        #expect(run.errors.isEmpty)
    }

    @Test func `A file is checked together with the environment`() throws {
        let file = try URL.temporaryFile("darkroom.yaml", "host: 0.0.0.0\n")
        let check = ["config", "check", file.path]
        #expect(try DarkroomProcess.run(check).status == 78)
        #expect(try DarkroomProcess.run(check, environment: ["DARKROOM_ALLOW_HOSTS": "a.org"]).status == 0)
    }

    @Test(arguments: [
        "port: x\n", "prot: 1\n", "port: [1\n", "- a\n", "host: 0.0.0.0\n", "connect-timeout: 20s\n",
        "local-root: /no/such/folder\n", "signing-keys: {k1: short}\n",
    ])
    func `An invalid file is refused as at startup`(text: String) throws {
        let file = try URL.temporaryFile("darkroom.yaml", text)
        let check = try DarkroomProcess.run(["config", "check", file.path])
        let start = try DarkroomProcess.run(["serve", "--config", file.path])
        #expect(check.status == (text.hasPrefix("local-root") ? 1 : 78))
        #expect(start.status == check.status)
        #expect(check.errors == start.errors)
        #expect(check.errors.contains("darkroom.yaml") || check.errors.contains("connect-timeout"))
        #expect(check.output.isEmpty)
    }

    @Test(arguments: [
        ("local-root: /no/such/folder\n", 1), ("signing-keys-file: /no/such/file\n", 1),
        ("admin-token-file: /no/such/file\n", 1), ("local-root: /no/such/folder\nport: x\n", 78),
        ("presets: {a: w=wide}\n", 78), ("shared-store: s3://bucket\ns3-endpoint: 'http://a/b?c'\n", 78),
    ])
    func `What the machine may have at the next start exits with 1, and a mistake in the settings with 78`(
        text: String, status: Int32
    ) throws {
        let file = try URL.temporaryFile("darkroom.yaml", text)
        #expect(try DarkroomProcess.run(["config", "check", file.path]).status == status)
        #expect(try DarkroomProcess.run(["serve", "--config", file.path]).status == status)
    }

    @Test func `A cache folder that cannot be used exits with 1`() throws {
        let file = try URL.temporaryFile("file", "")
        let run = try DarkroomProcess.run(["serve", "--port", "0", "--cache-dir", file.path])
        #expect(run.status == 1)
        #expect(run.errors.contains("Error: cache-dir: "), "\(run.errors)")
    }

    @Test func `A pattern that leaves the domain open is valid, with a warning`() throws {
        let patterns = "['*example.com', 'example.*', 'cdn?.b.org', '*', '*.b.org', '*-cdn.example.com', '2001:db8::*']"
        let file = try URL.temporaryFile("darkroom.yaml", "allow-hosts: \(patterns)\n")
        let run = try DarkroomProcess.run(["config", "check", file.path])
        #expect(run.status == 0)
        let warned = run.output.matches(of: #/Warning: [^']*'([^']*)' also matches/#).map { String($0.1) }
        #expect(warned == ["*example.com", "example.*"], "\(run.output)")
    }

    @Test func `Every mistake is listed with its line, but not what may follow from another`() throws {
        let values = """
            prot: 1
            port: x
            allow-ports:
              - 80
              - http
            signing-keys:
              k1: 0123456789abcdef0123456789-secret
              k2:
                secret: 0123456789abcdef0123456789-secret
                host: a
            queue-depth: -1
            nothing: 1
            """
        let combinations = """
            host: 0.0.0.0
            connect-timeout: 20s
            presets:
              good: w=1
              bad: w=wide
              worse: {h: tall}
            signing-keys:
              - {id: k1, secret: 0123456789abcdef0123456789-secret}
              - {id: k2, secret: short}
            """
        // Because of line 2, the timeouts cannot be compared, and the server may look more exposed than is meant.
        let both = """
            host: 0.0.0.0
            download-timeout: soon
            connect-timeout: 20s
            presets: {bad: w=wide}
            local-root: /no/such/folder
            """
        for (text, lines) in [(values, [1, 2, 5, 8, 11, 12]), (combinations, [2, 5, 6, 9]), (both, [2, 4, 5])] {
            let file = try URL.temporaryFile("darkroom.yaml", text)
            let run = try DarkroomProcess.run(["config", "check", file.path])
            #expect(run.status == 78)
            let found = run.errors.matches(of: #/Error: [^\n]*?darkroom\.yaml:([0-9]+): /#).compactMap { Int($0.1) }
            #expect(Set(found) == Set(lines) && found.count == lines.count, "\(run.errors)")
            #expect(!run.errors.contains("secret:") && !run.errors.contains("0123"))
        }
    }

    @Test func `Combinations that are seldom intended are warned of`() throws {
        let text = """
            host: 0.0.0.0
            open-proxy: true
            isolation: none
            trusted-proxies: ['0.0.0.0/0']
            iiif: true
            response-tags: fastly
            purge-to: [{varnish: "http://127.0.0.1:1/"}, {nginx: "http://127.0.0.1:2/"}]

            """
        let file = try URL.temporaryFile("darkroom.yaml", text)
        let run = try DarkroomProcess.run(["config", "check", file.path])
        #expect(run.status == 0 && run.errors.isEmpty)
        let lines = run.output.matches(of: #/Warning: [^\n]*?darkroom\.yaml:([0-9]+): /#).compactMap { Int($0.1) }
        #expect(lines == [2, 3, 4, 5, 7], "\(run.output)")
        #expect(run.output.hasSuffix("\(file.path) is valid.\n"))
    }

    @Test func `Each setting is printed with the source that decides`() throws {
        let file = try URL.temporaryFile(
            "darkroom.yaml", "# ports\nport: 1\nqueue-depth: 2\nallow-hosts: ['*.a.org']\n")
        let run = try DarkroomProcess.run(
            ["config", "print", "--config", file.path, "--max-downloads", "99"], environment: ["DARKROOM_PORT": "3"])
        #expect(run.status == 0)
        let lines = run.output.split(separator: "\n").map { line in
            line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        for line in [
            "port: 3 # DARKROOM_PORT", "queue-depth: 2 # \(file.path):3", "max-downloads: 99 # --max-downloads",
            "allow-hosts: \"*.a.org\" # \(file.path):4", "idle-timeout: 30s # default", "# admin-port: none # default",
            "pixel-workers: \(ResourceDefaults.current.pixelWorkers) # default: number of usable CPU cores",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(lines.count { $0.contains(" # ") } == SettingsTable.rows.count)
    }

    @Test func `Secrets are masked, whatever gives them`() throws {
        let secrets = ["token-0123456789abcdef", "key-0123456789abcdef0123456789abcdef"]
        let file = try URL.temporaryFile("darkroom.yaml", "signing-keys: {k1: \(secrets[1])}\n")
        for (flags, environment) in [
            (["--config", file.path, "--admin-token", secrets[0]], [:]),
            ([], ["DARKROOM_ADMIN_TOKEN": secrets[0], "DARKROOM_SIGNING_KEYS": "k1:\(secrets[1])"]),
        ] {
            let run = try DarkroomProcess.run(["config", "print"] + flags, environment: environment)
            #expect(run.status == 0)
            #expect(run.output.matches(of: /\n(?:admin-token|signing-keys): "\*{8}" +#/).count == 2, "\(run.output)")
            for secret in secrets { #expect(!run.output.contains(secret) && !run.errors.contains(secret)) }
        }
    }

    @Test func `Invalid settings are refused as at startup`() throws {
        let run = try DarkroomProcess.run(["config", "print", "--port", "x"])
        #expect(run.status == 78)
        #expect(run.errors == "Error: --port must be an integer from 0 to 65535, got 'x'.\n")
        #expect(run.output.isEmpty)
    }

    @Test func `What is printed is a file with the same settings`() throws {
        var values = SettingsTests.others
        for row in SettingsTable.rows where row.isSecret { values[row.name] = nil }
        values["local-root"] = "/"
        values["cache-dir"] = "/tmp/a folder: \"x\" \\ # \u{7}é"
        for flags in [[:], values, ["allow-ports": "", "presets": "a=crop=0%2C0%2C9%2C9"]] {
            let sources = try SettingSources(flags: flags, environment: [:], file: nil)
            let settings = try Settings(sources)
            let text = SettingsReport(settings: settings, sources: sources).text
            #expect(try Settings.reading(file: text).summary == settings.summary, "\(text)")
        }
    }
}
