import Foundation
import HTTPTypes
import Testing
import Yams

@testable import DarkroomWeb

/// Holds `POST /image` of `openapi.yaml` against the grammar of uploads.
struct UploadContractTests {
    private let operation: Node

    init() throws {
        let contract = try Contract()
        operation = try #require(contract["paths"]?["/image"]?["post"])
    }

    @Test func `The contract names each form of a body that is read`() throws {
        let types = (operation["requestBody"]?["content"]?.mapping ?? [:]).compactMap(\.key.string)
        #expect(types == ["application/octet-stream", "image/*", "multipart/form-data"])
        for type in types.dropLast() {
            #expect(try UploadForm([.contentType: type]).multipart == nil, "\(type) is not read as bytes")
        }
    }
}
