import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct AlphaTests {
    @Test(arguments: Resampling.allCases)
    func `The hidden color of transparent pixels does not bleed into visible ones`(_ resampling: Resampling) throws {
        let source = try Drawing.image(300, 300) { x, _ in x < 150 ? [255, 255, 255, 255] : [0, 0, 0, 0] }.png()
        for side in [40, 77, 400] {
            let pixels = try Pixels(produce(source, .box(side, side, enlarge: true, as: resampling)).body)
            for x in 0..<side where pixels[x, side / 2][3] > 8 {
                #expect(pixels.distance(x: x, y: side / 2, to: [255, 255, 255]) <= 2)
            }
        }
    }

    @Test func `An opaque alpha channel makes a scaled image neither darker nor brighter`() throws {
        let photo = try VipsLoader.jpeg.withImage(of: Fixture.image("formats/photo.jpg")) { image throws(VipsError) in
            try image.rendered()
        }
        let scaled = try produce(photo.addingAlpha().png(), .box(151)).body
        let result = try VipsLoader.png.withImage(of: scaled) { image throws(VipsError) in
            try image.band(0, count: 3).average()
        }
        #expect(try abs(result - photo.average()) < 0.1)
    }

    @Test func `Premultiplied colors lose nothing`() throws {
        let source = try Drawing.flat(200, 200, [201, 101, 51, 128]).png()
        let pixels = try Pixels(produce(source, .box(90, 90)).body)
        #expect(pixels.isFlat([201, 101, 51, 128]))
    }
}
