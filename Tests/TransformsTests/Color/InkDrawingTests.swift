import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

/// Pixels that are drawn on others, compared with libvips' operations.
struct InkDrawingTests {
    /// Every alpha, with colors that differ from pixel to pixel.
    private func ink() throws -> VipsImage {
        try Drawing.image(16, 16) { x, y in
            [UInt8(x * 16), UInt8(y * 16), UInt8(x * y), UInt8(y * 16 + x)]
        }
    }

    @Test func `Ink on an opaque image is mixed in whole numbers, and the rest stays`() throws {
        let base = try Drawing.image(40, 30) { x, y in [UInt8(x * 6), UInt8(y * 8), UInt8(x * y % 256)] }
        let ink = try ink()
        let part = try base.extracting(x: 7, y: 9, size: ink.size)
        let mixed = try VipsImage.build(
            "ifthenelse",
            ["cond": .image(ink.band(3)), "in1": .image(ink.band(0, count: 3)), "in2": .image(part), "blend": true])
        let expected = try VipsImage.build(
            "insert", ["main": .image(base), "sub": .image(mixed), "x": .int(7), "y": .int(9)])
        #expect(try base.drawing(ink, x: 7, y: 9).asPixels().samples == expected.asPixels().samples)
    }

    @Test func `Ink on a translucent image is mixed by both alphas`() throws {
        let base = try Drawing.image(16, 16) { x, y in [UInt8(y * 15), 90, UInt8(x * 15), UInt8(x * 16 + y)] }
        let drawn = try base.drawing(ink()).asPixels()
        let expected = try base.composited(with: ink()).asPixels()
        for (x, y) in (0..<256).map({ ($0 % 16, $0 / 16) }) where expected[x, y][3] > 0 {
            #expect(drawn.distance(x: x, y: y, to: expected[x, y]) <= 1, "\(x), \(y)")
        }
    }

    @Test func `An image that others use stays as it is`() throws {
        let base = try Drawing.flat(20, 20, Drawing.blue).rendered()
        let before = try base.asPixels().samples
        let drawn = try base.drawing(ink())
        #expect(try base.asPixels().samples == before && drawn.asPixels().samples != before)
    }

    @Test func `Ink beyond the edges is an error`() throws {
        #expect(throws: VipsError.self) { try Drawing.flat(20, 20, Drawing.blue).drawing(ink(), x: 5, y: 0) }
    }
}
