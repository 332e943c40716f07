import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// The steps that only a list of steps has, and the order of a list.
struct ListedStepTests {
    private func result(_ steps: [EffectStep], width: Int = 40, height: Int = 20) throws -> Pixels {
        var recipe = Recipe()
        recipe.steps = steps
        let made = try produce(Drawing.quarters(width, height).png(), recipe)
        return try Pixels(made.body)
    }

    @Test func `Steps run in their order, as often as they are listed`() throws {
        let turnedFirst = try result([.rotate(degrees: 90), .excerpt(Self.leftHalf)])
        let cutFirst = try result([.excerpt(Self.leftHalf), .rotate(degrees: 90)])
        #expect(turnedFirst.size == PixelSize(width: 10, height: 40))
        #expect(cutFirst.size == PixelSize(width: 20, height: 20))
        #expect(try result([.scale(Scale(50)), .scale(Scale(50))]).size == PixelSize(width: 10, height: 5))
    }

    private static let leftHalf = Crop(x: .pixels(0), y: .pixels(0), width: .percent(50), height: .percent(100))

    @Test func `An excerpt leaves out what exceeds the image, and changes nothing outside of it`() throws {
        func cut(_ x: Length, _ y: Length, _ width: Length, _ height: Length) throws -> PixelSize {
            try result([.excerpt(Crop(x: x, y: y, width: width, height: height))]).size
        }
        #expect(try cut(.pixels(30), .pixels(15), .pixels(900), .pixels(900)) == PixelSize(width: 10, height: 5))
        #expect(try cut(.pixels(40), .pixels(0), .pixels(9), .pixels(9)) == PixelSize(width: 40, height: 20))
        #expect(try cut(.pixels(0), .pixels(0), .pixels(0), .pixels(9)) == PixelSize(width: 40, height: 20))
        #expect(try cut(.percent(25), .percent(0), .percent(33.33), .percent(100)) == PixelSize(width: 13, height: 20))
    }

    @Test func `Linear multiplies every sample and adds to each channel`() throws {
        let image = try apply(
            LinearTones(factor: 0.5, red: 10, green: -20, blue: 0),
            to: Drawing.image(4, 4) { _, _ in [200, 100, 50] })
        #expect(image[1, 1] == [126, 0, 25])
    }

    @Test func `A fill extends to the box of the resize and by its padding, turned with the image`() throws {
        var recipe = Recipe.box(40, 40)
        recipe.rules = .thumbor
        recipe.fit = .inside
        let fill = CanvasFill(.color(.color(.black)), padding: Padding(top: 1, right: 2, bottom: 3, left: 4))
        recipe.steps = [.canvas(fill)]
        let plain = try Pixels(try produce(Drawing.quarters(80, 40).png(), recipe).body)
        #expect(plain.size == PixelSize(width: 46, height: 44))
        #expect(plain[4, 5] == [0, 0, 0] && plain.distance(x: 5, y: 12, to: Drawing.red.map(Int.init)) < 20)
        recipe.steps = [.rotate(degrees: 90), .canvas(fill)]
        #expect(try produce(Drawing.quarters(80, 40).png(), recipe).size == PixelSize(width: 44, height: 46))
    }

    @Test func `A fill with the mean color, with transparency, or with the blurred image`() throws {
        let half = try Drawing.image(4, 2) { x, _ in x < 2 ? [0, 0, 0] : [200, 100, 50] }
        let padding = Padding(1)
        let mean = try apply(CanvasFill(.color(.average), padding: padding), to: half)
        #expect(mean.size == PixelSize(width: 6, height: 4) && mean[0, 0] == [100, 50, 25])
        let clear = try apply(CanvasFill(.color(.color(.transparent)), padding: padding), to: half)
        #expect(clear[0, 0] == [0, 0, 0, 0] && clear[1, 1] == [0, 0, 0, 255])
        let blurred = try apply(CanvasFill(.blur, padding: Padding(5)), to: Drawing.quarters(40, 20))
        #expect(blurred.size == PixelSize(width: 50, height: 30))
        #expect(blurred[6, 6] == Drawing.red.map(Int.init))
    }

