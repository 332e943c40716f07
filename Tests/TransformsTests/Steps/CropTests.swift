import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct CropTests {
    @Test func `A crop cuts just its rectangle`() throws {
        let pixels = try apply(Crop(x: 10, y: 5, width: 10, height: 5), to: Drawing.quarters(20, 10))
        #expect(pixels.size == PixelSize(width: 10, height: 5))
        #expect(pixels.isFlat(Drawing.yellow.map(Int.init)))
    }

    @Test(arguments: [
        Crop(x: 0, y: 0, width: 21, height: 1), Crop(x: 20, y: 0, width: 1, height: 1),
        Crop(x: 0, y: 9, width: 1, height: 2),
        Crop(x: -1, y: 0, width: 2, height: 2), Crop(x: 0, y: 0, width: 0, height: 5),
        Crop(x: .max, y: 0, width: 2, height: 2), Crop(x: 2, y: 0, width: .max, height: 2),
    ])
    func `A crop that leaves the image is refused from the header`(_ crop: Crop) throws {
        let error = #expect(throws: TransformError.self) {
            try crop.planned(ChainPlan(source: PixelSize(width: 20, height: 10)))
        }
        #expect(error?.parameter == "crop")
    }

    @Test func `A crop before a resize is taken from the full image`() throws {
        var recipe = Recipe.box(5)
        recipe.crop = Crop(x: 0, y: 0, width: 320, height: 240)
        let result = try produce(Drawing.quarters(640, 480).jpeg(), recipe)
        #expect(result.size == PixelSize(width: 5, height: 4))
        #expect(try Pixels(result.body).isFlat(Drawing.red.map(Int.init), tolerance: 12))
    }
}
