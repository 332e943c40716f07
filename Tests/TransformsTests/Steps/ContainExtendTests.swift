import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct ContainExtendTests {
    private func canvas(_ change: (inout Recipe) -> Void, output: OutputFormat = .png) throws -> Pixels {
        var recipe = Recipe.box(40, 40, fit: .contain)
        change(&recipe)
        return try Pixels(
            produce(Drawing.flat(80, 40, [10, 120, 60]).png(), recipe, output: OutputOptions(format: output)).body)
    }

    @Test func `The canvas of an opaque image is white, and its format stays`() throws {
        let pixels = try canvas { _ in }
        #expect(pixels.bands == 3)
        #expect(pixels[20, 5] == [255, 255, 255] && pixels[20, 20] == [10, 120, 60])
        let source = try Drawing.flat(80, 40, [10, 120, 60]).jpeg()
        let made = try produce(source, .box(40, 40, fit: .contain), output: OutputOptions())
        #expect(made.format == .jpeg)
        let half = try produce(
            source,
            .with {
                $0 = .box(40, 40, fit: .contain)
                $0.background = Color(red: 255, green: 0, blue: 0, alpha: 128)
            }, output: OutputOptions())
        #expect(half.format == .png)
        #expect(try Pixels(half.body).distance(x: 20, y: 3, to: [255, 0, 0, 128]) <= 1)
    }

    @Test func `The canvas of a transparent image is transparent`() throws {
        let glass = try Drawing.image(80, 40) { x, _ in [10, 120, 60, x < 40 ? 0 : 255] }
        let pixels = try Pixels(produce(glass.png(), .box(40, 40, fit: .contain)).body)
        #expect(pixels[20, 5][3] == 0 && pixels[35, 20] == [10, 120, 60, 255])
    }

    @Test func `An animation keeps its frames on the canvas`() throws {
        for name in ["disposal.gif", "opaque.gif"] {
            let source = try Fixture.image("animation/\(name)")
            let made = try produce(source, .box(50, 90, fit: .contain), output: OutputOptions(format: .webp))
            #expect(made.size == PixelSize(width: 50, height: 90) && made.frames > 1)
        }
    }

    @Test func `The canvas is exact, the image in its middle, the rest transparent on request`() throws {
        let pixels = try canvas { $0.background = .transparent }
        #expect(pixels.size == PixelSize(width: 40, height: 40))
        #expect(pixels[20, 5][3] == 0)
        #expect(pixels[20, 20] == [10, 120, 60, 255])
        #expect(pixels[20, 10][3] == 255 && pixels[20, 29][3] == 255 && pixels[20, 30][3] == 0)
    }

    @Test func `A format without alpha gets white, or the requested background`() throws {
        #expect(try canvas({ _ in }, output: .jpeg).distance(x: 20, y: 3, to: [255, 255, 255]) <= 3)
        let blue = try canvas { $0.background = Color(red: 0, green: 0, blue: 255) }
        #expect(blue[20, 3] == [0, 0, 255])
    }

    @Test func `An anchor moves the image to its side`() throws {
        let pixels = try canvas {
            $0.position = .anchor(x: 0.5, y: 1)
            $0.background = .transparent
        }
        #expect(pixels[20, 19][3] == 0)
        #expect(pixels[20, 39] == [10, 120, 60, 255])
    }

    @Test func `A small image is enlarged only on request`() throws {
        let small = try Drawing.flat(10, 10, [10, 120, 60]).png()
        let kept = try Pixels(produce(small, .box(40, 40, fit: .contain)).body)
        #expect([14, 15, 24, 25].map { kept[$0, 20][0] } == [255, 10, 10, 255])
        #expect(try Pixels(produce(small, .box(40, 40, fit: .contain, enlarge: true)).body).isFlat([10, 120, 60]))
    }
}
