import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct FlattenTests {
    @Test(arguments: [(255, [200, 100, 50]), (0, [0, 0, 255]), (128, [100, 50, 152])])
    func `Transparency shows the background`(_ alpha: Int, _ expected: [Int]) throws {
        let pixels = try apply(
            Flatten(Color(red: 0, green: 0, blue: 255)), to: Drawing.flat(4, 4, [200, 100, 50, UInt8(alpha)]))
        #expect(pixels.bands == 3)
        #expect(pixels.isFlat(expected, tolerance: 1))
    }

    @Test func `A translucent background leaves a translucent image`() throws {
        let background = Color(red: 0, green: 0, blue: 255, alpha: 128)
        #expect(
            try apply(Flatten(background), to: Drawing.flat(4, 4, [9, 9, 9, 0])).isFlat([0, 0, 255, 128], tolerance: 1))
        #expect(
            try apply(Flatten(background), to: Drawing.flat(4, 4, [200, 100, 50, 255])).isFlat([200, 100, 50, 255]))
    }

    @Test func `An image without alpha stays as it is`() throws {
        #expect(try apply(Flatten(.white), to: Drawing.flat(4, 4, [1, 2, 3])).isFlat([1, 2, 3]))
    }

    @Test func `A translucent background of a canvas is laid on once`() throws {
        var recipe = Recipe.box(40, 40, fit: .contain)
        recipe.background = Color(red: 255, green: 0, blue: 0, alpha: 128)
        let pixels = try Pixels(produce(Drawing.flat(40, 20, [0, 0, 0]).png(), recipe).body)
        #expect(pixels.distance(x: 5, y: 2, to: [255, 0, 0, 128]) <= 1)
        #expect(pixels.distance(x: 20, y: 20, to: [0, 0, 0, 255]) <= 1)
    }
}
