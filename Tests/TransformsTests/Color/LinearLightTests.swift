import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct LinearLightTests {
    @Test(arguments: [[0, 0, 0], [255, 255, 255], [1, 2, 3], [200, 100, 50], [17, 128, 254]] as [[UInt8]])
    func `A flat color stays the same at every scale`(_ color: [UInt8]) throws {
        for (width, height) in [(90, 61), (301, 203), (900, 610)] {
            let source = try Drawing.flat(451, 307, color).png()
            let pixels = try Pixels(
                produce(source, .box(width, height, fit: .fill, enlarge: true, as: .linear)).body)
            #expect(pixels.isFlat(color.map(Int.init)))
        }
    }

    @Test func `Fine black and white lines average to half the light`() throws {
        let lines = try Drawing.image(400, 400) { x, _ in x.isMultiple(of: 2) ? [0] : [255] }.png()
        let linear = try Pixels(produce(lines, .box(50, 50, as: .linear)).body)
        let accurate = try Pixels(produce(lines, .box(50, 50, as: .accurate)).body)
        #expect(abs(linear[25, 25][0] - 188) <= 2)
        #expect(abs(accurate[25, 25][0] - 128) <= 2)
    }

    @Test func `Alpha is averaged linearly`() throws {
        let lines = try Drawing.image(400, 400) { x, _ in [90, 90, 90, x.isMultiple(of: 2) ? 0 : 255] }.png()
        let pixels = try Pixels(produce(lines, .box(50, 50, as: .linear)).body)
        #expect(abs(pixels[25, 25][3] - 128) <= 2)
        #expect(pixels.distance(x: 25, y: 25, to: [90, 90, 90]) <= 1)
    }

    @Test func `CMYK has no light curve: every resampling gives the same colors`() throws {
        let source = try Fixture.image("color/cmyk.jpg")
        let fast = try Pixels(produce(source, .box(100, 100, as: .fast)).body)
        let linear = try Pixels(produce(source, .box(100, 100, as: .linear)).body)
        for (x, y) in [(37, 12), (12, 37), (62, 37)] { #expect(linear.distance(x: x, y: y, to: fast[x, y]) <= 6) }
    }
}
