import Foundation
import Testing

/// What README shows of the library is what runs in these tests.
struct ReadmeTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The text of every block of Swift.
    private static func blocks() throws -> [String] {
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        return readme.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    private static func examples() throws -> [String: String] {
        let folder = root.appendingPathComponent("Examples")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try Dictionary(
            uniqueKeysWithValues: files.filter { $0.pathExtension == "swift" }.map {
                ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
            })
    }

    @Test func `Every piece of Swift in README is an example that is compiled and run`() throws {
        let examples = try Self.examples()
        let blocks = try Self.blocks()
        #expect(blocks.count >= 4)
        for block in blocks {
            #expect(examples.values.contains(block), "no file of Examples holds this: \(block)")
        }
    }

    @Test func `README names every example`() throws {
        let readme = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
        for name in try Self.examples().keys {
            #expect(readme.contains("Examples/\(name)"), "README does not name Examples/\(name)")
        }
    }
}
