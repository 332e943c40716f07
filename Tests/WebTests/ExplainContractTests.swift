import DarkroomHTTPCaching
import DarkroomRequests
import Foundation
import Testing
import Yams

@testable import DarkroomCache
@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

/// Holds what `openapi.yaml` says of explanations and entries against the code.
struct ExplainContractTests {
    private let contract: Contract

    init() throws {
        contract = try Contract()
    }

    private func names(_ path: String) throws -> [String] {
        let listed = try #require(contract["paths"]?[path]?["get"]?["parameters"]?.sequence)
        return listed.compactMap { node in
            node["name"]?.string ?? node["$ref"]?.string?.split(separator: "/").last.map(String.init)
        }
    }

    @Test func `The contract has the parameters of the grammars, in their order`() throws {
        let table = ExplainGrammar(limits: QueryLimits()).table
        #expect(try names("/explain") == table.parameters.map(\.name) + AccessParameters.table.parameters.map(\.name))
        #expect(table.parameters.dropLast().map(\.schema) == ImageQueryGrammar().table.parameters.map(\.schema))
        #expect(table.parameters.last?.schema == .boolean)
        #expect(table.parameters.last?.defaultText == "false")
        #expect(try names("/cache/entries") == EntriesGrammar().table.parameters.map(\.name))
    }

    @Test func `Documents have the members and words of their schemas`() throws {
        let configuration = WebConfiguration()
        let query = try ImageQueryGrammar().parse("url=x&w=4")
        for plan in [Explanation.PlanOutcome.planned(Explanation.plan), .missing("Why.")] {
            let document = ExplainDocument(.stub(plan: plan), of: query, accept: nil, configuration)
            try expect(document, toFit: "Explanation")
        }
        var interim = Explanation.stub(plan: .missing("Why."))
        interim.upgrade = Explanation.Upgrade(format: .avif, isUnderWay: true, encodingTime: .milliseconds(400))
        try expect(ExplainDocument(interim, of: query, accept: nil, configuration), toFit: "Explanation")
        var tagged = configuration
        tagged.responseTags = .akamai
        interim.tags = EdgeTags(kept: ["s-0123", "a b"], leftOut: ["one too many"])
        let document = ExplainDocument(interim, of: query, accept: nil, tagged)
        try expect(document, toFit: "Explanation")
        #expect(document.tags?.value == "s-0123" && document.tags?.leftOut == ["a b", "one too many"])
        for isKnown in [true, false] { try expect(EntriesDocument(.stub(isKnown: isKnown)), toFit: "SourceEntries") }
        let freshness = contract["components"]?["schemas"]?["Explanation"]?["properties"]?["freshness"]?["properties"]
        let grounds = freshness?["because"]?["enum"]?.sequence?.compactMap(\.string)
        #expect(grounds == CacheEvaluation.Reason.allCases.map(\.rawValue))
        let formats = contract["components"]?["schemas"]?["Explanation"]?["properties"]?["format"]?["properties"]?[
            "name"]
        #expect(formats?["enum"]?.sequence?.compactMap(\.string) == OutputFormat.allCases.map(\.rawValue))
    }

    @Test func `Examples have the members of the schemas`() throws {
        for name in ["Explanation", "SourceEntries"] {
            let content = try #require(contract["components"]?["responses"]?[name]?["content"]?["application/json"])
            let examples = content["examples"]?.mapping?.compactMap { $0.value["value"] } ?? []
            for example in examples + [content["example"]].compactMap(\.self) {
                try expect(example, toFit: try schema(name), name)
            }
        }
    }

    private func expect(_ document: some Encodable, toFit name: String) throws {
        let text = String(decoding: encoded(document), as: UTF8.self)
        try expect(try #require(try Yams.compose(yaml: text)), toFit: try schema(name), name)
    }

    private func schema(_ name: String) throws -> Node {
        try #require(contract["components"]?["schemas"]?[name])
    }

    /// All required members and no others, at every depth.
    private func expect(_ node: Node, toFit schema: Node, _ path: String) throws {
        if let reference = schema["$ref"]?.string?.split(separator: "/").last {
            return try expect(node, toFit: try self.schema(String(reference)), path)
        }
        if let items = schema["items"] {
            let members = try #require(node.sequence, "\(path)")
            for member in members { try expect(member, toFit: items, path + "[]") }
        } else if let described = schema["properties"]?.mapping {
            let members = try #require(node.mapping, "\(path)")
            let required = schema["required"]?.sequence?.compactMap(\.string) ?? []
            #expect(Set(members.keys.compactMap(\.string)).isSuperset(of: required), "\(path)")
            for (name, member) in members {
                let part = "\(path).\(name.string ?? "")"
                try expect(member, toFit: try #require(described[name], "\(part)"), part)
            }
        } else if let words = schema["enum"]?.sequence?.compactMap(\.string) {
            #expect(words.contains(node.string ?? ""), "\(path)")
        }
    }
}