    @Test func `A text lies where its edges say, also partly outside, with letters of a height`() throws {
        let start = Place(.start)
        func ink(_ caption: Caption) throws -> (columns: Range<Int>, rows: Range<Int>)? {
            let pixels = try apply(caption, to: Drawing.flat(200, 100, [255, 255, 255]))
            let isInked = { (x: Int, y: Int) in pixels[x, y][0] < 128 }
            let columns = (0..<200).filter { x in (0..<100).contains { isInked(x, $0) } }
            let rows = (0..<100).filter { y in (0..<200).contains { isInked($0, y) } }
            guard let left = columns.first, let right = columns.last, let top = rows.first, let bottom = rows.last
            else {
                return nil
            }
            return (left..<right + 1, top..<bottom + 1)
        }
        let corner = try #require(try ink(Caption("HI", x: start, y: start, size: .letters(40))))
        #expect(corner.columns.lowerBound <= 4 && corner.rows.lowerBound <= 2 && (36...40).contains(corner.rows.count))
        let far = Place(.end, distance: .pixels(10))
        let end = try #require(try ink(Caption("HI", x: far, y: far, size: .letters(40))))
        #expect((186...190).contains(end.columns.upperBound) && (87...90).contains(end.rows.upperBound))
        let outside = try #require(
            try ink(Caption("HI", x: Place(.start, distance: .pixels(-12)), y: start, size: .letters(40))))
        #expect(outside.columns.lowerBound == 0 && outside.columns.count < corner.columns.count)
        #expect(try ink(Caption("HI", x: Place(.start, distance: .percent(100)), y: start, size: .font(20))) == nil)
        let line = try #require(try ink(Caption("ab cd ef", x: start, y: start, size: .font(20))))
        let wrapped = try #require(
            try ink(Caption("ab cd ef", x: start, y: start, size: .font(20), width: .pixels(40))))
        #expect(wrapped.rows.count > 2 * line.rows.count && wrapped.columns.count < line.columns.count)
        var bold = Caption.Face()
        bold.isBold = true
        let wide = try #require(try ink(Caption("ab cd ef", x: start, y: start, size: .font(20), face: bold)))
        #expect(wide.columns.count > line.columns.count)
        var screened = Caption("ab cd ef", x: start, y: start, size: .font(20))
        screened.blend = .screen
        #expect(try ink(screened) == nil, "black letters")
    }

    @Test func `A text that would take too much memory is refused`() throws {
        let caption = Caption(
            String(repeating: "W", count: 200), x: Place(.start), y: Place(.start), size: .font(500))
        #expect(throws: TransformError.self) { try apply(caption, to: Drawing.flat(20, 10, [0, 0, 0])) }
    }

    @Test func `Lightness, saturation and hue in one step are clipped once`() throws {
        let source = try Drawing.flat(4, 4, [0, 160, 250]).png()
        func color(_ steps: [EffectStep]) throws -> [Int] {
            try Pixels(produce(source, .with { $0.steps = steps }).body)[1, 1]
        }
        let together = try color([.lightness(Lightness(factor: 1.5, chroma: 2, hueDegrees: 40))])
        let apart = try color([
            .lightness(Lightness(factor: 1.5)), .saturation(Saturation(factor: 2)), .hue(Hue(degrees: 40)),
        ])
        #expect(zip(together, apart).map { abs($0 - $1) }.reduce(0, max) > 10)
    }

    @Test func `With the rules of imagor, blocks are whole, and animations are neither blurred nor sharpened`() throws {
        func made(_ steps: [EffectStep], _ rules: Dialect, of source: ByteBuffer) throws -> ProcessedImage {
            var recipe = Recipe()
            (recipe.steps, recipe.rules) = (steps, rules)
            return try produce(source, recipe, output: OutputOptions(format: .webp, lossless: true))
        }
        let still = try Drawing.quarters(34, 26).png()
        let blocks = [EffectStep.pixelate(Pixelate(block: .pixels(10)))]
        #expect(try made(blocks, .thumbor, of: still).size == PixelSize(width: 30, height: 30))
        #expect(try made(blocks, .darkroom, of: still).size == PixelSize(width: 34, height: 26))
        let animation = try Fixture.image("animation/disposal.gif")
        let plain = try Pixels(made([], .thumbor, of: animation).body, frame: 1).samples
        for step in [EffectStep.blur(Blur(sigma: 3)), .sharpen(Sharpen(sigma: 3))] {
            #expect(try Pixels(made([step], .thumbor, of: animation).body, frame: 1).samples == plain)
            #expect(try Pixels(made([step], .darkroom, of: animation).body, frame: 1).samples != plain)
        }
    }

    @Test func `Rounded corners are transparent, or get a color`() throws {
        let clear = try apply(RoundCorners(across: 10, down: 10), to: Drawing.quarters(40, 20))
        #expect(clear[0, 0][3] == 0 && clear[20, 10][3] == 255)
        let filled = try apply(RoundCorners(across: 10, down: 5, background: .black), to: Drawing.quarters(40, 20))
        #expect(filled[0, 0] == [0, 0, 0] && filled[12, 0] == Drawing.red.map(Int.init))
    }

    @Test func `Every step has a key of its own, and its numbers are part of it`() {
        let steps: [EffectStep] = [
            .linear(LinearTones(factor: 1.5)), .linear(LinearTones(factor: 1, red: 1)),
            .linear(LinearTones(factor: 1, green: 1)), .linear(LinearTones(factor: 1, blue: 1)), .scale(Scale(50)),
            .scale(Scale(51)), .round(RoundCorners(across: 1, down: 2)), .round(RoundCorners(across: 2, down: 1)),
            .round(RoundCorners(across: 1, down: 2, background: .black)), .excerpt(Self.leftHalf),
            .caption(Caption("a", x: Place(.start), y: Place(.start), size: .font(9))),
            .caption(Caption("b", x: Place(.start), y: Place(.start), size: .font(9))),
            .caption(Caption("a", x: Place(.end), y: Place(.start), size: .font(9))),
            .caption(Caption("a", x: Place(.start), y: Place(.start), size: .letters(9))),
            .lightness(Lightness(factor: 1, chroma: 2)), .lightness(Lightness(factor: 1, hueDegrees: 2)),
            .canvas(CanvasFill(.blur)), .pad(CanvasFill(.blur)), .pad(CanvasFill(.color(.average))),
            .pad(CanvasFill(.blur, padding: Padding(1))), .flatten(.average), .flatten(.color(.black)), .flip, .flop,
            .rotate(degrees: 90), .rotate(degrees: 180), .trim(Trim(threshold: 9)),
        ]
        let keys = steps.map { step in
            var recipe = Recipe()
            recipe.steps = [step]
            return TransformChain(recipe).key
        }
        #expect(Set(keys).count == keys.count)
    }

    @Test func `An inset cuts off each side, and must leave something`() throws {
        var recipe = Recipe()
        recipe.inset = Inset(Padding(top: 1, right: 2, bottom: 3, left: 4))
        #expect(try produce(Drawing.quarters(40, 20).png(), recipe).size == PixelSize(width: 34, height: 16))
        recipe.inset = Inset(Padding(top: 10, right: 0, bottom: 10, left: 0))
        #expect(throws: ImageProcessingError.self) { try produce(Drawing.quarters(40, 20).png(), recipe) }
    }

    @Test func `trim takes the color of the corner, and thumbor's rules crop at the same time`() throws {
        let framed = try Drawing.image(40, 20) { x, y in
            (10..<30).contains(x) && (5..<15).contains(y) ? [255, 0, 0] : x + y < 5 ? [0, 255, 0] : [0, 0, 0]
        }
        var trim = Trim(threshold: 10)
        trim.corner = .bottomRight
        #expect(trim.key != Trim(threshold: 10).key)
        trim.within = Crop(x: 20, y: 0, width: 90, height: 10).with(.loose, droppingLastPixel: true)
        let frames = ImageFrames(frames: [framed])
        let context = TransformContext(plan: ChainPlan(source: frames.size), interrupt: { false })
        #expect(try trim.apply(frames, context: context).size.width <= 19)
    }

    @Test func `A point of the source is kept in the middle`() throws {
        var recipe = Recipe.box(20, 20, fit: .cover, enlarge: true)
        recipe.rules = .thumbor
        for (x, color) in [(0.0, Drawing.red), (79, Drawing.green)] {
            recipe.position = .point(x: x, y: 0)
            let pixels = try Pixels(try produce(Drawing.quarters(80, 40).png(), recipe).body)
            #expect(pixels.distance(x: 5, y: 5, to: color.map(Int.init)) < 3)
        }
    }

    @Test func `The key of a text tells its mode from its letters`() {
        let start = Place(.start, distance: .pixels(0))
        for blend in Mark.Blend.allCases {
            var blended = Caption("a", x: start, y: start, size: .font(20))
            blended.blend = blend
            let spelled = Caption("\(blend.rawValue),a", x: start, y: start, size: .font(20))
            #expect(blended.key != spelled.key)
        }
    }
}
