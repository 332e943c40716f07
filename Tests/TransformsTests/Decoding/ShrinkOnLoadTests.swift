import DarkroomRequests
import DarkroomVips
import NIOCore
import Synchronization
import Testing

@testable import DarkroomTransforms

/// A source over the limits is accepted if its decoder never holds it at full size.
struct ShrinkOnLoadTests {
    private static let limits = PixelLimits(maxSourcePixels: 30_000)

    private func encoded(_ saver: VipsSaver, _ options: KeyValuePairs<String, VipsValue> = [:]) throws -> ByteBuffer {
        try saver.encode(Drawing.quarters(400, 300), options)
    }

    private func scaledDown(_ recipe: Recipe = Recipe()) -> Recipe {
        var recipe = recipe
        recipe.scaleDown = true
        return recipe
    }

    /// The result, and how many pixels the decoder gave for it.
    private func run(
        _ source: ByteBuffer, _ recipe: Recipe, limits: PixelLimits = limits
    ) throws -> (result: ProcessedImage, decodedPixels: Int) {
        let cache = DecodedCache(budgetBytes: 64 << 20)
        let job = ImageJob(
            source: source, identity: "s", cachesDecoded: true, chain: TransformChain(recipe, limits: limits),
            resampling: recipe.resampling, output: OutputOptions(format: .png), limits: limits)
        let result = try InProcessImageProcessor(decoded: cache).process(job) { false }
        return (result, (cache.statistics.bytes - DecodedCache.entryOverheadBytes) / 3)
    }

    @Test(arguments: Resampling.allCases)
    func `A JPEG over the limit is decoded shrunk, whatever the resampling`(_ resampling: Resampling) throws {
        let source = try encoded(.jpeg, ["Q": 95])
        for (recipe, size, least) in [
            (Recipe(resampling: resampling), PixelSize(width: 200, height: 150), 30_000),
            (.box(300, as: resampling), PixelSize(width: 200, height: 150), 30_000),
            (.box(150, as: resampling), PixelSize(width: 150, height: 113), 30_000),
        ] {
            #expect(throws: ImageProcessingError.self) { try run(source, recipe) }
            let (result, decodedPixels) = try run(source, scaledDown(recipe))
            #expect(result.size == size)
            #expect((least..<least + 1000).contains(decodedPixels))
            let pixels = try Pixels(result.body)
            #expect(pixels.distance(x: 10, y: 10, to: Drawing.red.map(Int.init)) < 12)
            #expect(pixels.distance(x: size.width - 10, y: size.height - 10, to: Drawing.yellow.map(Int.init)) < 12)
        }
    }

    @Test func `A lossy WebP over the limit is decoded as large as the limit allows`() throws {
        let source = try encoded(.webp, ["Q": 90])
        #expect(throws: ImageProcessingError.self) { try run(source, Recipe()) }
        let (result, decodedPixels) = try run(source, scaledDown())
        #expect(result.size == PixelSize(width: 199, height: 149))
        #expect((29_000...30_400).contains(decodedPixels))
    }

    @Test func `A cover larger than the decoded image still has its exact size`() throws {
        let source = try encoded(.jpeg, ["Q": 95])
        #expect(
            try run(source, scaledDown(.box(250, 250, fit: .cover, enlarge: true))).result.size
                == PixelSize(width: 250, height: 250))
        #expect(
            try run(source, scaledDown(.box(250, 250, fit: .cover))).result.size == PixelSize(width: 150, height: 150))
    }

    @Test func `A rotated image is reduced like an upright one`() throws {
        let source = try Fixture.image("orientation/f-6.jpg")
        let stored = try SourceHeader(of: source).size
        let limits = PixelLimits(maxSourcePixels: stored.area / 2)
        let reduced = try run(source, scaledDown(), limits: limits).result
        #expect(reduced.size == stored.shrunk(by: 2).transposed)
        let whole = try Pixels(produce(source, .box(reduced.size.width)).body)
        #expect(try Pixels(reduced.body).hashDistance(to: whole) <= 4)
    }

    @Test func `A source that its decoder holds at full size is refused`() throws {
        let refused: [ByteBuffer] = [
            try encoded(.png), try encoded(.jpeg, ["interlace": true]), try encoded(.webp, ["lossless": true]),
            try VipsSaver.webp.encode(Drawing.flat(400, 300, [1, 2, 3, 99])), try encoded(.tiff),
        ]
        for source in refused { try expectTooLarge(source, scaledDown()) }
    }

    @Test func `A step that needs every pixel of the source is refused`() throws {
        let source = try encoded(.jpeg)
        try expectTooLarge(source, scaledDown(.with { $0.crop = Crop(x: 0, y: 0, width: 100, height: 100) }))
        try expectTooLarge(source, scaledDown(.with { $0.trim = Trim(threshold: 10) }))
    }

    @Test func `A JPEG that is too large even at an eighth is refused`() throws {
        let source = try encoded(.jpeg)
        try expectTooLarge(source, scaledDown(), limits: PixelLimits(maxSourcePixels: 50 * 37 - 1))
        #expect(
            try run(source, scaledDown(), limits: PixelLimits(maxSourcePixels: 50 * 37)).result.size
                == PixelSize(width: 50, height: 37))
    }

    @Test func `A truncated JPEG over the limit is corrupt and never decoded at full size`() throws {
        let source = try VipsSaver.jpeg.encode(Drawing.quarters(400, 301), ["Q": 95])
        let cut = try #require(source.getSlice(at: 0, length: source.readableBytes - 40))
        let job = ImageJob(
            source: cut, chain: TransformChain(scaledDown(), limits: Self.limits), output: OutputOptions(format: .png),
            limits: Self.limits)
        let asked = Mutex(false)
        let error = #expect(throws: ImageProcessingError.self) {
            try InProcessImageProcessor().process(job) {
                asked.withLock { $0 = true }
                return false
            }
        }
        // Decoding asks before every strip of rows.
        #expect(asked.withLock { !$0 })
        guard case .corrupt = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `The job's own limits apply, whatever the chain was made for`() throws {
        let job = ImageJob(
            source: try encoded(.jpeg), chain: TransformChain(scaledDown(), limits: Self.limits),
            output: OutputOptions(format: .png), limits: PixelLimits(maxSourcePixels: 1000))
        let error = #expect(throws: ImageProcessingError.self) { try InProcessImageProcessor().process(job) { false } }
        guard case .tooLarge = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    private func expectTooLarge(_ source: ByteBuffer, _ recipe: Recipe, limits: PixelLimits = limits) throws {
        let error = #expect(throws: ImageProcessingError.self) { try run(source, recipe, limits: limits) }
        guard case .tooLarge = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
