import Foundation
import Testing

@testable import DarkroomCommand

@Suite struct PrefetchListTests {
    private struct Body: Decodable, Equatable {
        var urls: [String]
        var queries: [String]?
        var widths: [Int]?
    }

    private func bodies(_ list: PrefetchList, maxImages: Int = 10_000, maxBytes: Int = 1 << 20) throws -> [Body] {
        try list.batches(maxImages: maxImages, maxBytes: maxBytes).map {
            #expect($0.body.count <= maxBytes || $0.imageCount == 1)
            return try JSONDecoder().decode(Body.self, from: $0.body)
        }
    }

    @Test func `Each line is a source, except for empty lines and comments`() throws {
        let list = PrefetchList("\u{FEFF}https://a/1.jpg\r\n\n  # no\n\thttps://a/2 3.jpg \nlocal:///#x")
        #expect(try bodies(list) == [Body(urls: ["https://a/1.jpg", "https://a/2 3.jpg", "local:///#x"])])
        #expect(list.imageCount == 3)
        #expect(PrefetchList("\n# nothing\n").imageCount == 0)
    }

    @Test func `Every source is made with each query and width`() throws {
        let list = PrefetchList("a\nb", queries: ["w=1&h=2"], widths: [320, 640])
        #expect(list.imageCount == 6)
        #expect(try bodies(list) == [Body(urls: ["a", "b"], queries: ["w=1&h=2"], widths: [320, 640])])
    }

    @Test func `A long list becomes several jobs of at most that many images`() throws {
        let list = PrefetchList("a\nb\nc\nd\ne", widths: [1, 2])
        #expect(try bodies(list, maxImages: 5).map(\.urls) == [["a", "b"], ["c", "d"], ["e"]])
        #expect(list.batches(maxImages: 5).map(\.imageCount) == [4, 4, 2])
        #expect(try bodies(list, maxImages: 1).count == 5)
    }

    @Test func `A body is no longer than the server takes`() throws {
        let urls = (0..<200).map { "https://example.com/\"\\\u{1}/\($0)/" + String(repeating: "ä", count: $0) }
        let list = PrefetchList(urls.joined(separator: "\n"))
        let bodies = try bodies(list, maxBytes: 2_000)
        #expect(bodies.count > 5)
        #expect(bodies.flatMap(\.urls) == urls)
        // What is too long even alone is the server's to refuse.
        #expect(try self.bodies(list, maxBytes: 20).count == 200)
    }

    @Test func `A member that the server refuses is found in the list`() throws {
        let list = PrefetchList("# first\na\n\nb\nc")
        let batches = Array(list.batches(maxImages: 2))
        #expect(batches.map { $0.line(ofMember: "urls[0]") } == [2, 5])
        #expect(batches[0].line(ofMember: "urls[1]") == 4)
        for member in ["urls[2]", "urls[-1]", "urls", "queries[0]", "urls[0]x", nil] {
            #expect(batches[0].line(ofMember: member) == nil)
        }
    }
}
