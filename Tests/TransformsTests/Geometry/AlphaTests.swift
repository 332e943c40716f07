import Testing
import Vips

@testable import Transforms

struct AlphaTests {
    @Test(arguments: Resampling.allCases)
    func `The hidden colour of transparent pixels does not bleed into visible ones`(_ resampling: Resampling) throws {
        let source = try Drawing.image(300, 300) { x, _ in x < 150 ? [255, 255, 255, 255] : [0, 0, 0, 0] }.png()
        for side in [40, 77, 400] {
            let pixels = try Pixels(produce(source, .box(side, side, enlarge: true, as: resampling)).body)
            for x in 0..<side where pixels[x, side / 2][3] > 8 {
                #expect(pixels.distance(x: x, y: side / 2, to: [255, 255, 255]) <= 2)
            }
        }
    }

    @Test(arguments: [Resampling.fast, .linear])
    func `An opaque alpha channel neither darkens nor brightens a picture`(_ resampling: Resampling) throws {
        let photo = try Fixture.image("formats/photo.jpg")
        let opaque = try VipsLoader.jpeg.withImage(of: photo) { image throws(VipsError) in
            try image.addingAlpha().png()
        }
        // Both decode every pixel, so that nothing but the channel differs.
        let plain = try VipsLoader.jpeg.withImage(of: photo) { image throws(VipsError) in try image.png() }
        let with = try Pixels(produce(opaque, .box(151, as: resampling)).body)
        let without = try Pixels(produce(plain, .box(151, as: resampling)).body)
        var difference = 0
        for y in 0..<with.height {
            for x in 0..<with.width { difference += with[x, y][1] - without[x, y][1] }
        }
        #expect(abs(Double(difference)) / Double(with.width * with.height) < 0.1)
    }

    @Test func `Nothing is lost on the way through premultiplied colours`() throws {
        let source = try Drawing.flat(200, 200, [201, 101, 51, 128]).png()
        let pixels = try Pixels(produce(source, .box(90, 90)).body)
        #expect(pixels.isFlat([201, 101, 51, 128]))
    }
}
