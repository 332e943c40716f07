import DarkroomRequests
import DarkroomVips
import Dispatch
import NIOCore
import Synchronization
import Testing

@testable import DarkroomTransforms

/// A cached image saves the decode and changes nothing else.
struct CachedDecodeTests {
    private static let ladder = [30, 40, 60, 80, 96, 120, 160, 200, 240, 300]

    private static func job(
        _ source: ByteBuffer, _ recipe: Recipe, as format: OutputFormat = .png, pages: PageSelection = PageSelection(),
        identity: String? = nil, keeps: Bool = true
    ) -> ImageJob {
        ImageJob(
            source: source, identity: identity, cachesDecoded: keeps, pages: pages, chain: TransformChain(recipe),
            resampling: recipe.resampling, output: OutputOptions(format: format))
    }

    /// A drawing with detail everywhere.
    private static func drawing(_ width: Int, _ height: Int) throws -> VipsImage {
        try Drawing.image(width, height) { x, y in
            [
                UInt8(truncatingIfNeeded: x * 3 ^ y), UInt8(truncatingIfNeeded: x + y * 5),
                UInt8(truncatingIfNeeded: x & y),
            ]
        }
    }

    private static func run(_ job: ImageJob, _ cache: DecodedCache = DecodedCache(budgetBytes: 0)) throws -> ByteBuffer
    {
        try InProcessImageProcessor(decoded: cache).process(job) { false }.body
    }

    @Test(arguments: FixtureTableTests.Row.all.filter { $0.outcome == "decode" })
    func `Every good fixture gives the same bytes from the cache as from a decode`(
        _ row: FixtureTableTests.Row
    ) throws {
        let source = try row.bytes()
        let output: OutputFormat = row.frames > 1 ? .webp : .png
        let cache = DecodedCache(budgetBytes: 64 << 20)
        let recipes: [Recipe] = [
            .box(12), .box(20), .box(9, 9, fit: .cover), .with { $0.crop = Crop(x: 0, y: 0, width: 1, height: 1) },
            .with { $0.orientation = .none }, .with { $0.orientation = .exif(5) },
        ]
        for recipe in recipes + recipes.reversed() {
            for pages in row.frames > 1 ? [PageSelection(), PageSelection(first: 2, count: 2)] : [PageSelection()] {
                let plain = try Self.run(Self.job(source, recipe, as: output, pages: pages))
                let kept = try Self.run(Self.job(source, recipe, as: output, pages: pages, identity: "s"), cache)
                #expect(kept == plain, "\(recipe)")
            }
        }
        #expect(cache.statistics.hits >= recipes.count)
    }

    @Test(arguments: [OutputFormat.jpeg, .webp], Resampling.allCases)
    func `A ladder of widths gives the same bytes in any order, shrunk on load or not`(
        _ format: OutputFormat, _ resampling: Resampling
    ) throws {
        let source = try Self.run(Self.job(Self.drawing(803, 602).png(), Recipe(), as: format))
        for ladder in [Self.ladder, Self.ladder.reversed()] {
            let cache = DecodedCache(budgetBytes: 64 << 20)
            for width in ladder + ladder {
                for orientation in [Orient.Rule.auto, .none, .exif(7)] {
                    var recipe = Recipe.box(width, as: resampling)
                    recipe.orientation = orientation
                    let plain = try Self.run(Self.job(source, recipe))
                    #expect(try Self.run(Self.job(source, recipe, identity: "s"), cache) == plain)
                }
            }
            #expect(cache.statistics.hits > cache.statistics.misses)
        }
    }

    @Test func `A format without shrink-on-load is decoded once for all widths, a JPEG once per factor`() throws {
        let drawing = try Self.drawing(400, 300)
        let table: [(ByteBuffer, misses: Int)] = [
            (try drawing.png(), 1), (try drawing.jpeg(), 4),
            (try Self.run(Self.job(drawing.png(), Recipe(), as: .tiff)), 1),
        ]
        for (source, misses) in table {
            let cache = DecodedCache(budgetBytes: 64 << 20)
            for width in Self.ladder { _ = try Self.run(Self.job(source, .box(width), identity: "s"), cache) }
            #expect(cache.statistics.misses == misses)
            #expect(cache.statistics.entries == misses)
        }
    }

