import Testing

@testable import DarkroomQuery

struct ParameterReferenceTests {
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
}
