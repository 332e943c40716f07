import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

struct CoverCropTests {
    @Test func `The overhang is cropped evenly on both sides`() throws {
        let pixels = try Pixels(produce(Drawing.quarters(80, 40).png(), .box(20, 20, fit: .cover)).body)
        #expect(pixels.size == PixelSize(width: 20, height: 20))
        #expect(pixels.distance(x: 3, y: 3, to: Drawing.red.map(Int.init)) <= 2)
        #expect(pixels.distance(x: 16, y: 16, to: Drawing.yellow.map(Int.init)) <= 2)
    }

    @Test func `An anchor keeps its side`() throws {
        var recipe = Recipe.box(20, 20, fit: .cover)
        recipe.position = .anchor(x: 1, y: 0.5)
        let pixels = try Pixels(produce(Drawing.quarters(80, 40).png(), recipe).body)
        #expect(pixels.distance(x: 3, y: 3, to: Drawing.green.map(Int.init)) <= 2)
    }

    @Test func `Attention finds the bright disc, entropy the noise`() throws {
        var recipe = Recipe.box(120, 300, fit: .cover)
        recipe.position = .attention
        let disc = try Pixels(produce(Fixture.image("geometry/attention.png"), recipe).body)
        let dull = disc[0, 299]
        #expect((0..<120).contains { disc.distance(x: $0, y: 80, to: dull) > 60 })
        recipe.position = .entropy
        let noise = try Pixels(produce(Fixture.image("geometry/entropy.png"), recipe).body)
        let steps = (1..<120).map { abs(noise[$0, 220][0] - noise[$0 - 1, 220][0]) }
        #expect(steps.filter { $0 > 20 }.count > 40)
    }

    /// Two patches of noise of about the same detail. Blue rises from left to right and so says what was kept.
    private static func patches(_ width: Int, _ height: Int) throws -> VipsImage {
        try Drawing.image(width, height) { x, y in
            let noise = ((x * 7919 + y * 104_729) * 2_654_435_761 & 0xFFFF_FFFF) >> 24
            let isFirst = abs(x - 100) < 30 && abs(y - 100) < 60
            let isSecond = abs(x - 480) < 45 && abs(y - 100) < 40
            let green = isSecond ? (noise >> 1) % 64 * 2 + 40 : isFirst ? noise % 128 + 40 : 90
            return [128, UInt8(green), UInt8(x * 255 / (width - 1))]
        }
    }

    @Test(arguments: [Position.attention, .entropy], [false, true])
    func `A crop by content keeps the same part in every size`(_ position: Position, isCropped: Bool) throws {
        let picture = try Self.patches(600, 200)
        for source in [try picture.png(), try picture.jpeg(quality: 98)] {
            var places: [Double] = []
            for side in [24, 40, 64, 100, 140, 200] {
                var recipe = Recipe.box(side, side, fit: .cover)
                recipe.position = position
                if isCropped { recipe.crop = Crop(x: 40, y: 0, width: 540, height: 200) }
                let pixels = try Pixels(produce(source, recipe).body)
                #expect(pixels.size == PixelSize(width: side, height: side))
                let row = (0..<side).map { pixels[$0, side / 2][2] }
                places.append(Double(row.reduce(0, +)) / Double(side * 255))
            }
            #expect((places.max() ?? 1) - (places.min() ?? 0) < 0.03, "\(places)")
        }
    }

    @Test func `A crop by content at the end of the picture keeps its last pixels in every size`() throws {
        let picture = try Drawing.image(600, 200) { x, y in
            x < 500 ? [90, 90, 90] : [UInt8((x * 37 + y * 91) % 256), UInt8((x * 11 + y * 57) % 256), 200]
        }
        for side in [20, 50, 90, 200] {
            var recipe = Recipe.box(side, side, fit: .cover)
            recipe.position = .entropy
            let pixels = try Pixels(produce(picture.png(), recipe).body)
            // The last third of the picture, of which half is plain.
            let plain = (0..<side).prefix { pixels.distance(x: $0, y: side / 2, to: [90, 90, 90]) < 20 }.count
            #expect(abs(Double(plain) / Double(side) - 0.5) < 0.08, "\(side)")
        }
    }

