import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// The colors behind transparency in lossy formats.
struct HiddenColorTests {
    @Test(
        arguments: [OutputFormat.avif, .webp],
        [Recipe.with { $0.radius = CornerRadii(.pixels(40)) }, .with { $0.mask = .ellipse }])
    func `Edges of round corners and shapes look on white as in PNG`(_ format: OutputFormat, _ shape: Recipe) throws {
        let ramp = try Drawing.image(240, 160) { x, y in [UInt8(60 + x / 2), UInt8(200 - y / 2), UInt8((x + y) / 3)] }
        let plain = try Drawing.flat(240, 160, [10, 120, 200])
        for source in try [plain.png(), ramp.png()] {
            let exact = try Pixels(produce(source, shape).body)
            let pixels = try Pixels(produce(source, shape, output: OutputOptions(format: format, chroma: .half)).body)
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
