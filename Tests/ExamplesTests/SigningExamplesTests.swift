import Foundation
import Testing

@testable import DarkroomExamples

/// The signing example produces the vectors of `Fixtures/signatures.json`. `make clients` tests other languages.
struct SigningExamplesTests {
    private struct Vectors: Decodable {
        struct Row: Decodable {
            var key: String
            var path: String
            var parameters: [String: String]
            var url: String
        }

        var keys: [String: String]
        var valid: [Row]
        var signed: [Row]
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let fixture = root.appendingPathComponent("Fixtures/signatures.json")

    private func vectors() throws -> Vectors {
        try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: Self.fixture))
    }

    @Test func `The example signs every vector`() throws {
        let vectors = try vectors()
        #expect(vectors.valid.count > 8)
        for row in vectors.valid + vectors.signed {
            let secret = try #require(vectors.keys[row.key])
            #expect(sign(keyID: row.key, secret: secret, path: row.path, parameters: row.parameters) == row.url)
        }
    }

    @Test func `The page on signing shows the example, which has at most 12 lines`() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("Examples/Signing.swift"), encoding: .utf8)
        #expect(try Document("docs/signing.md").blocks(in: "swift").contains(text))
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 13)
    }
}
