import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// The transparency of AVIF, against PNG's.
struct AVIFAlphaTests {
    /// A picture with hard and soft edges, letters of one pixel, and clear parts.
    private func drawing() throws -> ByteBuffer {
        try Drawing.image(160, 96) { x, y in
            let distance = (Double((x - 40) * (x - 40) + (y - 48) * (y - 48))).squareRoot()
            let alpha: Double =
                switch x {
                case ..<80: min(max(40.5 - distance, 0), 1) * 255
                case ..<120: (x / 2 + y / 3) % 3 == 0 ? 255 : 0
                default: Double((x - 120) * 6)
                }
            return [UInt8(x), UInt8(255 - y), UInt8(y * 2), UInt8(alpha)]
        }.png()
    }

    @Test(arguments: [10, 40, 68, 95])
    func `Alpha is nearly exact at every quality`(_ quality: Int) throws {
        let source = try drawing()
        let exact = try Pixels(produce(source).body)
        let options = OutputOptions(format: .avif, quality: quality)
        let pixels = try Pixels(produce(source, output: options).body)
        #expect(pixels.size == exact.size)
        for place in stride(from: 3, to: exact.samples.count, by: 4) {
            #expect(abs(Int(exact.samples[place]) - Int(pixels.samples[place])) <= 4)
        }
    }

    @Test func `The quality of the colors is the requested one`() throws {
        let source = try drawing()
        let sizes = try [20, 68, 95].map { quality in
            try produce(source, output: OutputOptions(format: .avif, quality: quality)).body.readableBytes
        }
        #expect(sizes == sizes.sorted() && Set(sizes).count == 3)
    }

    @Test func `A copyright notice is kept beside alpha and without loss`() throws {
        let source = try Drawing.flat(24, 16, [20, 200, 90, 128])
            .setting(texts: ["exif-ifd0-Copyright": "Zoe 2024 (ASCII)"])
        let webp = try VipsSaver.webp.encode(source, ["lossless": true])
        for lossless in [false, true] {
            let file = try produce(webp, output: OutputOptions(format: .avif, lossless: lossless)).body
            #expect(try VipsLoader.heif.withImage(of: file) { CopyrightNotice(of: $0).copyright } == "Zoe 2024")
        }
    }

    @Test(arguments: [Recipe.with { $0.radius = CornerRadii(.pixels(40)) }, .with { $0.mask = .ellipse }])
    func `Edges of round corners and shapes look on white as in PNG`(_ shape: Recipe) throws {
        let ramp = try Drawing.image(240, 160) { x, y in [UInt8(60 + x / 2), UInt8(200 - y / 2), UInt8((x + y) / 3)] }
        let plain = try Drawing.flat(240, 160, [10, 120, 200])
        for source in try [plain.png(), ramp.png()] {
            let exact = try Pixels(produce(source, shape).body)
            let pixels = try Pixels(produce(source, shape, output: OutputOptions(format: .avif, chroma: .half)).body)
            var differences: [Double] = []
            for y in 0..<exact.height {
                for x in 0..<exact.width where (1...254).contains(exact[x, y][3]) {
                    differences += zip(exact.onWhite(x, y), pixels.onWhite(x, y)).map { $1 - $0 }
                }
            }
            #expect(abs(differences.reduce(0, +)) / Double(differences.count) <= 1)
            #expect(differences.allSatisfy { abs($0) <= 8 })
        }
    }
}

struct HiddenColorTests {
    @Test func `Visible colors continue behind transparent pixels, and nothing else changes`() throws {
        // Visible: the left third in red, and a single blue pixel.
        let drawing = try Drawing.image(90, 50) { x, y in
            if x < 30 { return Drawing.red + [200] }
            return x == 88 && y == 48 ? Drawing.blue + [255] : [9, 250, 9, 0]
        }
        let pixels = try Pixels(drawing.continuingColors())
        for (x, y) in [(0, 0), (29, 49), (30, 0), (31, 20), (33, 49)] {
            #expect(pixels[x, y] == Drawing.red.map(Int.init) + [x < 30 ? 200 : 0])
        }
        for (x, y) in [(88, 48), (89, 49), (87, 47)] {
            #expect(Array(pixels[x, y].prefix(3)) == Drawing.blue.map(Int.init))
        }
        // The hidden color is gone.
        #expect(!pixels.samples.contains { $0 > 220 && $0 < 255 })
    }

    @Test(arguments: [[10, 20, 30], [10, 20, 30, 1], [10, 20, 30, 0]] as [[UInt8]])
    func `An image without both kinds of pixels stays as it is`(_ color: [UInt8]) throws {
        let image = try Drawing.flat(7, 5, color)
        #expect(try image.continuingColors() === image)
    }
}

extension Pixels {
    /// The color of a pixel on white.
    fileprivate func onWhite(_ x: Int, _ y: Int) -> [Double] {
        let sample = self[x, y].map(Double.init)
        return sample.prefix(3).map { ($0 * sample[3] + 255 * (255 - sample[3])) / 255 }
    }
}
