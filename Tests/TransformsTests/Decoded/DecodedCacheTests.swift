import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// What is kept, how much of it, and what goes first.
struct DecodedCacheTests {
    private func pixels(_ width: Int, _ height: Int) throws -> DecodedPixels {
        let image = try Drawing.flat(width, height, [1, 2, 3]).rendered()
        return DecodedPixels(image: image, extent: Extent(PixelSize(width: width, height: height)), orientation: 1)
    }

    private func key(_ identity: String, page: Int = 1) -> DecodedCache.Key {
        DecodedCache.Key(identity: identity, parameters: DecodeParameters(firstPage: page))
    }

    /// What a picture of 100×100 pixels of three bytes costs.
    private static let cost = 30_000 + DecodedCache.entryOverheadBytes

    @Test func `Pixels and metadata are counted to the byte`() throws {
        let cache = DecodedCache(budgetBytes: 1 << 20)
        let plain = try pixels(100, 100)
        cache.keep(plain, for: key("plain"))
        #expect(cache.statistics.bytes == Self.cost + plain.image.fieldByteCount)
        let told = try plain.image.setting(texts: ["png-comment-0-note": String(repeating: "x", count: 5000)])
        cache.keep(DecodedPixels(image: told, extent: plain.extent, orientation: 1), for: key("told"))
        #expect(cache.statistics.bytes >= 2 * Self.cost + 5000)
        #expect(cache.statistics.entries == 2)
    }

    @Test func `What one picture may cost can be stated, up to the whole budget`() throws {
        let picture = try pixels(100, 100)
        let cost = picture.byteCount + DecodedCache.entryOverheadBytes
        for (budget, entry, entries) in [(cost, cost, 1), (2 * cost, cost - 1, 0), (cost - 1, 2 * cost, 0)] {
            let cache = DecodedCache(budgetBytes: budget, maxEntryBytes: entry)
            cache.keep(picture, for: key("a"))
            #expect(cache.statistics.entries == entries)
        }
    }

    @Test func `A picture of more than a quarter of the budget is not kept, nor is anything without a budget`() throws {
        let picture = try pixels(100, 100)
        let cost = picture.byteCount + DecodedCache.entryOverheadBytes
        for (budget, entries) in [(4 * cost, 1), (4 * cost - 1, 0), (0, 0), (-1, 0)] {
            let cache = DecodedCache(budgetBytes: budget)
            cache.keep(picture, for: key("a"))
            #expect(cache.statistics.entries == entries)
            #expect((cache.pixels(for: key("a")) != nil) == (entries == 1))
        }
    }

    @Test func `The least recently used pictures go first, and only as many as must`() throws {
        let picture = try pixels(100, 100)
        let cost = picture.byteCount + DecodedCache.entryOverheadBytes
        let cache = DecodedCache(budgetBytes: 5 * cost)
        for name in ["a", "b", "c", "d", "e"] { cache.keep(picture, for: key(name)) }
        _ = cache.pixels(for: key("a"))
        cache.keep(picture, for: key("f"))
        #expect(cache.statistics == DecodedStatistics(entries: 5, bytes: 5 * cost, hits: 1, misses: 0))
        #expect(["a", "b", "c", "d", "e", "f"].filter { cache.pixels(for: key($0)) == nil } == ["b"])
        cache.shrink(toBytes: 3 * cost)
        #expect(["a", "b", "c", "d", "e", "f"].filter { cache.pixels(for: key($0)) != nil } == ["d", "e", "f"])
        cache.removeEverything()
        #expect(cache.statistics.entries == 0)
        #expect(cache.statistics.bytes == 0)
    }

    @Test func `All decodes of one source go together`() throws {
        let cache = DecodedCache(budgetBytes: 1 << 20)
        for page in 1...3 {
            cache.keep(try pixels(10, 10), for: key("a", page: page))
            cache.keep(try pixels(10, 10), for: key("b", page: page))
        }
        cache.removeAll(identity: "a")
        cache.removeAll(identity: "unknown")
        for page in 1...3 {
            #expect(cache.pixels(for: key("a", page: page)) == nil)
            #expect(cache.pixels(for: key("b", page: page)) != nil)
        }
        #expect(cache.statistics.entries == 3)
    }

    @Test func `Keeping again under the same key replaces, and is counted once`() throws {
        let cache = DecodedCache(budgetBytes: 1 << 20)
        let picture = try pixels(100, 100)
        cache.keep(picture, for: key("a"))
        let once = cache.statistics.bytes
        cache.keep(picture, for: key("a"))
        #expect(cache.statistics.bytes == once)
        #expect(cache.statistics.entries == 1)
    }

    @Test func `Dropped pixels are freed`() throws {
        weak var image: VipsImage?
        let cache = DecodedCache(budgetBytes: 1 << 20)
        do {
            let picture = try pixels(100, 100)
            image = picture.image
            cache.keep(picture, for: key("a"))
        }
        #expect(image != nil)
        cache.removeAll(identity: "a")
        #expect(image == nil)
    }
}
