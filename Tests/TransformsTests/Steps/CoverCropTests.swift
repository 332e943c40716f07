import Testing

@testable import DarkroomTransforms

struct CoverCropTests {
    @Test func `The overhang is cropped evenly on both sides`() throws {
        let pixels = try Pixels(produce(Drawing.quarters(80, 40).png(), .box(20, 20, fit: .cover)).body)
        #expect(pixels.size == PixelSize(width: 20, height: 20))
        #expect(pixels.distance(x: 3, y: 3, to: Drawing.red.map(Int.init)) <= 2)
        #expect(pixels.distance(x: 16, y: 16, to: Drawing.yellow.map(Int.init)) <= 2)
    }

    @Test func `An anchor keeps its side`() throws {
        var recipe = Recipe.box(20, 20, fit: .cover)
        recipe.position = .anchor(x: 1, y: 0.5)
        let pixels = try Pixels(produce(Drawing.quarters(80, 40).png(), recipe).body)
        #expect(pixels.distance(x: 3, y: 3, to: Drawing.green.map(Int.init)) <= 2)
    }

    @Test func `Attention finds the bright disc, entropy the noise`() throws {
        var recipe = Recipe.box(120, 300, fit: .cover)
        recipe.position = .attention
        let disc = try Pixels(produce(Fixture.image("geometry/attention.png"), recipe).body)
        let dull = disc[0, 299]
        #expect((0..<120).contains { disc.distance(x: $0, y: 80, to: dull) > 60 })
        recipe.position = .entropy
        let noise = try Pixels(produce(Fixture.image("geometry/entropy.png"), recipe).body)
        let steps = (1..<120).map { abs(noise[$0, 220][0] - noise[$0 - 1, 220][0]) }
        #expect(steps.filter { $0 > 20 }.count > 40)
    }

    @Test func `Without enlarging, the box keeps its aspect ratio within the image`() throws {
        #expect(
            try produce(Drawing.quarters(80, 40).png(), .box(400, 400, fit: .cover)).size
                == PixelSize(width: 40, height: 40))
        for size in [[64, 36], [8, 36], [64, 3], [17, 17]] {
            let source = try Drawing.flat(size[0], size[1], Drawing.red).png()
            let small = try produce(source, .box(1600, 900, fit: .cover)).size
            #expect(small.width == size[0] || small.height == size[1])
            #expect(abs(Double(small.width) * 9 / 16 - Double(small.height)) <= 1)
        }
        let large = try produce(Drawing.quarters(80, 40).png(), .box(400, 400, fit: .cover, enlarge: true))
        #expect(large.size == PixelSize(width: 400, height: 400))
    }
}
