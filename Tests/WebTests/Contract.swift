import Testing
import Yams

@testable import DarkroomWeb

/// `openapi.yaml`, as the server has it.
struct Contract {
    private let root: Node

    init() throws {
        root = try #require(try Yams.compose(yaml: String(decoding: PackageResources.openapi_yaml, as: UTF8.self)))
    }

    subscript(key: String) -> Node? { root[key] }

    var operations: [Node] {
        (root["paths"]?.mapping ?? [:]).flatMap { _, item in (item.mapping ?? [:]).map(\.value) }
    }

    func parameters(of path: String, _ method: String) throws -> [Node] {
        try #require(root["paths"]?[path]?[method]?["parameters"]?.sequence).map(dereferenced)
    }

    /// Follows a `$ref` within the document.
    func dereferenced(_ node: Node) -> Node {
        guard let path = node["$ref"]?.string?.split(separator: "/").dropFirst() else { return node }
        return path.reduce(root) { found, key in found[String(key)] ?? Node("") }
    }
}
