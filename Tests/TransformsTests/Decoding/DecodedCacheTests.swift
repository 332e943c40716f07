import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Accounting and eviction.
struct DecodedCacheTests {
    private func pixels(_ width: Int, _ height: Int) throws -> DecodedPixels {
        let image = try Drawing.flat(width, height, [1, 2, 3]).rendered()
        return DecodedPixels(image: image, extent: Extent(PixelSize(width: width, height: height)), orientation: 1)
    }

    private func key(_ identity: String, page: Int = 1) -> DecodedCache.Key {
        DecodedCache.Key(identity: identity, parameters: DecodeParameters(firstPage: page))
    }

    /// The charge of an image of 100×100 pixels of three bytes.
    private static let cost = 30_000 + DecodedCache.entryOverheadBytes

    @Test func `Pixels and metadata are counted to the byte`() throws {
        let cache = DecodedCache(budgetBytes: 1 << 20)
        let plain = try pixels(100, 100)
        cache.store(plain, for: key("plain"))
        #expect(cache.statistics.bytes == Self.cost + plain.image.fieldByteCount)
        let told = try plain.image.setting(texts: ["png-comment-0-note": String(repeating: "x", count: 5000)])
        cache.store(DecodedPixels(image: told, extent: plain.extent, orientation: 1), for: key("told"))
        #expect(cache.statistics.bytes >= 2 * Self.cost + 5000)
        #expect(cache.statistics.entries == 2)
    }

    @Test func `The largest entry is configurable, up to the whole budget`() throws {
        let image = try pixels(100, 100)
        let cost = image.byteCount + DecodedCache.entryOverheadBytes
        for (budget, entry, entries) in [(cost, cost, 1), (2 * cost, cost - 1, 0), (cost - 1, 2 * cost, 0)] {
            let cache = DecodedCache(budgetBytes: budget, maxEntryBytes: entry)
            cache.store(image, for: key("a"))
            #expect(cache.statistics.entries == entries)
        }
    }

    @Test func `An image of more than a third of the budget is not stored, nor is anything without a budget`() throws {
        let image = try pixels(100, 100)
        let cost = image.byteCount + DecodedCache.entryOverheadBytes
        for (budget, entries) in [(3 * cost, 1), (3 * cost - 1, 0), (0, 0), (-1, 0)] {
            let cache = DecodedCache(budgetBytes: budget)
            cache.store(image, for: key("a"))
            #expect(cache.statistics.entries == entries)
            #expect((cache.pixels(for: key("a")) != nil) == (entries == 1))
        }
    }

    @Test func `The least recently used images are evicted, and only as many as necessary`() throws {
        let image = try pixels(100, 100)
        let cost = image.byteCount + DecodedCache.entryOverheadBytes
        let cache = DecodedCache(budgetBytes: 5 * cost)
        for name in ["a", "b", "c", "d", "e"] { cache.store(image, for: key(name)) }
        _ = cache.pixels(for: key("a"))
        cache.store(image, for: key("f"))
        #expect(cache.statistics == DecodedStatistics(entries: 5, bytes: 5 * cost, hits: 1, misses: 0))
        #expect(["a", "b", "c", "d", "e", "f"].filter { cache.pixels(for: key($0)) == nil } == ["b"])
        cache.shrink(toBytes: 3 * cost)
        #expect(["a", "b", "c", "d", "e", "f"].filter { cache.pixels(for: key($0)) != nil } == ["d", "e", "f"])
        cache.shrink(toBytes: 0)
        #expect(cache.statistics.entries == 0)
        #expect(cache.statistics.bytes == 0)
    }

    @Test func `All decodes of one source are removed together`() throws {
        let cache = DecodedCache(budgetBytes: 1 << 20)
        for page in 1...3 {
            cache.store(try pixels(10, 10), for: key("a", page: page))
            cache.store(try pixels(10, 10), for: key("b", page: page))
        }
        cache.removeAll(identity: "a")
        cache.removeAll(identity: "unknown")
        for page in 1...3 {
            #expect(cache.pixels(for: key("a", page: page)) == nil)
            #expect(cache.pixels(for: key("b", page: page)) != nil)
        }
        #expect(cache.statistics.entries == 3)
    }

    @Test func `Storing under an existing key replaces the entry`() throws {
        let cache = DecodedCache(budgetBytes: 1 << 20)
        let image = try pixels(100, 100)
        cache.store(image, for: key("a"))
        let once = cache.statistics.bytes
        cache.store(image, for: key("a"))
        #expect(cache.statistics.bytes == once)
        #expect(cache.statistics.entries == 1)
    }

    @Test func `Removed pixels are freed`() throws {
        weak var image: VipsImage?
        let cache = DecodedCache(budgetBytes: 1 << 20)
        do {
            let decoded = try pixels(100, 100)
            image = decoded.image
            cache.store(decoded, for: key("a"))
        }
        #expect(image != nil)
        cache.removeAll(identity: "a")
        #expect(image == nil)
    }
}
