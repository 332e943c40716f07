import DarkroomHTTPServer
import DarkroomRequests
import DarkroomTransforms
import Foundation
import Hummingbird
import NIOCore
import Synchronization
import Yams

/// `GET /openapi.yaml`, `GET /openapi.json` and `GET /reference`: the OpenAPI document, which tests compare with the
/// code, without what this server cannot do.
final class ContractEndpoint: Sendable {
    private let contract: @Sendable () -> [UInt8]
    /// The responses that were requested before. Each takes long to make.
    private let responses = Mutex<[String: Response]>([:])

    /// - Parameters:
    ///   - unwritable: the output formats that this server cannot write.
    ///   - findsFaces: whether this server looks for faces.
    ///   - problemBase: precedes the types of problems; empty = they are relative.
    init(without unwritable: Set<OutputFormat>, findsFaces: Bool = true, problemBase: String = "") {
        contract = { Self.document(without: unwritable, findsFaces: findsFaces, problemBase: problemBase) }
    }

    var routes: [Route] {
        [
            route("/openapi.yaml") {
                Response(ByteBuffer(bytes: $0), type: "application/yaml", cacheControl: Self.caching)
            },
            route("/openapi.json") {
                Response(try ContractJSON.document(from: $0), type: "application/json", cacheControl: Self.caching)
            },
            route("/reference") { try ReferencePage(yaml: $0).page.response },
        ]
    }

    /// - Parameter make: throws only if the document were malformed, which tests rule out.
    private func route(_ path: String, _ make: @escaping @Sendable ([UInt8]) throws -> Response) -> Route {
        Route(path) { [self] _, _ throws(Problem) in
            let response = responses.withLock { responses in
                if responses[path] == nil { responses[path] = try? make(contract()) }
                return responses[path]
            }
            guard let response else { throw .internalError }
            return response
        }
    }

    /// Takes the formats out of the values of `output`, and faces out of all parameters, and puts the base in front of
    /// the types of problems. Everything else in the document remains true.
    private static func document(
        without unwritable: Set<OutputFormat>, findsFaces: Bool, problemBase: String
    ) -> [UInt8] {
        guard !unwritable.isEmpty || !findsFaces || !problemBase.isEmpty else { return PackageResources.openapi_yaml }
        let lines = String(decoding: PackageResources.openapi_yaml, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        let offered = findsFaces ? lines : lines.filter { line in !faceReferences.contains { line.hasSuffix($0) } }
        let written = offered.map { line -> String in
            if !findsFaces, line.contains("face") { return withoutFaces(line) }
            for start in ["- /problems/", "type: /problems/"] where line.contains(start) {
                return String(line).replacing(" /problems/", with: " \(problemBase)/problems/")
            }
            guard line.contains("enum: [auto, origin, ") else { return String(line) }
            return unwritable.reduce(String(line)) { $0.replacing(" \($1.rawValue),", with: "") }
        }
        return Array(written.joined(separator: "\n").utf8)
    }

    /// The ends of lines that refer to parameters about faces alone.
    private static let faceReferences = ["facezoom", "redact"].map { "- $ref: \"#/components/parameters/\($0)\"" }

    /// The line of values without values about faces.
    private static func withoutFaces(_ line: Substring) -> String {
        line.contains("enum: [") || line.contains("pattern: ")
            ? String(line).replacing(" face, faces,", with: "").replacing("|faces", with: "") : String(line)
    }

    private static let caching = "public, max-age=3600"
}

/// The OpenAPI document converted from YAML to JSON.
struct ContractJSON: Encodable {
    let node: Node

    /// Converts the document and resolves anchors and aliases. Throws when the YAML is malformed.
    static func document(from yaml: some Sequence<UInt8>) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let root = try Yams.compose(yaml: String(decoding: Array(yaml), as: UTF8.self)) ?? Node("")
        return ByteBuffer(bytes: try encoder.encode(ContractJSON(node: root)))
    }

    func encode(to encoder: any Encoder) throws {
        switch node {
        case .mapping(let mapping):
            let members = mapping.map { ($0.string ?? "", ContractJSON(node: $1)) }
            try Dictionary(members, uniquingKeysWith: { $1 }).encode(to: encoder)
        case .sequence(let sequence):
            try sequence.map { ContractJSON(node: $0) }.encode(to: encoder)
        case .scalar(let scalar):
            try encode(scalar, to: encoder)
        case .alias:
            // Unreachable: composing resolves aliases.
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }

    /// Follows YAML 1.2, which has no numbers like `4:2:0` or `1_000`.
    private func encode(_ scalar: Node.Scalar, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch node.tag {
        case Tag(.null): try container.encodeNil()
        case Tag(.bool): try container.encode(node.bool)
        default:
            if node.tag == Tag(.int), let number = Int(scalar.string) {
                try container.encode(number)
            } else if node.tag == Tag(.float), let number = Double(scalar.string), number.isFinite {
                try container.encode(number)
            } else {
                try container.encode(scalar.string)
            }
        }
    }
}