    @Test func `A hit does not read the source's pixels again`() throws {
        let source = try Self.drawing(400, 300).png()
        let cut = try #require(source.getSlice(at: 0, length: source.readableBytes / 2))
        let cache = DecodedCache(budgetBytes: 64 << 20)
        _ = try Self.run(Self.job(source, .box(100), identity: "s"), cache)
        // The same identity with different bytes: only their header is read.
        #expect(try Self.run(Self.job(cut, .box(80), identity: "s"), cache) == Self.run(Self.job(source, .box(80))))
    }

    @Test func `An image is cached upright if the chain begins by orienting it, otherwise as stored`() throws {
        let source = try Fixture.image("orientation/f-6.jpg")
        let stored = try SourceHeader(of: source).size
        for (rule, expected) in [(Orient.Rule.auto, stored.transposed), (.none, stored), (.exif(6), stored)] {
            let cache = DecodedCache(budgetBytes: 64 << 20)
            var recipe = Recipe()
            recipe.orientation = rule
            _ = try Self.run(Self.job(source, recipe, identity: "s"), cache)
            let key = DecodedCache.Key(identity: "s", parameters: DecodeParameters(), isUpright: rule == .auto)
            let kept = try #require(cache.pixels(for: key))
            #expect(PixelSize(width: kept.image.width, height: kept.image.height) == expected)
        }
    }

    @Test func `Several rotated pages give the same bytes from the cache as from a decode`() throws {
        let pages = try VipsImage.stacked([Self.drawing(60, 40), Drawing.quarters(60, 40)])
            .setting(ints: ["page-height": 40, "orientation": 6])
        let source = try VipsSaver.tiff.encode(pages)
        #expect(try SourceHeader(of: source).orientation == 6)
        let cache = DecodedCache(budgetBytes: 64 << 20)
        let both = PageSelection(count: 2)
        for width in [20, 30, 40] {
            let plain = try Self.run(Self.job(source, .box(width), as: .tiff, pages: both))
            #expect(try Self.run(Self.job(source, .box(width), as: .tiff, pages: both, identity: "s"), cache) == plain)
        }
        #expect(cache.statistics.hits == 2)
    }

    @Test func `Nothing is cached without an identity, without caching, or from a corrupt source`() throws {
        let source = try Self.drawing(400, 300).png()
        let cut = try #require(source.getSlice(at: 0, length: source.readableBytes - 30))
        let cache = DecodedCache(budgetBytes: 64 << 20)
        _ = try Self.run(Self.job(source, .box(100)), cache)
        _ = try Self.run(Self.job(source, .box(100), identity: "s", keeps: false), cache)
        #expect(throws: ImageProcessingError.self) { try Self.run(Self.job(cut, .box(100), identity: "s"), cache) }
        #expect(cache.statistics.entries == 0)
        #expect(cache.statistics.bytes == 0)
    }

    @Test func `A job that caches nothing itself uses a cached decode`() throws {
        let source = try Self.drawing(400, 300).png()
        let cache = DecodedCache(budgetBytes: 64 << 20)
        for keeps in [true, false] { _ = try Self.run(Self.job(source, .box(100), identity: "s", keeps: keeps), cache) }
        #expect(cache.statistics.hits == 1)
    }

    @Test func `Limits apply to cached images`() throws {
        let source = try Self.drawing(400, 300).png()
        let cache = DecodedCache(budgetBytes: 64 << 20)
        var job = Self.job(source, .box(100), identity: "s")
        _ = try Self.run(job, cache)
        job.limits.maxSourcePixels = 400 * 300 - 1
        #expect(throws: ImageProcessingError.self) { try Self.run(job, cache) }
    }

    @Test func `Many threads use one cached image`() throws {
        let source = try Fixture.image("orientation/f-6.jpg")
        let recipes = (8...40).map { width in Recipe.box(width) }
        let plain = try recipes.map { try Self.run(Self.job(source, $0)) }
        let animation = try Fixture.image("animation/disposal.gif")
        let still = try Self.run(Self.job(animation, .box(50), as: .webp))
        let cache = DecodedCache(budgetBytes: 64 << 20)
        let wrong = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: recipes.count * 4) { index in
            let turn = index % recipes.count
            let found = try? Self.run(Self.job(source, recipes[turn], identity: "photo"), cache)
            let moving = try? Self.run(Self.job(animation, .box(50), as: .webp, identity: "animation"), cache)
            if found != plain[turn] || moving != still { wrong.withLock { $0 += 1 } }
        }
        #expect(wrong.withLock(\.self) == 0)
        #expect(cache.statistics.hits > recipes.count)
    }
}
