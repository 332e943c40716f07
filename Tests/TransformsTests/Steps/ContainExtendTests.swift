import Testing

@testable import DarkroomTransforms

struct ContainExtendTests {
    private func canvas(_ change: (inout Recipe) -> Void, output: OutputFormat = .png) throws -> Pixels {
        var recipe = Recipe.box(40, 40, fit: .contain)
        change(&recipe)
        return try Pixels(
            produce(Drawing.flat(80, 40, [10, 120, 60]).png(), recipe, output: OutputOptions(format: output)).body)
    }

    @Test func `The canvas is exact, the image in its middle, the rest transparent`() throws {
        let pixels = try canvas { _ in }
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
        let pixels = try canvas { $0.position = .anchor(x: 0.5, y: 1) }
        #expect(pixels[20, 19][3] == 0)
        #expect(pixels[20, 39] == [10, 120, 60, 255])
    }

    @Test func `A small image is enlarged only on request`() throws {
        let small = try Drawing.flat(10, 10, [10, 120, 60]).png()
        let kept = try Pixels(produce(small, .box(40, 40, fit: .contain)).body)
        #expect(kept[14, 20][3] == 0 && kept[15, 20][3] == 255 && kept[24, 20][3] == 255 && kept[25, 20][3] == 0)
        #expect(try Pixels(produce(small, .box(40, 40, fit: .contain, enlarge: true)).body).isFlat([10, 120, 60]))
    }
}
