import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

struct MarkTests {
    private static let blue = [30, 60, 200]
    private static let white: [UInt8] = [255, 255, 255]

    /// A picture with a mark drawn onto it, as PNG unless `output` says otherwise.
    private func marked(
        _ source: ByteBuffer, with mark: ByteBuffer?, _ placement: Mark, recipe: Recipe = Recipe(),
        output: OutputFormat = .png, limits: PixelLimits = PixelLimits()
    ) throws -> ProcessedImage {
        var recipe = recipe
        recipe.mark = placement
        var job = ImageJob(
            source: source, chain: TransformChain(recipe, limits: limits),
            output: OutputOptions(format: output, lossless: output == .webp),
            limits: limits)
        job.mark = mark
        return try InProcessImageProcessor().process(job, interrupt: { false })
    }

    private func picture(_ width: Int = 40, _ height: Int = 30) throws -> ByteBuffer {
        try Drawing.flat(width, height, Drawing.blue).png()
    }

    /// A picture of one color, in multiples of 40 × 30 pixels.
    private func large(_ times: Int, _ color: [UInt8]) throws -> VipsImage {
        try Drawing.flat(40, 30, color).applying("replicate", ["across": .int(times), "down": .int(times)])
    }

    /// The smallest rectangle with all pixels that are not blue.
    private func bounds(_ pixels: Pixels) -> [Int] {
        var (left, top, right, bottom) = (pixels.width, pixels.height, -1, -1)
        for y in 0..<pixels.height {
            for x in 0..<pixels.width where pixels.distance(x: x, y: y, to: Self.blue) > 0 {
                (left, top, right, bottom) = (min(left, x), min(top, y), max(right, x), max(bottom, y))
            }
        }
        return [left, top, right - left + 1, bottom - top + 1]
    }

    @Test func `A mark does not give an image the mark's owner`() throws {
        let mark = try Drawing.flat(10, 6, Drawing.red).setting(texts: ["exif-ifd0-Copyright": "Zoe (ASCII)"])
        for output in [OutputFormat.jpeg, .webp] {
            let image = try marked(picture(), with: mark.jpeg(), Mark(), output: output)
            let loader = try #require(SourceFormat(sniffing: image.body)?.row.loader)
            #expect(try !loader.withImage(of: image.body) { $0.has("exif-ifd0-Copyright") })
        }
    }

    // MARK: Placement

    @Test(arguments: [
        (Anchor.topLeft, [3, 2, 10, 6]), (.top, [18, 2, 10, 6]), (.topRight, [27, 2, 10, 6]),
        (.left, [3, 14, 10, 6]), (.center, [18, 14, 10, 6]), (.right, [27, 14, 10, 6]),
        (.bottomLeft, [3, 22, 10, 6]), (.bottom, [18, 22, 10, 6]), (.bottomRight, [27, 22, 10, 6]),
    ])
    func `A mark lies at its anchor, away from the edges by its offset`(anchor: Anchor, place: [Int]) throws {
        let mark = try Drawing.flat(10, 6, Drawing.red).png()
        let image = try marked(
            picture(), with: mark, Mark(anchor: anchor, x: .pixels(3), y: .pixels(2)))
        #expect(image.size == PixelSize(width: 40, height: 30))
        #expect(try bounds(Pixels(image.body)) == place)
    }

    @Test(arguments: [
        (Mark.Scaling.inside, [20, 12]), (.shrink, [10, 6]), (.cover, [20, 20]), (.fill, [20, 20]),
    ])
    func `A mark with a place of its own fits its box in four ways`(scaling: Mark.Scaling, size: [Int]) throws {
        var step = Mark(width: .pixels(20), height: .percent(66.67))
        step.placement = Mark.Placement(x: Place(.center), y: Place(.center))
        step.scaling = scaling
        var recipe = Recipe()
        recipe.steps = [.drawing(step)]
        let mark = try Drawing.flat(10, 6, Drawing.red).png()
        let image = try marked(picture(), with: mark, Mark(), recipe: recipe)
        #expect(try Array(bounds(Pixels(image.body)).suffix(2)) == size)
    }

