import Foundation
import HTTPTypes
import Testing
import Yams

@testable import DarkroomQuery
@testable import DarkroomWeb

/// Holds `POST /image` of `openapi.yaml` against the grammar of uploads.
struct UploadContractTests {
    private let operation: Node
    private let read: Node

    init() throws {
        let contract = try Contract()
        operation = try #require(contract["paths"]?["/image"]?["post"])
        read = try #require(contract["paths"]?["/image"]?["get"])
    }

    private func names(_ operation: Node) -> [String] {
        (operation["parameters"]?.sequence ?? []).compactMap { parameter in
            parameter["name"]?.string ?? parameter["$ref"]?.string?.split(separator: "/").last.map(String.init)
        }
    }

    @Test func `an upload has the parameters of an image without the url, in the same order`() {
        #expect(names(operation) == names(read).filter { !["url", "compat"].contains($0) })
        let taken = ImageQueryGrammar.upload().table.parameters.map(\.name)
        #expect(names(operation) == taken + AccessParameters.table.parameters.map(\.name))
    }

    @Test func `what may be stored of an upload is what the grammar takes`() throws {
        let row = try #require(ImageQueryGrammar.upload().table.parameters.first { $0.name == "store" })
        let schema = operation["parameters"]?.sequence?.first { $0["name"]?.string == "store" }?["schema"]
        #expect(schema?["default"]?.string == row.defaultText)
        #expect(row.schema == .choice(schema?["enum"]?.sequence?.compactMap(\.string) ?? [], aliases: []))
    }

    @Test func `the forms of a body are those that are read`() throws {
        let types = (operation["requestBody"]?["content"]?.mapping ?? [:]).compactMap(\.key.string)
        #expect(types == ["application/octet-stream", "image/*", "multipart/form-data"])
        for type in types.dropLast() {
            #expect(try UploadForm([.contentType: type]).multipart == nil, "\(type) is not read as bytes")
        }
    }
}
