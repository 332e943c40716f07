import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct OrientTests {
    /// Which corner of a stored image (red, green, blue, yellow, row by row) is seen where (EXIF 2.32, tag 274).
    static let corners: [(Int, [[UInt8]])] = [
        (1, [Drawing.red, Drawing.green, Drawing.blue, Drawing.yellow]),
        (2, [Drawing.green, Drawing.red, Drawing.yellow, Drawing.blue]),
        (3, [Drawing.yellow, Drawing.blue, Drawing.green, Drawing.red]),
        (4, [Drawing.blue, Drawing.yellow, Drawing.red, Drawing.green]),
        (5, [Drawing.red, Drawing.blue, Drawing.green, Drawing.yellow]),
        (6, [Drawing.blue, Drawing.red, Drawing.yellow, Drawing.green]),
        (7, [Drawing.yellow, Drawing.green, Drawing.blue, Drawing.red]),
        (8, [Drawing.green, Drawing.yellow, Drawing.red, Drawing.blue]),
    ]

    @Test(arguments: corners)
    func `Each orientation, of the file or of the request, puts the corners in their place`(
        _ orientation: Int, _ expected: [[UInt8]]
    ) throws {
        let drawing = try Drawing.quarters(40, 20)
        let stated = try drawing.setting(ints: ["orientation": orientation]).jpeg(quality: 100)
        let asked = try produce(drawing.png(), .with { $0.orientation = .exif(orientation) })
        for pixels in [try Pixels(produce(stated).body), try Pixels(asked.body)] {
            #expect(pixels.size == PixelSize(width: orientation < 5 ? 40 : 20, height: orientation < 5 ? 20 : 40))
            let (right, bottom) = (pixels.width - 3, pixels.height - 3)
            for ((x, y), color) in zip([(2, 2), (right, 2), (2, bottom), (right, bottom)], expected) {
                #expect(pixels.distance(x: x, y: y, to: color.map(Int.init)) < 12)
            }
        }
    }

    @Test func `None leaves pixels as stored, and no result has an orientation field`() throws {
        let source = try Fixture.image("orientation/f-6.jpg")
        #expect(try produce(source, .with { $0.orientation = .none }).size == PixelSize(width: 160, height: 120))
        let result = try produce(source, output: OutputOptions(format: .jpeg))
        #expect(try SourceHeader(of: result.body).orientation == 1)
    }

    @Test func `A request's orientation replaces the file's`() throws {
        let source = try Drawing.quarters(40, 20).setting(ints: ["orientation": 6]).jpeg(quality: 100)
        let pixels = try Pixels(produce(source, .with { $0.orientation = .exif(2) }).body)
        #expect(pixels.distance(x: 2, y: 2, to: Drawing.green.map(Int.init)) < 12)
    }

    @Test func `Crops refer to the upright image`() throws {
        var recipe = Recipe()
        recipe.crop = Crop(x: 0, y: 0, width: 10, height: 20)
        let source = try Drawing.quarters(40, 20).setting(ints: ["orientation": 6]).jpeg(quality: 100)
        #expect(try Pixels(produce(source, recipe).body).isFlat(Drawing.blue.map(Int.init), tolerance: 12))
    }
}
