import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct PixelateTests {
    @Test func `A block has the mean color of its pixels`() throws {
        let stripes = try Drawing.image(40, 30) { x, _ in x % 2 == 0 ? [0, 100, 200] : [100, 200, 0] }
        let pixels = try apply(Pixelate(block: .pixels(10)), to: stripes)
        #expect(pixels.size == PixelSize(width: 40, height: 30))
        #expect(pixels.isFlat([50, 150, 100], tolerance: 1))
    }

    @Test func `Each block is flat, also where the edge cuts it`() throws {
        let pixels = try apply(
            Pixelate(block: .pixels(8)), to: Drawing.image(45, 21) { x, y in [UInt8(x * 5), UInt8(y * 10), 7] })
        #expect(pixels.size == PixelSize(width: 45, height: 21))
        for y in 0..<21 {
            for x in 0..<45 { #expect(pixels[x, y] == pixels[x / 8 * 8, y / 8 * 8]) }
        }
        #expect(Set((0..<6).map { pixels[$0 * 8, 0][0] }).count == 6)
    }

    @Test func `A percentage refers to the width, and a block of one pixel changes nothing`() throws {
        let image = try Drawing.quarters(200, 50)
        let tenth = Length.percent(10)
        #expect(
            try apply(Pixelate(block: tenth), to: image).samples
                == apply(Pixelate(block: .pixels(20)), to: image).samples)
        let least = Length.percent(0.1)
        #expect(try apply(Pixelate(block: least), to: image).samples == image.asPixels().samples)
        #expect(Pixelate(block: tenth).key != Pixelate(block: .pixels(10)).key)
    }

    @Test func `A block larger than the image makes it flat`() throws {
        for size in [[1, 1], [30, 7], [7, 30]] {
            let pixels = try apply(Pixelate(block: .pixels(1000)), to: Drawing.quarters(size[0], size[1]))
            #expect(pixels.isFlat(pixels[0, 0]) && pixels.size == PixelSize(width: size[0], height: size[1]))
        }
    }

    @Test func `Hidden colors do not show in a block`() throws {
        let image = try Drawing.image(20, 20) { x, _ in x % 2 == 0 ? [255, 0, 0, 255] : [0, 0, 255, 0] }
        let pixels = try apply(Pixelate(block: .pixels(10)), to: image)
        #expect(pixels.distance(x: 5, y: 5, to: [255, 0, 0, 128]) <= 1)
    }

    @Test func `Frames of an animation are pixelated each for itself`() throws {
        let source = try Fixture.image("animation/disposal.gif")
        let recipe = Recipe.with { $0.pixelate = Pixelate(block: .pixels(9)) }
        let made = try produce(source, recipe, output: OutputOptions(format: .webp, lossless: true))
        #expect(made.frames == 4)
        let frames = try (0..<4).map { try Pixels(made.body, frame: $0) }
        for frame in frames { #expect(frame[0, 0] == frame[8, 8]) }
        #expect(Set(frames.map(\.samples)).count > 1)
    }
}
