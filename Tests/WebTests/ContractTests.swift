import DarkroomHTTPServer
import DarkroomRequests
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

/// Holds `openapi.yaml` against the grammar, the routes and the problems, both ways.
struct ContractTests {
    private let contract: Contract

    init() throws { contract = try Contract() }

    @Test func `The listener has the paths and methods of the contract, and no others`() {
        let routes = Endpoints.idle().routes(of: .main, WebConfiguration())
        let routed = Set(
            routes.flatMap { route in route.methods.map { "\($0.rawValue.lowercased()) \(route.path)" } })
        var described: Set<String> = []
        for (path, item) in contract["paths"]?.mapping ?? [:] {
            for (method, _) in item.mapping ?? [:] { described.insert("\(method.string ?? "") \(path.string ?? "")") }
            // Described once, for every GET that does not stream.
            guard let responses = item["get"]?["responses"]?.mapping else { continue }
            #expect(item["head"] == nil)
            let success = responses.first { $0.key.string == "200" }.map { contract.dereferenced($0.value) }
            if success?["content"]?["text/event-stream"] == nil { described.insert("head \(path.string ?? "")") }
        }
        #expect(routed == described)
        #expect(!routed.isEmpty)
    }

    @Test func `Every operation has an id of its own`() {
        let operations = contract.operations
        #expect(Set(operations.compactMap { $0["operationId"]?.string }).count == operations.count)
        #expect(operations.first { $0["operationId"]?.string == "getImage" } != nil)
    }

    @Test func `What a document tells is what the contract says, and every text format is in it`() throws {
        let document = contract["components"]?["schemas"]?["SourceDocument"]
        // That one is no part of what is cached.
        let described = Set(document?["properties"]?.mapping?.keys.compactMap(\.string) ?? []).subtracting(["cache"])
        let required = document?["required"]?.sequence?.compactMap(\.string) ?? []
        #expect(Set(required).isSubset(of: described))
        let png = try #require(Data(base64Encoded: Self.pixel))
        for (details, members) in [(ImageDetails(), 0), (.all.union(.position), described.count)] {
            let job = ImageJob(
                source: ByteBuffer(bytes: png), chain: TransformChain(Recipe()),
                output: OutputOptions(format: .json, details: details))
            let body = try InProcessImageProcessor().process(job) { false }.body
            let json = try JSONSerialization.jsonObject(with: Data(String(buffer: body).utf8)) as? [String: Any] ?? [:]
            #expect(Set(json.keys).isSuperset(of: required))
            #expect(Set(json.keys).isSubset(of: described))
            #expect(members == 0 || json["palette"] != nil)
        }
        let types =
            contract["components"]?["responses"]?["Image"]?["content"]?.mapping?.keys.compactMap(\.string) ?? []
        // The first type stands for all images, for generated clients that know no image types.
        #expect(types.first == "application/octet-stream")
        #expect(Set(types.dropFirst()) == Set(OutputFormat.allCases.map(\.mediaType)))
    }

    @Test func `The description of caching is as in the contract`() throws {
        let told = CachingDocument(.stub(), CacheLocation(original: .all, variant: .all))
        let json = try JSONSerialization.jsonObject(with: encoded(told)) as? [String: Any] ?? [:]
        for (name, members) in [("Caching", json), ("CachePlaces", json["original"] as? [String: Any] ?? [:])] {
            let schema = try #require(contract["components"]?["schemas"]?[name])
            #expect(Set(schema["properties"]?.mapping?.keys.compactMap(\.string) ?? []) == Set(members.keys))
            #expect(
                Set(schema["required"]?.sequence?.compactMap(\.string) ?? [])
                    == Set(members.keys).subtracting(["shared"]))
        }
    }

    /// A PNG of one pixel.
    private static let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

    @Test func `Problems have the types, titles and statuses of the contract`() throws {
        var described: [String: Problem.Document] = [:]
        for (_, response) in contract["components"]?["responses"]?.mapping ?? [:] {
            for (name, example) in problemExamples(of: response) {
                let value = try #require(example["value"])
                let document = try YAMLDecoder().decode(Problem.Document.self, from: Yams.serialize(node: value))
                described[name.string ?? ""] = document
            }
        }
        #expect(Set(described.keys) == Set(ProblemKind.all.map(\.slug)))
        for kind in ProblemKind.all {
            #expect(described[kind.slug]?.type == kind.type)
            #expect(described[kind.slug]?.title == kind.title)
            #expect(described[kind.slug]?.status == kind.status.code)
        }
    }

    @Test func `Each status of an operation has problems of that status`() {
        for operation in contract.operations {
            for (status, reference) in operation["responses"]?.mapping ?? [:] {
                for (_, example) in problemExamples(of: contract.dereferenced(reference)) {
                    #expect(example["value"]?["status"]?.string == status.string)
                }
            }
        }
    }

    private func problemExamples(of response: Node) -> Node.Mapping {
        response["content"]?["application/problem+json"]?["examples"]?.mapping ?? [:]
    }
}
