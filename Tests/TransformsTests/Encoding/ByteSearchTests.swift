import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

struct ByteSearchTests {
    /// An encoder whose sizes follow a function, and the qualities that it was asked for.
    private final class Sizes {
        private(set) var asked: [Int] = []
        let size: (Int) -> Int

        init(_ size: @escaping (Int) -> Int) { self.size = size }

        func encode(_ quality: Int) throws(VipsError) -> ByteBuffer {
            asked.append(quality)
            return ByteBuffer(repeating: 0, count: size(quality))
        }
    }

    private func search(
        _ sizes: Sizes, from quality: Int, maxBytes: Int
    ) throws -> (bytes: Int, quality: ResultQuality?) {
        let found = try ByteSearch(maxBytes: maxBytes) { quality throws(VipsError) in try sizes.encode(quality) }
            .result(from: quality)
        return (found.body.readableBytes, found.quality)
    }

    /// The sizes of photographs grow about so.
    private static func photograph(_ quality: Int) -> Int { Int(4_000 * (1 + Double(quality * quality) / 1_200)) }

    @Test func `An image that fits at once is encoded once`() throws {
        let sizes = Sizes(Self.photograph)
        let found = try search(sizes, from: 80, maxBytes: Self.photograph(80))
        #expect(sizes.asked == [80])
        #expect(found.quality == ResultQuality(value: 80))
    }

    @Test(arguments: Array(stride(from: 1, through: 40_000, by: 617)))
    func `The result fits and is near the best, after six encodes at most, or is that of quality 20`(limit: Int) throws
    {
        for curve in [Self.photograph, { 300 * $0 }, { $0 < 55 ? 3_000 : 30_000 }, { _ in 9_000 }] {
            let sizes = Sizes(curve)
            let found = try search(sizes, from: 90, maxBytes: limit)
            let quality = try #require(found.quality)
            #expect(sizes.asked.count <= ByteSearch.maxEncodes && Set(sizes.asked).count == sizes.asked.count)
            #expect(quality.fits == (found.bytes <= limit))
            #expect(quality.fits || quality.value == 20)
            #expect(found.bytes == curve(try #require(quality.value)))
        }
        guard limit >= Self.photograph(20), limit < Self.photograph(90) else { return }
        let quality = try #require(search(Sizes(Self.photograph), from: 90, maxBytes: limit).quality?.value)
        let best = try #require((20...90).last { Self.photograph($0) <= limit })
        #expect(best - quality <= 2)
    }

    @Test func `Less than 20 is used only if it was asked for`() throws {
        let sizes = Sizes(Self.photograph)
        #expect(try search(sizes, from: 12, maxBytes: 1).quality == ResultQuality(value: 12, fits: false))
        #expect(sizes.asked == [12])
    }

    @Test(arguments: [OutputFormat.jpeg, .webp, .avif, .jxl])
    func `Real images fit`(_ format: OutputFormat) throws {
        let source = try Fixture.image("formats/photo.jpg")
        let whole = try produce(source, .box(160), output: OutputOptions(format: format))
        #expect(whole.quality == nil)
        let limit = whole.body.readableBytes * 2 / 3
        let small = try produce(source, .box(160), output: OutputOptions(format: format, maxBytes: limit))
        let quality = try #require(small.quality)
        #expect(quality.fits && small.body.readableBytes <= limit)
        #expect(try #require(quality.value) < format.defaultQuality ?? 0)
        let none = try produce(source, .box(160), output: OutputOptions(format: format, maxBytes: 1))
        #expect(none.quality?.description == "20;fits=?0")
        #expect(none.body.readableBytes < small.body.readableBytes)
    }

    @Test func `Formats without quality say whether they fit`() throws {
        let source = try Fixture.image("color/squares.png")
        func quality(_ maxBytes: Int, _ format: OutputFormat, lossless: Bool = false) throws -> String? {
            try produce(source, output: OutputOptions(format: format, maxBytes: maxBytes, lossless: lossless)).quality?
                .description
        }
        #expect(try quality(1 << 20, .png) == "lossless")
        #expect(try quality(10, .png) == "lossless;fits=?0")
        #expect(try quality(10, .webp, lossless: true) == "lossless;fits=?0")
    }

    @Test func `Every quality has a code of its own, and no other byte is one`() {
        for code in UInt8.min...UInt8.max {
            let quality = ResultQuality(code: code)
            #expect(quality?.code == (code & 127 <= 100 ? code : nil))
        }
    }
}
