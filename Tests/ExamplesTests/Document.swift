import Foundation
import Testing

/// A Markdown document of this package.
struct Document: CustomTestStringConvertible, Sendable {
    /// From the package's folder, such as `docs/caching.md`.
    let path: String
    let text: String

    var testDescription: String { path }

    init(_ path: String) throws {
        self.path = path
        text = try String(contentsOf: Self.package.appendingPathComponent(path), encoding: .utf8)
    }

    /// A fenced block and the language after its fence.
    struct Block: Sendable {
        var language: String
        var text: String
    }

    var blocks: [Block] {
        text.split(separator: "\n```", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }
            .map { _, block in
                let lines = block.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
                return Block(language: String(lines[0]), text: lines.dropFirst().joined() + "\n")
            }
    }

    func blocks(in language: String) -> [String] { blocks.filter { $0.language == language }.map(\.text) }

    /// Flags for a server with the presets of the page, if its recipes use them.
    func settingsOfPresets() throws -> [String] {
        guard blocks(in: "sh").contains(where: { $0.contains(" -d preset=") }) else { return [] }
        let presets = blocks(in: "yaml").filter { $0.hasPrefix("presets:") }.map { $0.trimmingPrefix("presets:\n") }
        let file = try DocumentedServer.temporaryFolder().appendingPathComponent("presets.yaml")
        try Data("presets:\n\(presets.joined())".utf8).write(to: file)
        return ["--config", file.path]
    }

    /// The text without its blocks.
    var prose: String {
        text.components(separatedBy: "\n```").enumerated().filter { $0.offset % 2 == 0 }.map(\.element).joined()
    }

    /// The anchors of the headings, as GitHub derives them.
    var anchors: Set<String> {
        Set(
            prose.split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
                line.drop { $0 == "#" }.lowercased().trimmingPrefix(" ")
                    .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
                    .replacing(" ", with: "-")
            })
    }

    static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The pages of `docs/`.
    static var pages: [Document] {
        get throws { try files(of: "docs", ".md").map { try Document("docs/\($0)") } }
    }

    /// The articles of the library's reference.
    static var articles: [Document] {
        get throws {
            let catalog = "Sources/Darkroom/Darkroom.docc"
            return try files(of: catalog, ".md").map { try Document("\(catalog)/\($0)") }
        }
    }

    /// Everything that people read.
    static var all: [Document] {
        get throws {
            try ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "Fixtures/README.md"].map(Document.init)
                + pages + articles
        }
    }

    private static func files(of folder: String, _ suffix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: package.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(suffix) }.sorted()
    }
}
