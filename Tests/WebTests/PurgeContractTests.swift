import DarkroomHTTPServer
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Testing
import Yams

@testable import DarkroomCache
@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

/// Holds what `openapi.yaml` says of purges against their answers.
struct PurgeContractTests {
    private let contract: Contract
    private let purgeGrammar = PurgeGrammar()

    init() throws {
        contract = try Contract()
    }

    @Test func `The answer to a purge has the members of the contract`() throws {
        let schema = try #require(contract["components"]?["schemas"]?["Purge"])
        var report = PurgeReport()
        report.sources = [.init(url: "https://example.com/", entries: 2, bytes: 3)]
        report.propagation = .within(.seconds(6))
        for query in ["all", "all&dry_run"] {
            var document = PurgeDocument(report, of: try purgeGrammar.parse(query))
            document.edges = [EdgeProgress(edge: "fastly:x", state: .pending, reason: "why")]
            let json = try JSONSerialization.jsonObject(with: encoded(document)) as? [String: Any] ?? [:]
            let required = Set(schema["required"]?.sequence?.compactMap(\.string) ?? []).union(["propagation", "edges"])
            #expect(Set(json.keys) == (document.dryRun ? required.union(["list"]) : required))
            let described = Set(schema["properties"]?.mapping?.keys.compactMap(\.string) ?? [])
            #expect(described == required.union(["list", "running"]))
        }
        #expect(schema["properties"]?["list"]?["maxItems"]?.int == PurgeDocument.maxListed)
        let edge = contract["components"]?["schemas"]?["EdgeProgress"]?["properties"]
        #expect(Set(edge?.mapping?.keys.compactMap(\.string) ?? []) == ["edge", "state", "reason"])
        #expect(edge?["state"]?["enum"]?.sequence?.compactMap(\.string) == ["told", "pending"])
        let responses = contract["components"]?["responses"]
        for (_, example) in responses?["Purged"]?["content"]?["application/json"]?["examples"]?.mapping ?? [:] {
            #expect(throws: Never.self) { try PurgeDocument(example: example["value"]) }
        }
        let accepted = responses?["PurgeAccepted"]?["content"]?["application/json"]?["example"]
        #expect(try PurgeDocument(example: accepted).running == true)
    }
}