    @Test(arguments: Mark.Scaling.allCases)
    func `A large mark with a place of its own is never larger than the image`(scaling: Mark.Scaling) {
        var mark = Mark(width: .pixels(90_000), height: .pixels(90_000))
        mark.placement = Mark.Placement(x: nil, y: nil)
        mark.scaling = scaling
        for natural in [PixelSize(width: 9000, height: 1), PixelSize(width: 3000, height: 4000)] {
            let size = mark.size(of: natural, on: PixelSize(width: 50, height: 60))
            #expect(size.area <= 4 << 20)
        }
    }

    private static let places: [(x: Place?, y: Place?, drawn: [Int])] = [
        (Place(.start, distance: .pixels(3)), Place(.end, distance: .pixels(2)), [3, 22, 10, 6]),
        (Place(.start, distance: .pixels(-4)), Place(.end, distance: .pixels(-4)), [0, 28, 6, 2]),
        (Place(.center), Place(.center, distance: .percent(10)), [15, 15, 10, 6]),
        (nil, Place(.end), [0, 24, 40, 6]), (Place(.end), nil, [30, 0, 10, 30]),
        (Place(.end, distance: .percent(100)), Place(.start), [40, 30, -40, -30]),
    ]

    @Test(arguments: places)
    func `A place of its own may be partly outside, or repeats the mark along a side`(
        x: Place?, y: Place?, drawn: [Int]
    ) throws {
        var step = Mark()
        step.placement = Mark.Placement(x: x, y: y)
        var recipe = Recipe()
        recipe.steps = [.drawing(step)]
        let mark = try Drawing.flat(10, 6, Drawing.red).png()
        let image = try marked(picture(), with: mark, Mark(), recipe: recipe)
        #expect(try bounds(Pixels(image.body)) == drawn)
    }

    @Test(arguments: [
        (Mark(), [10, 6]), (Mark(width: .pixels(5)), [5, 3]), (Mark(width: .percent(50)), [20, 12]),
        (Mark(height: .percent(10)), [5, 3]), (Mark(height: .pixels(12)), [20, 12]),
        (Mark(width: .pixels(30), height: .pixels(6)), [10, 6]), (Mark(width: .percent(100)), [40, 24]),
        (Mark(width: .pixels(8000)), [40, 24]), (Mark(width: .percent(0.01)), [1, 1]),
    ])
    func `A mark has the size that pixels or percent of the picture say, in its own proportions`(
        placement: Mark, size: [Int]
    ) throws {
        let image = try marked(picture(), with: Drawing.flat(10, 6, Drawing.red).png(), placement)
        #expect(try Array(bounds(Pixels(image.body)).suffix(2)) == size)
    }

    @Test func `A mark larger than the picture is scaled to fit into it`() throws {
        let image = try marked(picture(), with: Drawing.flat(400, 60, Drawing.red).png(), Mark())
        #expect(try bounds(Pixels(image.body)) == [0, 24, 40, 6])
    }

    @Test func `Percent follow the result rather than the source`() throws {
        let image = try marked(
            picture(400, 300), with: Drawing.flat(10, 6, Drawing.red).png(),
            Mark(width: .percent(50), x: .percent(10)), recipe: .box(100))
        #expect(try bounds(Pixels(image.body)) == [40, 45, 50, 30])
    }

    @Test func `No size, anchor and offset puts a mark outside the picture`() throws {
        var random = SystemRandomNumberGenerator()
        func side() -> Int { [1, 2, 7, 100, 8192, 65_535].randomElement(using: &random) ?? 1 }
        func length() -> Length {
            Bool.random(using: &random)
                ? .pixels(.random(in: -9000...9000, using: &random))
                : .percent(Percentage(hundredths: .random(in: -10_000...10_000, using: &random)))
        }
        let anchors = Anchor.allCases.map { $0 as Anchor? } + [nil]
        for _ in 0..<5_000 {
            let picture = PixelSize(width: side(), height: side())
            let natural = PixelSize(width: side(), height: side())
            let placement = Mark(
                width: Bool.random() ? length() : nil, height: Bool.random() ? length() : nil,
                anchor: anchors.randomElement(using: &random) ?? nil, x: length(), y: length())
            let size = placement.size(of: natural, on: picture)
            let corner = placement.corner(of: size, on: picture)
            let cell = placement.cell(of: size, on: picture)
            #expect(size.width >= 1 && size.height >= 1 && corner.x >= 0 && corner.y >= 0, "\(placement)")
            #expect(corner.x + size.width <= picture.width && corner.y + size.height <= picture.height, "\(placement)")
            #expect(cell.width <= picture.width && cell.height <= picture.height, "\(placement)")
            #expect(cell.width >= size.width && cell.height >= size.height, "\(placement)")
        }
    }

