import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Testing
import Yams

@testable import Web

/// Holds `openapi.yaml` against the grammar, the routes and the problems, both ways.
struct ContractTests {
    private let contract: Node
    private let grammar = QueryGrammar()
    private let routes = Route.all(ImageEndpoint(configuration: WebConfiguration()) { _ in .stub() })

    init() throws {
        contract = try #require(try Yams.compose(yaml: String(decoding: PackageResources.openapi_yaml, as: UTF8.self)))
    }

    @Test func `the router has the paths and methods of the contract, and no others`() {
        let router = makeRouter(routes, logger: Logger.quiet)
        let routed = Set(router.routes.map { "\($0.method.rawValue.lowercased()) \($0.path)" })
        var described: Set<String> = []
        for (path, item) in contract["paths"]?.mapping ?? [:] {
            for (method, _) in item.mapping ?? [:] { described.insert("\(method.string ?? "") \(path.string ?? "")") }
        }
        #expect(routed == described)
        #expect(!routed.isEmpty)
    }

    @Test func `every operation has an id of its own`() {
        let operations = operations
        #expect(Set(operations.compactMap { $0["operationId"]?.string }).count == operations.count)
        #expect(operations.first { $0["operationId"]?.string == "getImage" } != nil)
    }

    @Test(arguments: ["get", "head"])
    func `the contract's parameters are those of the grammar, in its order`(method: String) throws {
        let listed = try #require(contract["paths"]?["/image"]?[method]?["parameters"]?.sequence).map(resolved)
        #expect(listed.compactMap { $0["name"]?.string } == grammar.parameters.map(\.name))
        #expect(contract["components"]?["parameters"]?.mapping?.count == grammar.parameters.count)
    }

    @Test func `each parameter has the shape, the range and the default of the grammar`() throws {
        for parameter in grammar.parameters {
            let described = try #require(contract["components"]?["parameters"]?[parameter.name], "\(parameter.name)")
            let schema = try #require(described["schema"])
            #expect(described["in"]?.string == "query")
            #expect((described["required"]?.bool ?? false) == (parameter.name == "url"))
            #expect((described["allowEmptyValue"]?.bool ?? false) == parameter.mayBeBare, "\(parameter.name)")
            #expect(schema["default"]?.string == parameter.standard, "\(parameter.name)")
            #expect(described["description"]?.string?.isEmpty == false)
            expect(schema, toDescribe: parameter.shape, of: parameter.name)
        }
    }

