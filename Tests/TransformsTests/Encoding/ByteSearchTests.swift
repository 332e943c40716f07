import DarkroomRequests
import DarkroomVips
import Foundation
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
        _ sizes: Sizes, from quality: Int, maxBytes: Int, encodes: Int = 6
    ) throws -> (bytes: Int, quality: ResultQuality?) {
        let search = ByteSearch(maxBytes: maxBytes, maxEncodes: encodes) { quality throws(VipsError) in
            try sizes.encode(quality)
        }
        let found = try search.result(from: quality)
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
    func `The result fits after six or five encodes at most, or has quality 20`(limit: Int) throws {
        for curve in [Self.photograph, { 300 * $0 }, { $0 < 55 ? 3_000 : 30_000 }, { _ in 9_000 }] {
            for encodes in [6, 5] {
                let sizes = Sizes(curve)
                let found = try search(sizes, from: 90, maxBytes: limit, encodes: encodes)
                let quality = try #require(found.quality)
                #expect(sizes.asked.count <= encodes && Set(sizes.asked).count == sizes.asked.count)
                #expect(quality.fits == (found.bytes <= limit))
                #expect(quality.fits || quality.value == 20)
                #expect(found.bytes == curve(try #require(quality.value)))
            }
        }
    }

    /// The bytes of a photograph of 320 pixels that was enlarged to 1600, as AVIF.
    private static let enlarged = [
        20: 4_466, 24: 4_937, 25: 5_069, 30: 5_584, 39: 6_978, 47: 8_793, 50: 9_289, 56: 11_286, 60: 13_487, 62: 14_277,
        68: 16_623,
    ]

    @Test(arguments: [
        (16_623, [68]), (15_000, [68, 62, 63]), (9_000, [68, 47]), (5_000, [68, 27, 24]), (4_000, [68, 20]),
    ])
    func `Five encodes find a quality of an AVIF`(limit: Int, qualities: [Int]) throws {
        let points = Self.enlarged.sorted { $0.key < $1.key }
        let sizes = Sizes { quality in
            let next = max(points.firstIndex { $0.key >= quality } ?? 0, 1)
            let (from, to) = (points[next - 1], points[next])
            return from.value + (to.value - from.value) * (quality - from.key) / (to.key - from.key)
        }
        let found = try #require(try search(sizes, from: 68, maxBytes: limit, encodes: 5).quality)
        #expect(sizes.asked == qualities)
        #expect(found.fits == (limit >= 4_466))
    }

    @Test func `An AVIF is encoded five times at most, others six times, and most of them are predicted`() {
        for format in OutputFormat.allCases where format.isLossy {
            let row = format.row
            #expect(row.searchEncodes == (format == .avif ? 5 : 6))
            #expect(row.expectedEncodes < Double(row.searchEncodes))
            #expect(Double(row.searchEncodes) / row.expectedEncodes < (format == .avif ? 2 : 3))
            func each(_ options: OutputOptions) -> Double {
                format.encodingNanoseconds(for: options, EncoderEfforts())
            }
            let expected = each(OutputOptions()) * row.expectedEncodes
            #expect(abs(each(OutputOptions(maxBytes: 900)) - expected) < 0.001)
        }
    }

    /// Sizes that grow evenly, ever faster, fast at one end only, in steps, and at once.
    private static let curves: [@Sendable (Int) -> Int] = [
        photograph, { 30 * $0 }, { Int(100 * exp(0.045 * Double($0))) },
        { $0 < 60 ? 400 + 2 * $0 : Int(520 * exp(0.06 * Double($0 - 60))) },
        { $0 < 40 ? Int(200 * exp(0.08 * Double($0))) : Int(4_906 * exp(0.008 * Double($0 - 40))) },
        { $0 / 7 * 90 + 50 }, { $0 < 55 ? 300 + $0 : 3_000 + $0 },
    ]

    @Test(arguments: curves.indices, [100, 90, 82, 68, 50])
    func `The result is within two steps of the best, or fills 97 % of the bytes`(curve: Int, start: Int) throws {
        try checkResolution(curve, from: start, encodes: 6, steps: 2)
    }

    @Test(arguments: curves.indices, [100, 90, 82, 68, 50])
    func `With five encodes it is within five steps, or fills 97 % of the bytes`(curve: Int, start: Int) throws {
        try checkResolution(curve, from: start, encodes: 5, steps: 5)
    }

    private func checkResolution(_ curve: Int, from start: Int, encodes: Int, steps: Int) throws {
        let size = Self.curves[curve]
        for quality in 20..<start {
            for limit in [size(quality), size(quality) + 1, (size(quality) + size(quality + 1)) / 2]
            where limit < size(start) {
                let sizes = Sizes(size)
                let found = try #require(try search(sizes, from: start, maxBytes: limit, encodes: encodes).quality)
                let chosen = try #require(found.value)
                let best = try #require((20...start).last { size($0) <= limit })
                #expect(found.fits && sizes.asked.count <= encodes)
                #expect(best - chosen <= steps || Double(size(chosen)) >= 0.97 * Double(limit), "\(limit)")
            }
        }
    }

    @Test func `Less than 20 is used only if it was asked for`() throws {
        let sizes = Sizes(Self.photograph)
        #expect(try search(sizes, from: 12, maxBytes: 1).quality == ResultQuality(value: 12, fits: false))
        #expect(sizes.asked == [12])
    }

    @Test(arguments: [OutputFormat.jpeg, .webp, .avif, .jxl, .gif])
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
            #expect(quality?.code == (code & 127 <= 100 || code & 127 == 126 ? code : nil))
        }
    }
}
