import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct ChainPlanTests {
    static let source = PixelSize(width: 4000, height: 2000)

    private func plan(_ recipe: Recipe, orientation: Int = 1) throws -> ChainPlan {
        try TransformChain(recipe).plan(ChainPlan(source: Self.source, orientation: orientation))
    }

    @Test func `A resize that comes first lets the decoder shrink`() throws {
        let plan = try plan(.box(400))
        #expect(plan.decode == .covering(PixelSize(width: 400, height: 200)))
        #expect(plan.size == PixelSize(width: 400, height: 200))
    }

    @Test func `The decoder's target is in the orientation of the stored image`() throws {
        let plan = try plan(.box(400), orientation: 6)
        #expect(plan.size == PixelSize(width: 400, height: 800))
        #expect(plan.decode == .covering(PixelSize(width: 800, height: 400)))
    }

    @Test func `A crop or a trim before the resize needs every pixel`() throws {
        var recipe = Recipe.box(400)
        recipe.crop = Crop(x: 0, y: 0, width: 1000, height: 1000)
        #expect(try plan(recipe).decode == .everyPixel)
        #expect(try plan(recipe).size == PixelSize(width: 400, height: 400))
        recipe.crop = nil
        recipe.trim = Trim(threshold: 10)
        #expect(try plan(recipe).decode == .everyPixel)
    }

    @Test func `Steps after the resize leave the decoder's hint alone`() throws {
        var recipe = Recipe.box(400, 400, fit: .cover)
        recipe.rotationDegrees = 45
        recipe.blur = Blur(sigma: 3)
        #expect(try plan(recipe).decode == .covering(PixelSize(width: 800, height: 400)))
    }

    @Test func `A step without a plan gets every pixel`() throws {
        struct Silent: Transform {
            var key: String { "silent" }
            func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames { image }
        }
        let chain = TransformChain([Silent(), Resize(box: Box(width: 40, height: nil))])
        #expect(try chain.plan(ChainPlan(source: Self.source)).decode == .everyPixel)
    }

    @Test func `The largest raster on the way is known before anything is decoded`() throws {
        var recipe = Recipe.box(8000, 10, fit: .cover, enlarge: true)
        recipe.rotationDegrees = 0
        let plan = try plan(recipe)
        #expect(plan.size == PixelSize(width: 8000, height: 10))
        #expect(plan.largest == PixelSize(width: 8000, height: 4000))
    }

    @Test(arguments: [
        ([60, 40], Resampling.fast, 8), ([96, 64], .fast, 8), ([97, 64], .fast, 4), ([96, 65], .fast, 4),
        ([192, 128], .fast, 4), ([193, 129], .fast, 2), ([385, 257], .fast, 2), ([386, 257], .fast, 1),
        ([385, 258], .fast, 1), ([1003, 669], .fast, 1), ([120, 80], .accurate, 4), ([60, 40], .accurate, 8),
        ([450, 300], .accurate, 1), ([120, 80], .linear, 4),
    ])
    func `The decoder shrinks as far as target and resampling allow`(
        _ target: [Int], _ resampling: Resampling, factor: Int
    ) {
        let source = PixelSize(width: 1003, height: 669)
        let covering = PixelSize(width: target[0], height: target[1])
        #expect(JPEGShrink.factor(source: source, covering: covering, headroom: resampling.headroom) == factor)
    }

    @Test func `No shrink leaves a side shorter than a block`() {
        for height in 1...64 {
            let source = PixelSize(width: 1000, height: height)
            let factor = JPEGShrink.factor(source: source, covering: PixelSize(width: 1, height: 1), headroom: 1)
            #expect(factor == 1 || height / factor >= 8)
        }
    }
}