    private func expect(_ schema: Node, toDescribe shape: Shape, of name: String) {
        let type = schema["type"]?.string
        switch shape {
        case .url:
            #expect(type == "string" && schema["format"]?.string == "uri", "\(name)")
        case .integer(let range):
            #expect(type == "integer", "\(name)")
            #expect(schema["minimum"]?.int == range.lowerBound && schema["maximum"]?.int == range.upperBound, "\(name)")
        case .number(let range, let decimals):
            #expect(type == "number", "\(name)")
            #expect(
                schema["minimum"]?.float == range.lowerBound && schema["maximum"]?.float == range.upperBound, "\(name)")
            #expect(schema["multipleOf"]?.float == (decimals == 2 ? 0.01 : nil), "\(name)")
        case .boolean:
            #expect(type == "boolean", "\(name)")
        case .choice(let names, let aliases):
            #expect(type == "string", "\(name)")
            #expect(schema["enum"]?.sequence?.compactMap(\.string) == names + aliases, "\(name)")
        case .color:
            #expect(type == "string" && schema["pattern"] != nil, "\(name)")
        case .text(let pattern, _):
            #expect(type == "string" && schema["pattern"]?.string == pattern, "\(name)")
        }
    }

    @Test func `examples and defaults are taken by the grammar`() throws {
        for parameter in grammar.parameters {
            let described = try #require(contract["components"]?["parameters"]?[parameter.name])
            let values = [described["example"]?.string, described["schema"]?["default"]?.string].compactMap { $0 }
            #expect(!values.isEmpty, "\(parameter.name)")
            for value in values {
                var query = "\(parameter.name)=\(value)"
                if parameter.name != "url" { query += "&url=https://example.com/photo.jpg" }
                if parameter.name.hasPrefix("fp") { query += "&a=focal" }
                #expect(throws: Never.self, "\(query)") { try grammar.parse(query) }
            }
        }
    }

    @Test func `patterns match what the grammar takes and not what it refuses`() throws {
        let samples = [
            "crop": (good: ["0,0,1,1", "10,20,300,400"], bad: ["1,2,3", "a,b,c,d", "-1,0,1,1"]),
            "maxage": (good: ["1h", "365d", "525600m"], bad: ["3600", "1s", "h", "1.5h"]),
            "filename": (good: ["a.jpg", "A-b_1"], bad: [".a", "a b", "a/b"]),
            "bg": (good: ["fff", "#ffff", "FFcc00", "ff000080", "red"], bad: ["ff", "#red", "12345", "rgb(1,2,3)"]),
            "tint": (good: ["fff"], bad: ["ff"]),
        ]
        let withPattern = try #require(contract["components"]?["parameters"]?.mapping).compactMap { name, described in
            described["schema"]?["pattern"]?.string.map { (name: name.string ?? "", pattern: $0) }
        }
        #expect(Set(withPattern.map(\.name)) == Set(samples.keys))
        for (name, pattern) in withPattern {
            let regex = try Regex(pattern)
            for text in samples[name]?.good ?? [] { #expect(text.contains(regex), "\(name)=\(text)") }
            for text in samples[name]?.bad ?? [] { #expect(!text.contains(regex), "\(name)=\(text)") }
        }
    }

    @Test func `problems have the types, titles and statuses of the contract`() throws {
        var described: [String: Problem.Document] = [:]
        for (_, response) in contract["components"]?["responses"]?.mapping ?? [:] {
            for (name, example) in problemExamples(of: response) {
                let value = try #require(example["value"])
                let document = try YAMLDecoder().decode(Problem.Document.self, from: Yams.serialize(node: value))
                described[name.string ?? ""] = document
            }
        }
        #expect(Set(described.keys) == Set(ProblemKind.allCases.map(\.rawValue)))
        for kind in ProblemKind.allCases {
            #expect(described[kind.rawValue]?.type == kind.type)
            #expect(described[kind.rawValue]?.title == kind.title)
            #expect(described[kind.rawValue]?.status == kind.status.code)
        }
        let types = contract["components"]?["schemas"]?["Problem"]?["properties"]?["type"]?["enum"]?.sequence
        #expect(types?.compactMap(\.string) == ProblemKind.allCases.map(\.type))
    }

    @Test
    func `each status of an operation leads to problems of that status, and every problem of a picture is listed`()
        throws
    {
        for operation in operations {
            for (status, reference) in operation["responses"]?.mapping ?? [:] {
                for (_, example) in problemExamples(of: resolved(reference)) {
                    #expect(example["value"]?["status"]?.string == status.string)
                }
            }
        }
        let listed = try #require(contract["paths"]?["/image"]?["get"]?["responses"]?.mapping).map { $0.key.string }
        let possible =
            ProblemKind.allCases.filter { $0 != .methodNotAllowed }.map { "\($0.status.code)" } + ["200", "304"]
        #expect(Set(listed) == Set(possible))
    }

    private var operations: [Node] {
        (contract["paths"]?.mapping ?? [:]).flatMap { _, item in (item.mapping ?? [:]).map(\.value) }
    }

    private func problemExamples(of response: Node) -> Node.Mapping {
        response["content"]?["application/problem+json"]?["examples"]?.mapping ?? [:]
    }

    /// Follows a `$ref` within the document.
    private func resolved(_ node: Node) -> Node {
        guard let path = node["$ref"]?.string?.split(separator: "/").dropFirst() else { return node }
        return path.reduce(contract) { found, key in found[String(key)] ?? Node("") }
    }
}
