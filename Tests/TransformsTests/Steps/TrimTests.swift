import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct TrimTests {
    @Test(arguments: ["geometry/border.png", "geometry/border.jpg"])
    func `A uniform border is removed`(_ name: String) throws {
        let result = try produce(Fixture.image(name), .with { $0.trim = Trim(threshold: 10) })
        #expect(abs(result.size.width - 160) <= 2 && abs(result.size.height - 120) <= 2)
    }

    @Test func `An image that is all border stays`() throws {
        let result = try produce(Fixture.image("geometry/blank.png"), .with { $0.trim = Trim(threshold: 10) })
        #expect(result.size == PixelSize(width: 64, height: 48))
    }

    @Test(arguments: [(5, 1), (1, 5), (2, 2)])
    func `An image of less than three pixels a side stays`(width: Int, height: Int) throws {
        let image = try Drawing.image(width, height) { x, y in x + y == 0 ? [0, 0, 0] : [255, 0, 0] }
        let result = try apply(Trim(threshold: 10), to: image)
        #expect(result.width == width && result.height == height)
    }

    @Test func `The threshold decides what still counts as border`() throws {
        let image = try Drawing.image(40, 30) { x, _ in
            x < 10 ? [100, 100, 100] : x < 20 ? [130, 130, 130] : [250, 250, 250]
        }
        #expect(try apply(Trim(threshold: 10), to: image).width == 30)
        #expect(try apply(Trim(threshold: 60), to: image).width == 20)
    }

    @Test func `A resize after a trim goes by the trimmed size`() throws {
        var recipe = Recipe.box(80)
        recipe.trim = Trim(threshold: 10)
        #expect(try produce(Fixture.image("geometry/border.png"), recipe).size == PixelSize(width: 80, height: 60))
    }

    @Test func `All frames of an animation are trimmed alike`() throws {
        let frames = try [5, 15].map { start in
            try Drawing.image(40, 20) { x, y in
                (start..<(start + 10)).contains(x) && (5..<15).contains(y) ? [255, 0, 0] : [0, 0, 0]
            }
        }
        let image = ImageFrames(frames: frames, delays: [10, 10])
        let plan = ChainPlan(source: image.size)
        let trimmed = try Trim(threshold: 10).apply(
            image, context: TransformContext(plan: plan, interrupt: { false }))
        #expect(trimmed.frames.map(\.width) == [20, 20])
        #expect(trimmed.size == PixelSize(width: 20, height: 10))
    }
}