    private static func drawing(_ width: Int, _ height: Int, _ filter: String = "") -> ByteBuffer {
        ByteBuffer(
            string: "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\">"
                + "<filter id=\"f\">\(filter)</filter>"
                + "<rect width=\"\(width)\" height=\"9\" fill=\"red\" filter=\"url(#f)\"/></svg>")
    }

    @Test(arguments: [(1, 100_000), (10, 6000), (100_000, 3)])
    func `A crop by content of a long drawing decides on few pixels`(width: Int, height: Int) throws {
        var recipe = Recipe.box(2, 2, fit: .cover)
        recipe.position = .attention
        let chain = TransformChain(recipe)
        let header = try SourceHeader(of: Self.drawing(width, height))
        let copy = try #require(chain.overview).plan(header.plan).size
        #expect(max(copy.width, copy.height) <= 4096 && copy.area <= 4096 * 64, "\(copy)")
        #expect(try produce(Self.drawing(10, 600), recipe).size == PixelSize(width: 2, height: 2))
    }

    @Test func `The plan of a crop by content counts the drawing of its copy`() throws {
        let drawing = Self.drawing(60, 40, "<feTurbulence baseFrequency=\".1\" numOctaves=\"100\"/>")
        func plan(_ position: Position, side: Int) throws -> ImagePlan {
            var recipe = Recipe.box(side, side, fit: .cover)
            recipe.position = position
            let job = ImageJob(
                source: drawing, chain: TransformChain(recipe), output: OutputOptions(format: .png))
            return try InProcessImageProcessor().plan(job)
        }
        let (chosen, centered) = (try plan(.attention, side: 8), try plan(.center, side: 8))
        // 256×171 pixels of 5 µs.
        #expect(chosen.expectedWork > centered.expectedWork + 200)
        #expect(chosen.estimatedMemoryBytes > centered.estimatedMemoryBytes + 256 * 171 * 4)
    }

    @Test func `A crop by content counts the reduction of what is decoded for the result, or a decode of its own`()
        throws
    {
        func added(_ source: ByteBuffer, side: Int) throws -> Double {
            let work = try [Position.attention, .center].map { position in
                var recipe = Recipe.box(side, side, fit: .cover)
                recipe.position = position
                let job = ImageJob(
                    source: source, chain: TransformChain(recipe), output: OutputOptions(format: .jpeg))
                return try InProcessImageProcessor().plan(job).expectedWork
            }
            return work[0] - work[1]
        }
        let area = 1600 * 1200
        let png = try Drawing.flat(1600, 1200, [9, 90, 200]).png()
        // The step alone, and 5 ns for each decoded pixel.
        #expect(abs(try added(png, side: 100) - 8.05 - 5 * Double(area) / 1e6) < 0.2)
        let jpeg = try VipsSaver.jpeg.encode(Drawing.flat(1600, 1200, [9, 90, 200]), [:])
        // The step, and a decode at a quarter of the size.
        #expect(try abs(added(jpeg, side: 100) - 10) < 1)
    }

    @Test func `A crop by content without a copy counts what is decoded, also as another service's clip`() {
        for position in [Position.attention, .entropy] {
            let crop = CoverCrop(box: nil, position: position)
            #expect(crop.cost.nanosecondsPerDecodedPixel == 0 && crop.cost.nanosecondsPerFrame > 0)
            #expect(crop.costWithoutOverview.nanosecondsPerDecodedPixel > 0)
            #expect(Clip(position: position).cost == crop.costWithoutOverview)
        }
        #expect(Clip(position: .center).cost == .none)
    }

    @Test func `Without enlarging, the box keeps its aspect ratio within the image`() throws {
        #expect(
            try produce(Drawing.quarters(80, 40).png(), .box(400, 400, fit: .cover)).size
                == PixelSize(width: 40, height: 40))
        for size in [[64, 36], [8, 36], [64, 3], [17, 17]] {
            let source = try Drawing.flat(size[0], size[1], Drawing.red).png()
            let small = try produce(source, .box(1600, 900, fit: .cover)).size
            #expect(small.width == size[0] || small.height == size[1])
            #expect(abs(Double(small.width) * 9 / 16 - Double(small.height)) <= 1)
        }
        let large = try produce(Drawing.quarters(80, 40).png(), .box(400, 400, fit: .cover, enlarge: true))
        #expect(large.size == PixelSize(width: 400, height: 400))
    }
}
