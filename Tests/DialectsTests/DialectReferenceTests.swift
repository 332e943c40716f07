import DarkroomDialects
import Foundation
import Testing

/// Holds the pages of the dialects against their tables.
struct DialectReferenceTests {
    private static let docs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("docs")

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: docs.path), "docs does not exist"),
        arguments: [("thumbor.md", Thumbor.reference), ("cloudflare.md", Cloudflare.reference)])
    func `a page has the table of every option`(name: String, reference: [OptionReference]) throws {
        let page = try String(contentsOf: Self.docs.appendingPathComponent(name), encoding: .utf8)
        #expect(page.contains(OptionReference.markdown(reference)))
        #expect(Set(reference.map(\.syntax)).count == reference.count)
    }

    /// Writes the tables to the folder that `DIALECT_REFERENCE` names.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["DIALECT_REFERENCE"] != nil))
    func `the tables can be written to files`() throws {
        let folder = URL(fileURLWithPath: ProcessInfo.processInfo.environment["DIALECT_REFERENCE"] ?? "")
        for (name, reference) in [("thumbor.md", Thumbor.reference), ("cloudflare.md", Cloudflare.reference)] {
            try OptionReference.markdown(reference)
                .write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
    }

    @Test func `every reason is a sentence`() {
        for row in Thumbor.reference + Cloudflare.reference {
            switch row.outcome {
            case .parameters(let text): #expect(!text.isEmpty, "\(row.syntax)")
            case .ignored(let reason), .refused(let reason): #expect(reason.hasSuffix("."), "\(row.syntax)")
            }
        }
    }
}
