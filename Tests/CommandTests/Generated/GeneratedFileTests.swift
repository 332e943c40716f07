import Foundation
import Testing

@Suite(.enabled(if: FileManager.default.fileExists(atPath: GeneratedFile.all[0].url.path), "there is no openapi.yaml"))
struct GeneratedFileTests {
    /// `make contract` sets the variable, and has the files written instead of compared.
    @Test(arguments: GeneratedFile.all)
    func `A committed file is what the tables give`(file: GeneratedFile) throws {
        let committed = try String(contentsOf: file.url, encoding: .utf8)
        let generated = try file.text(committed)
        if ProcessInfo.processInfo.environment["WRITE_GENERATED"] != nil {
            try generated.write(to: file.url, atomically: true, encoding: .utf8)
        } else {
            let isCurrent = generated == committed
            #expect(isCurrent, "The tables give another \(file.path); run make contract.")
        }
    }

    @Test func `A parameter that the contract lacks is added with its sentence, and one that no table has is removed`()
        throws
    {
        let contract = try String(contentsOf: GeneratedFile.all[0].url, encoding: .utf8)
        var lacking = YAMLBlocks(contract)
        try lacking.replace(["paths", "/image", "get", "parameters"], with: ["        - $ref: obsolete"])
        var components = lacking.children(of: ["components", "parameters"])
        components.removeAll { $0.key == "tint" }
        let obsolete = ["    obsolete:", "      name: obsolete", "      in: query"]
        try lacking.replace(["components", "parameters"], with: components.flatMap(\.lines) + obsolete)
        let completed = YAMLBlocks(try GeneratedContract.text(from: lacking.text))
        let tint = completed.children(of: ["components", "parameters", "tint"])
        #expect(tint.map(\.key) == ["name", "in", "description", "schema", "example"])
        let sentence = "      description: Tints the image with a color and keeps its luminance."
        #expect(tint.flatMap(\.lines).contains(sentence))
        let list = ["paths", "/image", "get", "parameters"]
        #expect(completed.lines(of: list) == YAMLBlocks(contract).lines(of: list))
        #expect(!completed.text.contains("obsolete"))
    }
}
