import Foundation
import Testing

/// The recipes of the page on cards.
@Suite(.timeLimit(.minutes(5)))
struct CardTests {
    private static let page = try? Document("docs/cards.md")
    /// The names of the presets, in the order of the page.
    private static let names = page.map { page in
        page.blocks(in: "yaml").compactMap { $0.firstMatch(of: #/^presets:\n  (?<name>[a-z-]+): /#)?.name }.map(
            String.init)
    }

    @Test func `Every recipe makes a JPEG of 1200×630 pixels`() throws {
        let (page, names) = (try #require(Self.page), try #require(Self.names))
        let server = try DocumentedServer(page.settingsOfPresets())
        let recipes = page.blocks(in: "sh")
        #expect(names.count == 10 && recipes.count == names.count)
        for (name, recipe) in zip(names, recipes) {
            let run = try server.run("\(recipe)\nbase64 --wrap=0 \(name).jpg")
            #expect(run.status == 0, "\(run.output)")
            let bytes = try #require(Data(base64Encoded: run.output), "\(name): \(run.output.prefix(500))")
            let size = try #require(Self.size(ofJPEG: Array(bytes)), "\(name)")
            #expect(size == [1200, 630] && bytes.count > 8_000, "\(name)")
        }
    }

    @Test func `Every recipe has a link to the playground with its parameters`() throws {
        let page = try #require(Self.page)
        let links = page.text.matches(of: ##/\(http://127\.0\.0\.1:8080/#(?<query>[^)]*)\)/##).map { match in
            match.query.split(separator: "&").compactMap { $0.removingPercentEncoding }
        }
        let recipes = page.blocks(in: "sh").map { recipe in
            recipe.matches(of: #/-d (?:'(?<quoted>[^']*)'|(?<plain>[^ \n]+))/#).compactMap {
                ($0.plain ?? $0.quoted)?.removingPercentEncoding
            }
        }
        #expect(links.map { $0.sorted() } == recipes.map { $0.sorted() })
    }

    @Test func `Every card has a small picture`() throws {
        let (page, names) = (try #require(Self.page), try #require(Self.names))
        let folder = Document.package.appendingPathComponent("docs/cards")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.map(\.lastPathComponent).sorted() == names.map { "\($0).webp" }.sorted())
        for file in files {
            #expect(try Data(contentsOf: file).count <= 24_576, "\(file.lastPathComponent)")
            #expect(page.text.contains("](cards/\(file.lastPathComponent))"), "\(file.lastPathComponent)")
        }
    }

    /// Width and height in the frame header (ITU-T T.81 §B.2.2).
    private static func size(ofJPEG bytes: [UInt8]) -> [Int]? {
        var index = 2
        while index + 9 < bytes.count, bytes[index] == 0xFF {
            let length = Int(bytes[index + 2]) << 8 | Int(bytes[index + 3])
            if [0xC0, 0xC2].contains(bytes[index + 1]) {
                return [7, 5].map { Int(bytes[index + $0]) << 8 | Int(bytes[index + $0 + 1]) }
            }
            index += 2 + length
        }
        return nil
    }
}
