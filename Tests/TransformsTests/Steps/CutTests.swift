import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct CutTests {
    private func cut(_ x: Int, _ y: Int, _ width: Int, _ height: Int) throws -> Pixels {
        let cut = Crop(x: .pixels(x), y: .pixels(y), width: .pixels(width), height: .pixels(height))
        return try apply(cut.with(.cut), to: Drawing.quarters(40, 20))
    }

    @Test func `A rectangle of the scaled image is kept`() throws {
        var recipe = Recipe.box(40)
        recipe.cut = Crop(x: .pixels(20), y: .pixels(10), width: .pixels(20), height: .percent(50))
        let result = try produce(Drawing.quarters(80, 40).png(), recipe)
        #expect(result.size == PixelSize(width: 20, height: 10))
        #expect(try Pixels(result.body).distance(x: 10, y: 5, to: Drawing.yellow.map(Int.init)) < 3)
    }

    @Test func `What exceeds the image is left out`() throws {
        #expect(try cut(30, 15, 900, 900).size == PixelSize(width: 10, height: 5))
        #expect(try cut(900, 900, 5, 5)[0, 0] == Drawing.red.map(Int.init))
        #expect(try cut(0, 0, 40, 20).size == PixelSize(width: 40, height: 20))
        #expect(try cut(39, 19, 1, 1)[0, 0] == Drawing.yellow.map(Int.init))
    }

    @Test func `It comes after a rotation, and every number is in the key`() throws {
        var recipe = Recipe()
        recipe.rotationDegrees = 90
        recipe.cut = Crop(x: .pixels(0), y: .pixels(30), width: .pixels(20), height: .pixels(10))
        #expect(try produce(Drawing.quarters(40, 20).png(), recipe).size == PixelSize(width: 20, height: 10))
        let one = Length.pixels(1)
        let keys = [
            Crop(x: one, y: one, width: one, height: one), Crop(x: .pixels(2), y: one, width: one, height: one),
            Crop(x: one, y: .pixels(2), width: one, height: one), Crop(x: one, y: one, width: .pixels(2), height: one),
            Crop(x: one, y: one, width: one, height: .percent(.init(hundredths: 100))),
        ].map { $0.with(.cut).key }
        #expect(Set(keys).count == keys.count)
    }
}
