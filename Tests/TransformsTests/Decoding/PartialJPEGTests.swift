import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Previews from the beginning of a JPEG.
struct PartialJPEGTests {
    private func preview(
        _ source: ByteBuffer, _ recipe: Recipe = Recipe(), bytes: Int? = nil, decoded: DecodedCache? = nil,
        as format: OutputFormat = .png
    ) throws(ImageProcessingError) -> ProcessedImage {
        var job = ImageJob(
            source: source.getSlice(at: source.readerIndex, length: bytes ?? source.readableBytes) ?? source,
            identity: "s", cachesDecoded: true, chain: TransformChain(recipe), resampling: recipe.resampling,
            output: OutputOptions(format: format))
        job.isPartial = true
        let processor = decoded.map(InProcessImageProcessor.init) ?? InProcessImageProcessor()
        return try processor.process(job) { false }
    }

    @Test(arguments: [nil, 160, 40])
    func `The beginning of a baseline JPEG shows its top, and gray below`(width: Int?) throws {
        let source = try Fixture.image("formats/photo.jpg")
        let whole = try Pixels(produce(source, .box(width)).body)
        let result = try preview(source, .box(width), bytes: source.readableBytes / 2)
        let pixels = try Pixels(result.body)
        #expect(!result.isProven)
        #expect(pixels.size == whole.size)
        for x in stride(from: 0, to: whole.width, by: 5) {
            #expect(pixels.distance(x: x, y: 0, to: whole[x, 0]) <= 2)
            #expect(pixels.distance(x: x, y: whole.height - 1, to: [128, 128, 128]) <= 2)
        }
    }

    @Test(arguments: [nil, 160])
    func `The beginning of a progressive JPEG shows all of it, blurred`(width: Int?) throws {
        let source = try Fixture.image("formats/progressive.jpg")
        let whole = try Pixels(produce(source, .box(width)).body)
        let half = try Pixels(preview(source, .box(width), bytes: source.readableBytes / 2).body)
        #expect(half.size == whole.size)
        #expect(half.hashDistance(to: whole) <= 8)
        #expect(half.meanDistance(to: whole) > 0)
    }

    @Test func `A complete JPEG gives the final image`() throws {
        let source = try Fixture.image("formats/progressive.jpg")
        #expect(try preview(source, .box(160)).body == produce(source, .box(160)).body)
    }

    @Test(
        arguments: [
            "formats/photo.jpg", "formats/progressive.jpg", "geometry/1000x1.jpg", "geometry/1x1000.jpg",
            "geometry/1x1.jpg", "geometry/7x5.jpg", "orientation/f-6.jpg", "color/cmyk-profile.jpg", "color/grey.jpg",
            "hostile/truncated-progressive.jpg", "hostile/trailing-junk.jpg", "hostile/header-only.jpg",
        ])
    func `A JPEG truncated anywhere gives an image of the full size, or none`(name: String) throws {
        let source = try Fixture.image(name)
        for width in [50, nil] {
            let size = try? preview(source, .box(width), as: .jpeg).size
            for part in 0...16 {
                let bytes = source.readableBytes * part / 16
                guard let result = try? preview(source, .box(width), bytes: bytes, as: .jpeg) else { continue }
                #expect(result.size == size, "\(bytes) bytes, width \(width ?? 0)")
            }
        }
    }

    @Test(arguments: ["formats/photo.webp", "formats/alpha.png", "animation/still.gif", "svg/drawing.svg"])
    func `Other formats have no preview`(name: String) throws {
        let source = try Fixture.image(name)
        #expect(throws: ImageProcessingError.unsupported) { try preview(source) }
    }

    @Test func `A preview is never cached`() throws {
        let source = try Fixture.image("formats/photo.jpg")
        let cache = DecodedCache(budgetBytes: 64 << 20)
        _ = try preview(source, .box(100), bytes: source.readableBytes / 2, decoded: cache)
        #expect(cache.statistics.entries == 0)
        #expect(cache.statistics.misses == 0)
    }

    @Test func `A preview over the limits is refused`() throws {
        let source = try Fixture.image("hostile/bomb.jpg")
        #expect(throws: ImageProcessingError.self) { try preview(source) }
    }
}
