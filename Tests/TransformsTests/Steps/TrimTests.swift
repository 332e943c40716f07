import DarkroomRequests
import DarkroomTestRandom
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

    private static let dots: [(String, [(x: Int, y: Int)])] = [
        ("a dot", [(3, 2), (3, 2)]), ("two dots in opposite corners", [(39, 29), (1, 1)]),
        ("a row of one pixel", (5..<30).map { ($0, 28) }), ("a column of one pixel", (5..<29).map { (38, $0) }),
    ]

    @Test(arguments: dots)
    func `The outermost pixel stays, however thin the drawing`(name: String, pixels: [(x: Int, y: Int)]) throws {
        for (ground, ink) in [([255, 255, 255], [0, 0, 0]), ([0, 0, 0, 0], [0, 0, 0, 255])] as [([UInt8], [UInt8])] {
            let image = try Drawing.image(40, 30) { x, y in pixels.contains { $0 == (x, y) } ? ink : ground }
            let result = try apply(Trim(threshold: 10), to: image)
            let (xs, ys) = (pixels.map(\.x), pixels.map(\.y))
            #expect(result.width == (xs.max() ?? 0) - (xs.min() ?? 0) + 1, "\(name)")
            #expect(result.height == (ys.max() ?? 0) - (ys.min() ?? 0) + 1, "\(name)")
        }
    }

    private static let inks: [(ground: [UInt8], ink: [UInt8])] = [
        ([0, 0, 0, 0], [0, 0, 0, 255]), ([255, 255, 255, 0], [255, 255, 255, 255]), ([9, 99, 200, 0], [0, 0, 0, 1]),
        ([255, 255, 255, 255], [255, 255, 255, 0]), ([40, 40, 40, 128], [40, 40, 40, 255]),
        ([0, 255], [0, 0]), ([7, 0], [7, 20]), ([100, 100, 100], [100, 111, 100]),
    ]

    @Test(arguments: inks)
    func `Transparency is not a color`(ground: [UInt8], ink: [UInt8]) throws {
        let image = try Drawing.image(30, 20) { x, y in (5..<15).contains(x) && (4..<10).contains(y) ? ink : ground }
        let result = try apply(Trim(threshold: 10), to: image)
        #expect(result.width == 10 && result.height == 6)
    }

    @Test func `The hidden color of transparent pixels is no drawing, and the border's color counts as far as shown`()
        throws
    {
        let image = try Drawing.image(30, 20) { x, y in
            x < 3 ? [255, 0, 0, 0] : x < 20 ? [0, 0, 0, 0] : [255, 255, 255, 255]
        }
        #expect(try apply(Trim(threshold: 10), to: image).width == 10)
        #expect(try apply(Trim(threshold: 10, background: .white), to: image).width == 30)
    }

    @Test(arguments: [50, 80, 95])
    func `Traces of a lossy encoding are no drawing, and a thin line is one`(quality: Int) throws {
        let drawing = try Drawing.image(160, 120) { x, y in
            (45..<101).contains(x) && (35..<83).contains(y) ? [0, 0, 0] : [255, 255, 255]
        }
        let thin = try Drawing.image(160, 120) { x, y in
            let isInside = (11...141).contains(x) && (13...109).contains(y)
            return isInside && (x == 11 || x == 141 || y == 13) ? [0, 0, 0] : [255, 255, 255]
        }
        let square = try produce(drawing.jpeg(quality: quality), .with { $0.trim = Trim(threshold: 10) })
        #expect((56...60).contains(square.size.width) && (48...52).contains(square.size.height), "\(square.size)")
        let lines = try produce(thin.jpeg(quality: quality), .with { $0.trim = Trim(threshold: 10) })
        // Strong traces of a line reach up to the end of its blocks of 8 pixels.
        #expect((131...136).contains(lines.size.width) && (97...104).contains(lines.size.height), "\(lines.size)")
    }

    @Test func `Sixteen-bit, gray and CMYK samples are compared as sRGB`() throws {
        let image = try Drawing.image(40, 30) { x, y in x == 20 && y > 3 ? [255, 0, 0, 255] : [0, 0, 0, 0] }
        let deep = try image.applying("cast", ["format": "ushort", "shift": true])
            .applying("copy", ["interpretation": "rgb16"])
        let cmyk = try Drawing.image(40, 30) { x, _ in x < 7 ? [0, 0, 0, 255] : [0, 0, 0, 0] }
            .applying("copy", ["interpretation": "cmyk"])
        let context = TransformContext(plan: ChainPlan(source: deep.size), interrupt: { false })
        let images = [deep, cmyk].map { ImageFrames(frames: [$0]) }
        let trimmed = try images.map { try Trim(threshold: 10).apply($0, context: context) }
        #expect(trimmed.map(\.size) == [PixelSize(width: 1, height: 26), PixelSize(width: 33, height: 30)])
    }

    @Test(arguments: [Dialect.wsrv, .imgproxy, .thumbor])
    func `Other services' rules ignore specks, as before`(rules: Dialect) throws {
        let image = try Drawing.image(60, 40) { x, y in
            (20..<40).contains(x) && (10..<30).contains(y) || x == 3 && y == 3 ? [0, 0, 0] : [255, 255, 255]
        }
        let recipe = Recipe.with { ($0.trim, $0.rules) = (Trim(threshold: 10), rules) }
        #expect(try produce(image.png(), recipe).size == PixelSize(width: 20, height: 20))
        let own = try produce(image.png(), .with { $0.trim = Trim(threshold: 10) })
        #expect(own.size == PixelSize(width: 37, height: 27))
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `Specks are ignored as find_trim of libvips ignores them`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let (width, height) = (Int.random(in: 3...40, using: &random), Int.random(in: 3...600, using: &random))
        let (density, threshold) = (Double.random(in: 0...0.2, using: &random), Int.random(in: 1...120, using: &random))
        let border: [UInt8] = (0..<3).map { _ in .random(in: 0...255, using: &random) }
        let image = try Drawing.image(width, height) { _, _ in
            border.map { .random(in: 0..<1, using: &random) < density ? .random(in: 0...255, using: &random) : $0 }
        }
        let found = try image.measuring(
            "find_trim", ["threshold": .int(threshold), "background": .doubles(border.map { Double($0) })],
            ints: ["left", "top", "width", "height"])
        let scan = try SpeckScan(
            image, border: border.map { Double($0) }, threshold: threshold, interrupt: { false })
        let area = scan.area.map { [$0.left, $0.top, $0.size.width, $0.size.height] }
        #expect(area == (found[2] > 0 ? found : nil))
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
