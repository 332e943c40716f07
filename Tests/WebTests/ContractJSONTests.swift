import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Testing
import Yams

@testable import DarkroomWeb

struct ContractJSONTests {
    @Test func `The JSON document equals the YAML document`() async throws {
        let response = try await TestSite().respond("/openapi.json")
        #expect(response.headers[.contentType] == "application/json")
        let json = try JSONSerialization.jsonObject(with: Data(try await response.text().utf8))
        let yaml = try #require(
            try Yams.compose(yaml: String(decoding: PackageResources.openapi_yaml, as: UTF8.self)))
        #expect(differences(json, yaml, at: "") == [])
        let object = try #require(json as? [String: Any])
        #expect(object["openapi"] as? String == "3.1.0")
        #expect((object["info"] as? [String: Any])?["version"] is String)
    }

    @Test func `Scalars keep their YAML types, and aliases are resolved`() throws {
        let yaml = """
            { a: &x { n: 1, f: 0.01, t: true, z: null, s: "1", d: 2024-05-31, c: 4:2:0 }, b: [*x, 200], "200": ~ }
            """
        let json = try ContractJSON.document(from: yaml.utf8)
        let x = #"{"c":"4:2:0","d":"2024-05-31","f":0.01,"n":1,"s":"1","t":true,"z":null}"#
        #expect(String(buffer: json) == #"{"200":null,"a":\#(x),"b":[\#(x),200]}"#)
    }

    @Test func `A malformed document is an error`() {
        #expect(throws: (any Error).self) { try ContractJSON.document(from: "a: [".utf8) }
    }

    /// Where the two say something else.
    private func differences(_ json: Any, _ yaml: Node, at path: String) -> [String] {
        switch (json, yaml) {
        case (let object as [String: Any], .mapping(let mapping)):
            let keys = mapping.keys.compactMap(\.string)
            guard Set(keys) == Set(object.keys), keys.count == mapping.count else { return ["\(path): keys"] }
            return mapping.flatMap { key, value in
                differences(object[key.string ?? ""] ?? "", value, at: "\(path)/\(key.string ?? "")")
            }
        case (let list as [Any], .sequence(let sequence)):
            guard list.count == sequence.count else { return ["\(path): count"] }
            return zip(list, sequence).enumerated().flatMap { differences($1.0, $1.1, at: "\(path)/\($0)") }
        case (let text as String, .scalar(let scalar)):
            let isText = ![Tag(.int), .init(.float), .init(.bool), .init(.null)].contains(yaml.tag)
            return text == scalar.string && isText ? [] : ["\(path): \(text)"]
        case (let number as NSNumber, .scalar):
            return number.doubleValue == yaml.float || yaml.bool == number.boolValue ? [] : ["\(path): \(number)"]
        case (is NSNull, .scalar): return yaml.null == nil ? ["\(path): null"] : []
        default: return ["\(path): kind"]
        }
    }
}
