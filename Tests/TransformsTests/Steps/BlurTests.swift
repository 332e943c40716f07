import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct BlurTests {
    @Test(arguments: [nil, 0.3, 2, 9, 60, 1000])
    func `A flat image stays flat under any blur`(_ sigma: Double?) throws {
        for color in [[200, 100, 50], [255, 255, 255], [0, 1, 2]] as [[UInt8]] {
            let pixels = try apply(Blur(sigma: sigma), to: Drawing.flat(90, 70, color))
            #expect(pixels.isFlat(color.map(Int.init), tolerance: 1))
            #expect(pixels.size == PixelSize(width: 90, height: 70))
        }
    }

    @Test func `A larger sigma spreads a line further, evenly to both sides`() throws {
        let line = try Drawing.image(121, 11) { x, _ in x == 60 ? [255, 255, 255] : [0, 0, 0] }
        let peaks = try [0.5, 1, 3, 12].map { try apply(Blur(sigma: $0), to: line)[60, 5][0] }
        #expect(peaks == peaks.sorted(by: >))
        #expect(peaks[3] > 0)
        let pixels = try apply(Blur(sigma: 3), to: line)
        #expect((1...6).allSatisfy { pixels[60 - $0, 5] == pixels[60 + $0, 5] })
    }

    @Test func `Hidden colors are not blurred into view`() throws {
        let image = try Drawing.image(60, 20) { x, _ in x < 30 ? [255, 0, 0, 255] : [0, 0, 255, 0] }
        let pixels = try apply(Blur(sigma: 4), to: image)
        #expect(pixels.distance(x: 31, y: 10, to: [255, 0, 0]) <= 3)
        #expect((40...215).contains(pixels[30, 10][3]))
    }

    @Test(arguments: [9.0, 17, 50])
    func `A wide blur differs little from a blur of every pixel, at narrow borders too`(sigma: Double) throws {
        let image = try Drawing.image(240, 253) { x, y in
            x < 3 || y < 1 || x > 230 || y > 250 ? [40, 220, 90] : x < y ? [250, 10, 60] : [20, 40, 240]
        }
        let pixels = try apply(Blur(sigma: sigma), to: image)
        let exact = try Pixels(image.applying("gaussblur", ["sigma": .double(sigma), "precision": "float"]))
        #expect(pixels.meanDistance(to: exact) < 3)
        for (x, y) in [(0, 0), (120, 0), (0, 120), (239, 120), (120, 252), (239, 252), (100, 100)] {
            #expect(pixels.distance(x: x, y: y, to: exact[x, y]) <= 6, "\(x), \(y)")
        }
    }

    @Test(arguments: [9.0, 33])
    func `A wide blur mixes colors by their alpha`(sigma: Double) throws {
        let image = try Drawing.image(150, 120) { x, y in
            x < y ? [250, 10, 60, 255] : x > 100 ? [0, 255, 0, 0] : [20, 40, 240, 130]
        }
        let pixels = try apply(Blur(sigma: sigma), to: image)
        let exact = try Pixels(
            image.premultiplying { colors throws(VipsError) in
                try colors.applying("gaussblur", ["sigma": .double(sigma), "precision": "float"])
            })
        #expect(pixels.bands == 4 && pixels.size == exact.size)
        for (x, y) in [(0, 0), (75, 0), (0, 60), (75, 60), (40, 119)] {
            #expect(pixels.distance(x: x, y: y, to: exact[x, y]) <= 8, "\(x), \(y)")
        }
    }

    @Test func `The cost of a wide blur does not grow with its width`() throws {
        let pixels = try apply(Blur(sigma: 1000), to: Drawing.quarters(300, 200))
        #expect(pixels.distance(x: 10, y: 10, to: pixels[290, 190]) < 60)
    }
}
