import Foundation
import Testing

@testable import DarkroomQuery

/// Holds `docs/parameters.md` against the parameter tables.
struct ParameterReferenceTests {
    private static let page: String? = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try? String(contentsOf: root.appendingPathComponent("docs/parameters.md"), encoding: .utf8)
    }()

    @Test(.enabled(if: page != nil, "docs/parameters.md does not exist"))
    func `the page contains the reference of every parameter of image and info`() throws {
        let page = try #require(Self.page)
        let sections = ImageQueryGrammar().table.markdown
        for line in sections.split(separator: "\n") { #expect(page.contains(line), "\(line)") }
        for line in AccessParameters.table.markdown.split(separator: "\n") {
            #expect(page.contains(line), "\(line)")
        }
        let info = ImageQueryGrammar.info().table.markdown.split(separator: "\n")
        for line in info where line.hasPrefix("| `gps`") { #expect(page.contains(line), "\(line)") }
    }

    @Test func `every parameter is documented in one sentence`() {
        let parameters = ImageQueryGrammar().table.parameters
        for parameter in parameters {
            let summary = parameter.documentation.summary
            #expect(summary.hasSuffix("."), "\(parameter.name)")
            #expect((10...220).contains(summary.count), "\(parameter.name)")
        }
        #expect(Set(parameters.map(\.documentation.summary)).count == parameters.count)
    }

    @Test func `the reference lists each parameter once, by theme`() {
        let markdown = ImageQueryGrammar().table.markdown
        for parameter in ImageQueryGrammar().table.parameters {
            #expect(markdown.split(separator: "\n").count { $0.hasPrefix("| `\(parameter.name)` |") } == 1)
        }
        #expect(markdown.hasPrefix("### Source\n"))
        #expect(markdown.contains("| `1` | Resize | medium |"))
    }

    /// Writes the reference to the file that `PARAMETER_REFERENCE` names.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["PARAMETER_REFERENCE"] != nil))
    func `the reference can be written to a file`() throws {
        let path = try #require(ProcessInfo.processInfo.environment["PARAMETER_REFERENCE"])
        let sections = [ImageQueryGrammar().table.markdown, AccessParameters.table.markdown]
        try (sections.joined(separator: "\n")).write(toFile: path, atomically: true, encoding: .utf8)
    }
}
