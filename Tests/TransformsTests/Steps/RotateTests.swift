import DarkroomRequests
import DarkroomVips
import Synchronization
import Testing

@testable import DarkroomTransforms

struct RotateTests {
    @Test func `Quarter turns are clockwise and exact`() throws {
        let source = try Drawing.quarters(20, 10)
        let quarter = try apply(Rotate(degrees: 90), to: source)
        #expect(quarter.size == PixelSize(width: 10, height: 20))
        #expect(quarter[1, 1] == Drawing.blue.map(Int.init))
        #expect(quarter[8, 1] == Drawing.red.map(Int.init))
        #expect(try apply(Rotate(degrees: 180), to: source)[1, 1] == Drawing.yellow.map(Int.init))
        #expect(try apply(Rotate(degrees: 270), to: source)[1, 1] == Drawing.green.map(Int.init))
    }

    @Test(arguments: [1, 22.5, 30, 45, 100, 200, 359])
    func `Other angles enlarge the canvas to the planned size`(_ degrees: Double) throws {
        let rotate = Rotate(degrees: degrees)
        let planned = try rotate.planned(ChainPlan(source: PixelSize(width: 200, height: 100))).size
        let pixels = try apply(rotate, to: Drawing.flat(200, 100, [200, 40, 90]))
        #expect(abs(planned.width - pixels.width) <= 2 && abs(planned.height - pixels.height) <= 2)
        #expect(pixels[0, 0][3] == 0)
        #expect(pixels.distance(x: pixels.width / 2, y: pixels.height / 2, to: [200, 40, 90, 255]) <= 1)
    }

    @Test func `The image is computed once before it is turned by any angle`() throws {
        let strips = Mutex(0)
        let drawing = try Drawing.image(64, 64) { x, _ in [UInt8(x), 0, 0] }
        let lazy = ImageFrames(frames: [try drawing.applying("invert")])
        let context = TransformContext(plan: ChainPlan(source: lazy.size)) {
            strips.withLock { $0 += 1 }
            return false
        }
        _ = try Rotate(degrees: 45).apply(lazy, context: context)
        #expect(strips.withLock(\.self) > 0)
    }

    @Test func `Corners have the background color`() throws {
        let pixels = try apply(Rotate(degrees: 45, background: .white), to: Drawing.flat(50, 50, [0, 0, 0]))
        #expect(pixels.bands == 3)
        #expect(pixels[0, 0] == [255, 255, 255])
    }

    @Test func `A rotation alone decodes every pixel and comes after the resize`() throws {
        var recipe = Recipe.box(100)
        recipe.rotationDegrees = 90
        #expect(try produce(Fixture.image("formats/photo.jpg"), recipe).size == PixelSize(width: 67, height: 100))
    }
}
