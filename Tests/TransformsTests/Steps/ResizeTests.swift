import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct ResizeTests {
    @Test(arguments: Resampling.allCases)
    func `A scaled photograph is still the same image, from every format`(_ resampling: Resampling) throws {
        for side in [40, 100, 233] {
            // Decoders shrink in their own ways for `fast`; `linear` limits how far.
            let measure = resampling == .fast ? .linear : resampling
            let reference = try Pixels(produce(Fixture.image("formats/photo.jpg"), .box(side, side, as: measure)).body)
            for name in ["photo.jpg", "progressive.jpg", "photo.webp", "photo.avif", "photo.heic", "photo.jxl"] {
                let pixels = try Pixels(
                    produce(Fixture.image("formats/\(name)"), .box(side, side, as: resampling)).body)
                #expect(pixels.size == reference.size)
                #expect(pixels.hashDistance(to: reference) <= 8, "\(name) at \(side)")
                let mean = pixels.meanDistance(to: reference)
                #expect(mean < 2, "\(name) at \(side): \(mean)")
            }
        }
    }

    @Test(arguments: Resampling.allCases)
    func `Flat colors come through every size and depth unchanged`(_ resampling: Resampling) throws {
        for depth in ["sixteen-bit.png", "squares.png", "palette.png"] {
            let pixels = try Pixels(produce(Fixture.image("color/\(depth)"), .box(40, 40, as: resampling)).body)
            #expect(pixels.distance(x: 5, y: 5, to: [0xE6, 0x19, 0x4B]) <= 2, "\(depth)")
            #expect(pixels.distance(x: 35, y: 15, to: [0xF0, 0x32, 0xE6]) <= 2, "\(depth)")
        }
    }

    @Test func `Fill stretches, and enlarges on request`() throws {
        let pixels = try Pixels(produce(Drawing.quarters(40, 20).png(), .box(100, 90, fit: .fill, enlarge: true)).body)
        #expect(pixels.size == PixelSize(width: 100, height: 90))
        #expect(pixels.distance(x: 20, y: 20, to: Drawing.red.map(Int.init)) <= 2)
        #expect(pixels.distance(x: 80, y: 80, to: Drawing.yellow.map(Int.init)) <= 2)
    }

    @Test func `One side may shrink while the other grows`() throws {
        let pixels = try Pixels(produce(Drawing.quarters(40, 40).png(), .box(20, 90, fit: .fill, enlarge: true)).body)
        #expect(pixels.size == PixelSize(width: 20, height: 90))
        #expect(pixels.distance(x: 4, y: 20, to: Drawing.red.map(Int.init)) <= 2)
        #expect(pixels.distance(x: 15, y: 75, to: Drawing.yellow.map(Int.init)) <= 2)
    }

    @Test(arguments: ["1000x1.jpg", "1x1000.jpg", "1x1.jpg", "7x5.jpg", "1x1.png"])
    func `The smallest images survive every resampling and size`(_ name: String) throws {
        for resampling in Resampling.allCases {
            for side in [1, 3, 50] {
                let result = try produce(Fixture.image("geometry/\(name)"), .box(side, side, as: resampling))
                #expect(max(result.size.width, result.size.height) <= side)
            }
        }
    }

    @Test func `A vector image is enlarged without a request`() throws {
        #expect(try produce(Fixture.image("svg/drawing.svg"), .box(800)).size == PixelSize(width: 800, height: 600))
    }
}
