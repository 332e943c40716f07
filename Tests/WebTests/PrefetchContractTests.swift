import DarkroomRequests
import Foundation
import Testing
import Yams

@testable import DarkroomLoading
@testable import DarkroomNetwork
@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

/// Holds `openapi.yaml` against what prefetching takes and tells.
struct PrefetchContractTests {
    private let contract: Contract

    init() throws {
        contract = try Contract()
    }

    private func schema(_ name: String) throws -> Node { try #require(contract["components"]?["schemas"]?[name]) }

    private func members(_ document: some Encodable) throws -> Set<String> {
        let json = try JSONSerialization.jsonObject(with: encoded(document))
        return Set((json as? [String: Any] ?? [:]).keys)
    }

    private func strings(_ node: Node?) -> Set<String> { Set(node?.sequence?.compactMap(\.string) ?? []) }
    private func keys(_ node: Node?) -> Set<String> { Set(node?.mapping?.keys.compactMap(\.string) ?? []) }

    @Test func `A job has the members of the contract`() throws {
        let job = PrefetchJob(total: 2) { Date(timeIntervalSince1970: 0) }
        let schema = try schema("PrefetchJob")
        #expect(try members(PrefetchDocument(job)) == strings(schema["required"]))
        _ = job.record(.failure(.corrupt), of: PrefetchItem(try ImageRequest(url: "https://a.org/"), label: "w=1"))
        let document = PrefetchDocument(job)
        #expect(try members(document) == keys(schema["properties"]))
        let failure = try self.schema("PrefetchFailure")
        #expect(try members(try #require(document.failures.first)) == strings(failure["required"]))
        #expect(strings(failure["required"]) == keys(failure["properties"]))
        let states: [PrefetchProgress.State] = [.running, .done, .cancelled]
        #expect(strings(schema["properties"]?["state"]?["enum"]) == Set(states.map(\.rawValue)))
        #expect(schema["properties"]?["failures"]?["maxItems"]?.int == PrefetchJob.maxFailures)
        #expect(
            try self.schema("PrefetchJobs")["properties"]?["jobs"]?["maxItems"]?.int == Prefetcher.maxJobs)
    }

    @Test func `The limits of an order agree with the contract, and its examples are taken`() throws {
        let schema = try schema("PrefetchOrder")
        for (_, list) in schema["properties"]?.mapping ?? [:] {
            #expect(list["minItems"]?.int == 1)
            #expect(list["maxItems"]?.int == Prefetcher.maxItems)
        }
        #expect(schema["properties"]?["widths"]?["items"]?["maximum"]?.int == QueryLimits().maxOutputSide)
        let body = contract["paths"]?["/prefetch"]?["post"]?["requestBody"]?["content"]?["application/json"]
        let grammar = PrefetchGrammar()
        let examples = try #require(body?["examples"]?.mapping)
        for (_, example) in examples {
            let text = try Yams.serialize(node: try #require(example["value"]))
            let order = try YAMLDecoder().decode(PrefetchBody.self, from: text)
            #expect(try grammar.images(of: order, accept: nil).count > 1)
        }
    }

    @Test func `A job may name its sources by short names`() throws {
        var map = SourceMap()
        try map.add("shop", "s3://media/products/")
        let body = try PrefetchBody(parsing: Data(#"{"urls": ["shop:a.jpg"], "widths": [10]}"#.utf8))
        let items = try PrefetchGrammar(sourceMap: map).images(of: body, accept: nil)
        #expect(items.map(\.request.source.canonical) == ["s3://media/products/a.jpg"])
        #expect(throws: InvalidBody.self) { try PrefetchGrammar().images(of: body, accept: nil) }
    }

    @Test(arguments: ["PrefetchStarted", "PrefetchJob"]) func `The examples of jobs are jobs`(name: String) throws {
        let response = try #require(contract["components"]?["responses"]?[name])
        let job = try PrefetchDocument(example: response["content"]?["application/json"]?["example"])
        #expect(job.total == 6 && job.state == "running")
    }
}
