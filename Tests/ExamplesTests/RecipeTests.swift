import Foundation
import Testing

/// The documents' recipes, run against the built executable. A block of `sh` is a recipe; one of `console` is not run.
@Suite(.timeLimit(.minutes(5)))
struct RecipeTests {
    @Test(arguments: try (Document.pages + [Document("README.md")]).filter { !$0.blocks(in: "sh").isEmpty })
    func `Every recipe of a page works`(page: Document) throws {
        let server = try DocumentedServer(page.settingsOfPresets())
        for recipe in page.blocks(in: "sh") {
            let run = try server.run(recipe, acceptsProblems: page.path == "docs/errors.md")
            #expect(run.status == 0, "\(recipe)\n\(run.output)")
            let isQuiet = recipe.contains(/-[A-Za-z]*o\s/) || recipe.contains("darkroom transform")
            #expect(!run.output.isEmpty || isQuiet, "\(recipe)")
        }
    }

    @Test func `The problem of the page on errors looks as described`() throws {
        let recipe = try #require(try Document("docs/errors.md").blocks(in: "sh").first)
        let run = try DocumentedServer().run(recipe, acceptsProblems: true)
        #expect(run.output.contains(#""type":"/problems/invalid-parameter""#))
        #expect(run.output.contains(#""parameter":"w""#))
    }

    @Test(arguments: try Document.pages.flatMap { page in page.blocks(in: "yaml").map { (page.path, $0) } })
    func `A server starts with every settings file`(page: String, settings: String) throws {
        let folder = try DocumentedServer.temporaryFolder()
        let file = folder.appendingPathComponent("darkroom.yaml")
        let keys = folder.appendingPathComponent("keys.json")
        let secret = folder.appendingPathComponent("secret")
        try Data("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz\n".utf8).write(to: secret)
        try Data(settings.replacing(/\/run\/secrets\/[a-z]+/, with: secret.path).utf8).write(to: file)
        try Data(#"[{"id": "k1", "secret": "0123456789abcdef0123456789abcdef"}]"#.utf8).write(to: keys)
        var flags = ["--config", file.path, "--host", "127.0.0.1", "--isolation", "auto"]
        if settings.contains("admin-port:") { flags += ["--admin-port", "0"] }
        if settings.contains("signing-keys-file:") { flags += ["--signing-keys-file", keys.path] }
        _ = try DocumentedServer(flags)
    }

    @Test func `The page on errors lists every problem with its status`() throws {
        let pattern = /(?<status>[45][0-9]{2})[^\n]*?(?<type>problems\/[a-z-]+)/
        let list = try DocumentedServer().run("curl http://127.0.0.1:8080/problems\n").output
        let served = Set(list.matches(of: pattern).map { "\($0.status) \($0.type)" })
        let table = try Document("docs/errors.md").text.split(separator: "\n").filter { $0.hasPrefix("|") }
        let documented = Set(table.compactMap { try? pattern.firstMatch(in: $0) }.map { "\($0.status) \($0.type)" })
        #expect(served.count > 30)
        #expect(documented == served)
    }

    @Test func `The page on metrics lists every metric with its type and labels`() throws {
        let folder = try DocumentedServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let keys = folder.appendingPathComponent("keys.json")
        let secret = "correct-horse-battery-staple-0123"
        try #"[{"id": "k1", "secret": "\#(secret)", "cache": "1MiB", "processor": "60s/m", "egress": "1GiB/d"}]"#
            .write(to: keys, atomically: true, encoding: .utf8)
        // Nothing listens for spans, objects and purges, but they are counted.
        let server = try DocumentedServer(
            [
                "--otlp-endpoint", "http://127.0.0.1:9", "--shared-store", "s3://darkroom", "--s3-endpoint",
                "http://127.0.0.1:9", "--signing-keys-file", keys.path, "--purge-to", "varnish=http://127.0.0.1:9/",
                "--response-tags", "xkey",
            ], environment: ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"])
        // A hit, and an image that no codec reads, since some series appear with the first event.
        for query in ["local:///sample.jpg&w=20", "local:///sample.jpg&w=20", "local:///hostile/header-only.jpg"] {
            let curl = "curl -H \"Authorization: Bearer $TOKEN\" -o /dev/null"
            _ = try server.run("\(curl) 'http://127.0.0.1:8080/image?url=\(query)'", acceptsProblems: true)
        }
        let recipes = try Document("docs/observability.md").blocks(in: "sh").joined()
        // The recipe for /explain is not signed.
        let served = try Self.metrics(in: server.run(recipes, acceptsProblems: true).output)
        let rows = try Document("docs/metrics.md").text.matches(
            of: /\| `(?<name>[a-z_]+)` \| (?<type>[a-z]+) \| (?<labels>[^|]+) \|/)
        let documented = Dictionary(
            rows.map { row in
                (String(row.name), "\(row.type) \(row.labels.matches(of: /[a-z]+/).map(\.output).sorted())")
            }
        ) { first, second in "\(first), and \(second)" }
        #expect(served.count > 50)
        for (name, found) in served { #expect(documented[name] == found, "\(name)") }
        #if os(Linux)
            // Elsewhere there are no workers.
            #expect(Set(documented.keys).subtracting(served.keys).isEmpty)
        #endif
    }

    /// The type and the labels of each metric of a scrape, by its name.
    private static func metrics(in scrape: String) -> [String: String] {
        let types = scrape.matches(of: /# TYPE (?<name>[a-z_]+) (?<type>[a-z]+)/)
        let metrics = types.map { found in
            let name = found.name + (found.type == "histogram" ? "_count" : "")
            let lines = scrape.split(separator: "\n").filter {
                $0.hasPrefix("\(name) ") || $0.hasPrefix("\(name){")
            }
            let labels = Set(lines.flatMap { $0.matches(of: /(?<label>[a-z]+)="/).map(\.label) })
            return (String(found.name), "\(found.type) \(labels.sorted())")
        }
        return Dictionary(metrics) { first, second in "\(first), and \(second)" }
    }
}
