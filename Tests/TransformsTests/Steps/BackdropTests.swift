import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// `contain` with the image itself, blurred, behind it.
struct BackdropTests {
    private func contained(
        _ source: ByteBuffer, _ width: Int, _ height: Int, output: OutputFormat = .png, blurs: Bool = true
    ) throws -> ProcessedImage {
        var recipe = Recipe.box(width, height, fit: .contain)
        recipe.blursBackdrop = blurs
        return try produce(source, recipe, output: OutputOptions(format: output, lossless: true))
    }

    @Test func `The image lies unchanged on its blurred self`() throws {
        let source = try Fixture.image("sample.jpg")
        let blurred = try Pixels(contained(source, 240, 400).body)
        let plain = try Pixels(contained(source, 240, 400, blurs: false).body)
        #expect(blurred.size == PixelSize(width: 240, height: 400) && blurred.bands == 3)
        for (x, y) in [(0, 121), (120, 200), (239, 278)] { #expect(blurred[x, y] == plain[x, y].prefix(3).map { $0 }) }
        // Above and below, neighbors hardly differ, but the colors are not flat.
        var widest = 0.0
        for y in [10, 110, 290, 390] {
            let row = (0..<240).map { blurred.luminance(x: $0, y: y) }
            #expect(zip(row, row.dropFirst()).allSatisfy { abs($0 - $1) < 6 })
            widest = max(widest, (row.max() ?? 0) - (row.min() ?? 0))
        }
        #expect(widest > 20)
    }

    @Test func `The backdrop has the image's colors where the image has them`() throws {
        let source = try Drawing.quarters(80, 80).png()
        let pixels = try Pixels(contained(source, 80, 200).body)
        // The middle of the image covers the canvas, so its left and right quarters are cut.
        for (x, y, color) in [(8, 8, Drawing.red), (72, 8, Drawing.green), (8, 192, Drawing.blue)] {
            #expect(pixels.distance(x: x, y: y, to: color.map(Int.init)) <= 40, "\(x) \(y)")
        }
    }

    @Test func `An image with transparency gets an opaque backdrop`() throws {
        let source = try Drawing.flat(60, 30, [200, 0, 0, 128]).png()
        let pixels = try Pixels(contained(source, 60, 60).body)
        #expect(pixels.bands == 3)
        // Half red on white, and the same again on top of it.
        #expect(pixels.distance(x: 30, y: 5, to: [227, 127, 127]) <= 2)
        #expect(pixels.distance(x: 30, y: 30, to: [214, 63, 63]) <= 3)
    }

    @Test func `An image that fills its canvas has no backdrop`() throws {
        let source = try Drawing.flat(60, 60, [200, 0, 0, 128]).png()
        #expect(try Pixels(contained(source, 30, 30).body)[15, 15] == [200, 0, 0, 128])
    }

    @Test func `A JPEG stays a JPEG`() throws {
        var recipe = Recipe.box(100, 100, fit: .contain)
        recipe.blursBackdrop = true
        let made = try produce(Fixture.image("sample.jpg"), recipe, output: OutputOptions())
        #expect(made.format == .jpeg)
    }

    @Test func `Each frame of an animation stands before itself`() throws {
        let source = try Fixture.image("animation/opaque.gif")
        let made = try contained(source, 60, 120, output: .webp)
        #expect(made.frames > 1 && made.size == PixelSize(width: 60, height: 120))
        let plain = try contained(source, 60, 120, output: .webp, blurs: false)
        for frame in 0..<made.frames {
            let (blurred, image) = (try Pixels(made.body, frame: frame), try Pixels(plain.body, frame: frame))
            #expect(blurred[30, 60].prefix(3) == image[30, 60].prefix(3))
            let above = (0..<60).map { blurred.luminance(x: $0, y: 8) }.reduce(0, +) / 60
            let whole = (40..<80).map { image.luminance(x: 30, y: $0) }.reduce(0, +) / 40
            #expect(abs(above - whole) < 70)
        }
    }

    @Test(arguments: [(1, 1, 64, 9), (3, 200, 9, 64), (200, 3, 1, 1), (5, 5, 4000, 6)])
    func `Images and canvases of any shape have one`(_ width: Int, _ height: Int, _ across: Int, _ down: Int) throws {
        let source = try Drawing.flat(width, height, [7, 77, 177]).png()
        let pixels = try Pixels(contained(source, across, down).body)
        #expect(pixels.size == PixelSize(width: across, height: down))
        #expect(pixels.isFlat([7, 77, 177], tolerance: 1))
    }
}
