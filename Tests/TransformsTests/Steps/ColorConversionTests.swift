import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

struct ColorConversionTests {
    @Test(arguments: [
        "squares.png", "squares.jpg", "sixteen-bit.png", "icc-swap.png", "icc-swap.jpg", "icc-swap.webp",
        "icc-swap.avif",
        "icc-swap.tiff", "sixteen-bit-icc-swap.png", "display-p3.png", "display-p3.jpg", "bad-profile.jpg",
    ])
    func `Scaled images of every color space show the same colors, and the result needs no profile`(
        _ name: String
    ) throws {
        for resampling in Resampling.allCases {
            let result = try produce(Fixture.image("color/\(name)"), .box(80, 80, as: resampling))
            let pixels = try Pixels(result.body)
            for (x, y, color) in [(10, 10, 0xE6194B), (30, 10, 0x3CB44B), (70, 10, 0x4363D8), (10, 70, 0xFFFFFF)] {
                #expect(pixels.distance(x: x, y: y, to: [color >> 16, color >> 8 & 255, color & 255]) <= 18, "\(name)")
            }
            let hasProfile = try VipsLoader.png.withImage(of: result.body) { $0.has("icc-profile-data") }
            #expect(!hasProfile)
        }
    }

    @Test func `Gray becomes three equal channels and keeps its alpha`() throws {
        #expect(try apply(ColorConversion(), to: Drawing.flat(4, 4, [90])).isFlat([90, 90, 90]))
        let pixels = try apply(ColorConversion(), to: Drawing.flat(4, 4, [90, 40]))
        #expect(pixels.isFlat([90, 90, 90, 40]))
    }

    @Test(arguments: [("char", -28.0, 100), ("short", -7068, 100), ("uint", 1_684_300_900, 100), ("float", 100, 100)])
    func `Other samples are converted to bytes`(_ format: String, _ value: Double, _ expected: Int) throws {
        let image = try Drawing.flat(4, 4, [0]).applying("linear", ["a": 0, "b": .double(value)])
            .applying("cast", ["format": .string(format)])
            .applying("copy", ["interpretation": format == "short" || format == "uint" ? "grey16" : "b-w"])
        let pixels = try image.withUnsignedSamples().convertedToSRGB().asPixels()
        #expect(pixels.isFlat([expected, expected, expected], tolerance: 1))
    }

    @Test func `Three colors and one alpha of many channels are kept`() throws {
        let many = try Drawing.flat(4, 4, [10, 20, 30, 200, 7, 8])
        #expect(try apply(ColorConversion(), to: many).isFlat([10, 20, 30, 200]))
    }
}
