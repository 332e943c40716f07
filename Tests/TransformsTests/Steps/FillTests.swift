import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

/// Colors of their own for what is filled, and the factors of effects that have several.
struct FillTests {
    private let square: VipsImage

    init() throws {
        square = try Drawing.flat(10, 10, Drawing.blue)
    }

    @Test func `Canvas and corners have colors of their own`() throws {
        var recipe = Recipe.box(20, 10, fit: .contain)
        recipe.background = .white
        recipe.canvasBackground = Color(red: 255, green: 0, blue: 0)
        recipe.rotationDegrees = 45
        recipe.cornerBackground = Color(red: 0, green: 255, blue: 0)
        let pixels = try Pixels(produce(square.png(), recipe).body)
        #expect(pixels[0, 0] == [0, 255, 0])
        #expect(
            try Pixels(
                produce(
                    square.png(),
                    .with {
                        $0 = recipe
                        $0.rotationDegrees = 0
                    }
                ).body)[0, 0] == [255, 0, 0])
        #expect(
            TransformChain(recipe).key
                != TransformChain(
                    .with {
                        $0 = recipe
                        $0.canvasBackground = nil
                    }
                ).key)
    }

    @Test func `A transparent canvas stays one in an opaque image`() throws {
        var recipe = Recipe.box(20, 10, fit: .contain)
        recipe.canvasBackground = .transparent
        #expect(try Pixels(produce(square.png(), recipe).body)[0, 0] == [0, 0, 0, 0])
    }

    @Test func `A border of another color than the corner's is trimmed by that color`() throws {
        let image = try Drawing.image(30, 30) { x, y in
            x < 5 ? [9, 9, 9] : (10..<20).contains(x) && (10..<20).contains(y) ? [255, 0, 0] : [200, 200, 200]
        }
        let gray = Color(red: 200, green: 200, blue: 200)
        #expect(try apply(Trim(threshold: 20, background: gray), to: image).width == 20)
        #expect(try apply(Trim(threshold: 20), to: image).width == 25)
        #expect(Trim(threshold: 20, background: gray).key != Trim(threshold: 20).key)
    }

    @Test func `Lightness is a factor, and alpha stays`() throws {
        let image = try Drawing.flat(4, 4, [120, 60, 60, 100])
        let dark = try apply(Lightness(factor: 0), to: image)
        #expect(dark[0, 0][3] == 100)
        #expect(dark[0, 0][0] < 60)
        #expect(try apply(Lightness(factor: 2), to: image).luminance(x: 0, y: 0) > dark.luminance(x: 0, y: 0) + 50)
        #expect(Lightness(factor: 2).key != Lightness(factor: 3).key)
    }

    @Test func `Flat areas are sharpened only if that is asked for`() throws {
        let slope = try Drawing.image(40, 40) { x, _ in [UInt8(100 + x / 4), 100, 100] }
        let plain = try slope.asPixels()
        let jagged = try apply(Sharpen(sigma: 2), to: slope)
        let flat = try apply(Sharpen(sigma: 2, flat: 20, jagged: 2), to: slope)
        #expect(flat.meanDistance(to: plain) > jagged.meanDistance(to: plain))
        let keys = [Sharpen(sigma: 2), Sharpen(sigma: 2, flat: 1), Sharpen(sigma: 2, jagged: 1)].map(\.key)
        #expect(Set(keys).count == 3)
    }
}