    // MARK: Tiles

    @Test func `Tiles cover the picture from its upper left corner, with gaps between them`() throws {
        let image = try marked(
            picture(), with: Drawing.flat(10, 6, Drawing.red).png(),
            Mark(anchor: nil, x: .pixels(2), y: .pixels(4)))
        let pixels = try Pixels(image.body)
        for y in 0..<30 {
            for x in 0..<40 {
                let isMark = x % 12 < 10 && y % 10 < 6
                #expect(pixels[x, y] == (isMark ? Drawing.red : Drawing.blue).map(Int.init), "\(x) \(y)")
            }
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [(1, 1), (1, 300), (300, 1), (257, 255)])
    func `Tiles of any size cover a huge picture`(width: Int, height: Int) throws {
        let image = try marked(
            large(100, Drawing.blue).png(), with: Drawing.flat(width, height, Drawing.red).png(), Mark(anchor: nil))
        let pixels = try Pixels(image.body)
        #expect(pixels.size == PixelSize(width: 4000, height: 3000))
        for x in stride(from: 0, to: 4000, by: 77) + [3999] {
            for y in stride(from: 0, to: 3000, by: 89) + [2999] {
                #expect(pixels[x, y] == Drawing.red.map(Int.init))
            }
        }
    }

    // MARK: Colors

    @Test(arguments: [
        (Mark.Blend.over, 100, [200, 100, 0]), (.over, 50, [115, 80, 100]), (.multiply, 100, [24, 24, 0]),
        (.screen, 100, [206, 136, 200]), (.darken, 100, [30, 60, 0]), (.lighten, 100, [200, 100, 200]),
        (.overlay, 100, [47, 47, 145]), (.hardLight, 100, [158, 47, 0]), (.difference, 100, [170, 40, 200]),
        (.exclusion, 100, [183, 113, 200]), (.colorDodge, 100, [139, 99, 200]), (.colorBurn, 100, [0, 0, 0]),
        (.softLight, 100, [61, 50, 157]),
    ])
    func `Colors are combined as the blend mode and the opacity say`(
        blend: Mark.Blend, opacity: Int, color: [Int]
    ) throws {
        let image = try marked(
            picture(), with: Drawing.flat(40, 30, [200, 100, 0]).png(), Mark(opacity: opacity, blend: blend))
        #expect(try Pixels(image.body).isFlat(color, tolerance: 1))
    }

    @Test func `Transparent parts of a mark show the picture, and opacity multiplies its own`() throws {
        let mark = try Drawing.image(40, 30) { x, _ in x < 20 ? [255, 255, 255, 0] : [255, 255, 255, 128] }.png()
        let pixels = try Pixels(marked(picture(), with: mark, Mark(opacity: 50)).body)
        #expect(pixels[10, 15] == Self.blue)
        #expect(pixels.distance(x: 30, y: 15, to: [86, 109, 214]) <= 1)
        #expect(pixels.bands == 3)
    }

    @Test(arguments: Mark.Blend.allCases)
    func `An invisible mark changes no sample, whatever lies below`(blend: Mark.Blend) throws {
        let mark = try Drawing.flat(40, 30, [255, 255, 255, 0]).png()
        for bands in [3, 4] {
            let source = try Drawing.image(40, 30) { x, y in
                [UInt8(x * 6), UInt8(y * 8), UInt8(x + y), UInt8(255 - x)].prefix(bands) + []
            }.png()
            let changed = try Pixels(marked(source, with: mark, Mark(blend: blend)).body)
            let own = try Pixels(produce(source).body)
            #expect(changed.meanDistance(to: own) == 0, "\(bands)")
        }
    }

    @Test func `A transparent picture keeps its alpha, and the mark is drawn onto it`() throws {
        let source = try Drawing.flat(40, 30, [0, 0, 0, 0]).png()
        let pixels = try Pixels(marked(source, with: Drawing.flat(10, 6, Drawing.red).png(), Mark()).body)
        #expect(pixels[0, 0].last == 0)
        #expect(pixels[39, 29] == Drawing.red.map(Int.init) + [255])
    }

    @Test func `A gray picture shows a mark in its colors`() throws {
        let source = try Drawing.flat(40, 30, [90]).png()
        let pixels = try Pixels(
            marked(
                source, with: Drawing.flat(10, 6, Drawing.red).png(), Mark(), recipe: .with { $0.filter = .greyscale }
            )
            .body)
        #expect(pixels[0, 0] == [90, 90, 90])
        #expect(pixels[39, 29] == Drawing.red.map(Int.init))
    }

    // MARK: Sources of marks

    @Test func `A mark is upright by its EXIF orientation`() throws {
        let upright = try Pixels(
            marked(picture(200, 200), with: Fixture.image("orientation/f-1.jpg"), Mark(width: .percent(100))).body)
        for orientation in [3, 6, 8] {
            let turned = try Pixels(
                marked(
                    picture(200, 200), with: Fixture.image("orientation/f-\(orientation).jpg"),
                    Mark(width: .percent(100))
                ).body)
            #expect(turned.meanDistance(to: upright) < 4, "\(orientation)")
        }
    }

    @Test func `CMYK and embedded profiles of a mark become sRGB`() throws {
        for name in ["color/cmyk-profile.jpg", "color/icc-swap.png", "color/sixteen-bit-icc-swap.png"] {
            let file = try Fixture.image(name)
            let own = try Pixels(produce(file).body)
            let image = try marked(picture(own.width, own.height), with: file, Mark())
            #expect(try Pixels(image.body).meanDistance(to: own) < 1, "\(name)")
        }
    }

    @Test func `An SVG is drawn at the size that it has on the picture`() throws {
        let svg = ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8" width="8" height="8">
                <rect width="8" height="4" fill="#ff0000"/><rect y="4" width="8" height="4" fill="#00ff00"/></svg>
                """)
        let pixels = try Pixels(marked(picture(400, 400), with: svg, Mark(width: .percent(100))).body)
        // Enlarged pixels would blend at the border.
        #expect(pixels[200, 198] == [255, 0, 0])
        #expect(pixels[200, 201] == [0, 255, 0])
    }

    @Test func `Each frame of an animation shows the mark, and the first frame of an animated mark is drawn`() throws {
        let animation = try Fixture.image("animation/opaque.gif")
        let own = try produce(animation, output: OutputOptions(format: .webp, lossless: true))
        let image = try marked(
            animation, with: Drawing.flat(4, 4, Self.white).png(), Mark(anchor: .topLeft), output: .webp)
        #expect(image.frames == own.frames && image.frames > 1)
        for frame in 0..<image.frames {
            #expect(try Pixels(image.body, frame: frame).distance(x: 1, y: 1, to: [255, 255, 255]) < 12, "\(frame)")
        }
        let first = try Pixels(marked(picture(300, 300), with: animation, Mark(anchor: .topLeft)).body)
        let alone = try Pixels(produce(animation, output: OutputOptions(format: .png)).body)
        #expect(first.distance(x: 2, y: 2, to: alone[2, 2]) <= 1)
    }

    @Test func `An animated mark with a place of its own plays along with an animation, again and again`() throws {
        let colors: [[UInt8]] = [[250, 0, 0], [0, 250, 0]]
        let mark = try Drawing.animation(colors.map { try Drawing.flat(4, 4, $0) })
        let source = try Drawing.animation((0..<5).map { try Drawing.flat(20, 10, [40, 60, 200 + $0]) })
        var step = Mark()
        step.placement = Mark.Placement(x: Place(.start), y: Place(.end))
        let recipe = Recipe.with { $0.steps = [.drawing(step)] }
        let image = try marked(source, with: mark, Mark(), recipe: recipe, output: .webp)
        #expect(image.frames == 5)
        for frame in 0..<image.frames {
            let pixels = try Pixels(image.body, frame: frame)
            #expect(pixels.distance(x: 1, y: 8, to: colors[frame % 2].map(Int.init)) < 12, "\(frame)")
            #expect(pixels.distance(x: 1, y: 1, to: [40, 60, 200 + frame]) <= 1, "\(frame)")
        }
        let still = try Pixels(marked(picture(), with: mark, Mark(), recipe: recipe).body)
        #expect(still.distance(x: 1, y: 28, to: [250, 0, 0]) < 12)
    }

    @Test func `The plan counts the frames of a mark that plays along`() throws {
        let frames = try (0..<8).map { try Drawing.flat(400, 400, [UInt8($0 * 30), 9, 9]) }
        var step = Mark(width: .percent(100))
        var job = ImageJob(
            source: try Drawing.animation(frames), chain: TransformChain([step]), output: OutputOptions(format: .webp))
        job.mark = job.source
        let alone = try PreparedJob(job).plan()
        step.placement = Mark.Placement(x: Place(.start), y: Place(.start))
        job.chain = TransformChain([step])
        let playing = try PreparedJob(job).plan()
        #expect(playing.estimatedMemoryBytes > alone.estimatedMemoryBytes + 7 * 400 * 400 * 4)
        #expect(playing.expectedWork > alone.expectedWork)
    }

    // MARK: Failures

    @Test(arguments: ["hostile/truncated.jpg", "hostile/truncated.png", "hostile/half-the-rows.png"])
    func `An error of the mark is told from one of the source`(name: String) throws {
        let broken = try Fixture.image(name)
        #expect(throws: ImageProcessingError.self) { try marked(picture(), with: broken, Mark()) }
        do { _ = try marked(picture(), with: broken, Mark()) } catch ImageProcessingError.mark(.corrupt, _) {} catch {
            Issue.record(error)
        }
        do { _ = try marked(broken, with: picture(), Mark()) } catch ImageProcessingError.corrupt {} catch {
            Issue.record(error)
        }
    }

    @Test func `What is no image and what is too large is refused as a mark`() throws {
        #expect(throws: ImageProcessingError.mark(.unsupported)) {
            try marked(picture(), with: ByteBuffer(string: "<html>"), Mark())
        }
        var limits = PixelLimits()
        limits.maxSourcePixels = 2_000
        do { _ = try marked(picture(), with: picture(60, 50), Mark(), limits: limits) } catch ImageProcessingError.mark(
            .tooLarge, _)
        {} catch { Issue.record(error) }
    }

    @Test func `There is no picture without its mark`() throws {
        #expect(throws: ImageProcessingError.transformFailed("the job has no bytes for its mark")) {
            try marked(picture(), with: nil, Mark())
        }
    }

    @Test func `The key has everything that changes pixels`() {
        var marks = [
            Mark(), Mark(width: .pixels(5)), Mark(height: .pixels(5)), Mark(width: .percent(5)), Mark(anchor: nil),
            Mark(x: .pixels(1)), Mark(y: .pixels(1)), Mark(opacity: 50), Mark(blend: .screen), Mark(),
        ]
        marks[9].content = "abc"
        #expect(Set(marks.map(\.key)).count == marks.count)
    }

    @Test func `The plan of an image counts its mark, and keeps every pixel for it`() throws {
        let source = try large(50, Drawing.blue).png()
        var job = ImageJob(source: source, chain: TransformChain(.with { $0.mark = Mark(width: .percent(100)) }))
        job.mark = try large(75, Drawing.red).png()
        let plain = try PreparedJob(ImageJob(source: source, chain: TransformChain(Recipe()))).plan()
        let plan = try PreparedJob(job).plan()
        #expect(plan.estimatedMemoryBytes > plain.estimatedMemoryBytes + 3000 * 2250 * 3)
        #expect(plan.expectedWork > plain.expectedWork)
        #expect(plan.steps.map(\.name) == ["decode", "orient", "srgb", "mark"])
        #expect(plan.size == PixelSize(width: 2000, height: 1500))
    }

    @Test func `A placeholder of a marked JPEG draws the mark before it shrinks the picture`() throws {
        let source = try large(40, Drawing.blue).jpeg()
        let mark = try large(40, Drawing.red).png()
        let color = try marked(source, with: mark, Mark(), output: .color)
        #expect(String(buffer: color.body) == "#dc1e1e")
    }
}
