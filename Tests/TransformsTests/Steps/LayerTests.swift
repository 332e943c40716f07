import DarkroomMachine
import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Pictures that are drawn onto the finished result.
struct LayerTests {
    private static let blue = [30, 60, 200]

    /// A blue picture with layers, whose images are given by content.
    private func job(
        _ layers: [Layer], _ images: [String: ByteBuffer], limits: PixelLimits = PixelLimits(),
        recipe: Recipe = Recipe()
    ) throws -> ImageJob {
        var recipe = recipe
        recipe.layers = layers
        var job = ImageJob(
            source: try Drawing.flat(40, 30, Drawing.blue).png(), chain: TransformChain(recipe, limits: limits),
            output: OutputOptions(format: .png), limits: limits)
        job.images = images.mapValues { DrawnImage(SharedBytes($0)) }
        return job
    }

    private func pixels(_ layers: [Layer], _ images: [String: ByteBuffer], recipe: Recipe = Recipe()) throws -> Pixels {
        try Pixels(
            InProcessImageProcessor().process(job(layers, images, recipe: recipe), interrupt: { false }).body)
    }

    private func layer(
        _ name: String, _ x: Place = Place(.start), _ y: Place = Place(.start),
        _ change: (inout Recipe) -> Void = { _ in }
    ) -> Layer {
        var picture = Picture(.with(change))
        picture.content = name
        return Layer(name, .picture(picture), x: x, y: y)
    }

    private func images() throws -> [String: ByteBuffer] {
        ["a": try Drawing.flat(10, 6, Drawing.red).png(), "b": try Drawing.flat(80, 60, [0, 250, 0]).png()]
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

    @Test(arguments: [
        (Place(.start), Place(.start), [0, 0, 10, 6]), (Place(.center), Place(.end), [15, 24, 10, 6]),
        (Place(.end, distance: .pixels(3)), Place(.start, distance: .percent(10)), [27, 3, 10, 6]),
        (Place(.end, distance: .pixels(-4)), Place(.start, distance: .pixels(-2)), [34, 0, 6, 4]),
    ])
    func `A layer lies at its place, also partly outside`(x: Place, y: Place, expected: [Int]) throws {
        #expect(try bounds(pixels([layer("a", x, y)], images())) == expected)
    }

    @Test func `A layer wholly outside draws nothing`() throws {
        let outside = layer("a", Place(.start, distance: .pixels(99)))
        #expect(try bounds(pixels([outside], images())) == [40, 30, -40, -30])
    }

    @Test(arguments: [
        (Box(horizontal: .percent(50), vertical: nil), Fit.inside, [0, 0, 20, 12]),
        (Box(width: 20, height: 20), .inside, [0, 0, 20, 12]), (Box(width: 20, height: 20), .cover, [0, 0, 20, 20]),
        (Box(width: 20, height: 8), .fill, [0, 0, 20, 8]),
        (Box(horizontal: nil, vertical: .percent(100)), .inside, [0, 0, 40, 30]),
    ])
    func `A box is in pixels or in percent of the image below`(box: Box, fit: Fit, expected: [Int]) throws {
        let layer = layer("a") { ($0.box, $0.fit, $0.enlarge) = (box, fit, true) }
        #expect(try bounds(pixels([layer], images())) == expected)
    }

    @Test func `A picture without a box keeps its size, or is scaled down to the image`() throws {
        #expect(try bounds(pixels([layer("a")], images())) == [0, 0, 10, 6])
        #expect(try bounds(pixels([layer("b")], images())) == [0, 0, 40, 30])
    }

    @Test func `Later layers cover earlier ones`() throws {
        let top = try pixels([layer("b"), layer("a")], images())
        #expect(top.distance(x: 5, y: 3, to: [220, 30, 30]) < 5 && top.distance(x: 20, y: 20, to: [0, 250, 0]) == 0)
        let below = try pixels([layer("a"), layer("b")], images())
        #expect(below.distance(x: 5, y: 3, to: [0, 250, 0]) == 0)
    }

    @Test func `Layers are drawn after the mask and the padding of the image`() throws {
        let recipe = Recipe.with { ($0.mask, $0.padding) = (.circle, Padding(5)) }
        let made = try pixels([layer("a")], images(), recipe: recipe)
        #expect(made.width == 50 && made.distance(x: 0, y: 0, to: [220, 30, 30]) < 5)
    }

    @Test func `A picture is changed by its own steps before it is drawn`() throws {
        let turned = layer("a") { $0.rotationDegrees = 90 }
        #expect(try bounds(pixels([turned], images())) == [0, 0, 6, 10])
        let cut = layer("b") { recipe in
            recipe.crop = Crop(x: .pixels(0), y: .pixels(0), width: .pixels(8), height: .pixels(4))
        }
        #expect(try bounds(pixels([cut], images())) == [0, 0, 8, 4])
        let round = layer("a") { $0.radius = CornerRadii(.pixels(3)) }
        let made = try pixels([round], images())
        #expect(made.distance(x: 0, y: 0, to: Self.blue) < 20 && made.distance(x: 5, y: 3, to: Self.blue) > 100)
    }

    @Test func `Opacity and blend mode are the layer's own`() throws {
        var half = layer("b")
        half.opacity = 50
        #expect(try pixels([half], images()).distance(x: 5, y: 5, to: [15, 155, 100]) <= 3)
        var screen = layer("b")
        screen.blend = .screen
        #expect(try pixels([screen], images()).distance(x: 5, y: 5, to: [30, 251, 200]) <= 3)
    }

    @Test func `The key of a chain tells layers apart, whatever their names`() throws {
        let keys = [
            [layer("a")], [layer("b")], [layer("a"), layer("b")], [layer("b"), layer("a")],
            [layer("a", Place(.end))], [layer("a") { $0.flip = true }],
            [layer("a") { $0.box = Box(horizontal: .percent(50), vertical: nil) }],
        ].map { layers in TransformChain(.with { $0.layers = layers }).key }
        #expect(Set(keys).count == keys.count)
        var renamed = layer("a")
        renamed.name = "z"
        #expect(TransformChain(.with { $0.layers = [renamed] }).key == keys[0])
    }

    @Test func `A text is a layer too, at its box's place`() throws {
        var box = TextBox("II", width: .pixels(20), height: .pixels(12), size: 8)
        box.background = Color(red: 220, green: 30, blue: 30)
        let text = Layer("t", .text(box), x: Place(.end, distance: .pixels(2)), y: Place(.end))
        #expect(try bounds(pixels([text], [:])) == [18, 18, 20, 12])
        let covered = try pixels([text, layer("b")], images())
        #expect(covered.distance(x: 20, y: 20, to: [0, 250, 0]) == 0)
        #expect(TransformChain(.with { $0.layers = [text] }).key != TransformChain(.with { _ in }).key)
    }

    @Test func `The cost of a layer counts its decode, its steps and its composite`() throws {
        let large = try Drawing.flat(40, 30, [0, 250, 0])
            .applying("replicate", ["across": .int(50), "down": .int(50)]).png()
        let processor = InProcessImageProcessor()
        let plain = try processor.plan(job([], [:])).expectedWork
        let one = try processor.plan(job([layer("b")], ["b": large])).expectedWork
        let two = try processor.plan(job([layer("b"), layer("b")], ["b": large])).expectedWork
        let blurred = try processor.plan(
            job([layer("b") { ($0.box, $0.blur) = (Box(width: 900, height: nil), Blur(sigma: 9)) }], ["b": large])
        ).expectedWork
        #expect(one > plain + 10 && two > one + 10 && blurred > one)
        let small = layer("b") { $0.box = Box(width: 4, height: 4) }
        #expect(try processor.plan(job([small], ["b": large])).expectedWork < one)
    }

    @Test func `A picture beyond the limits is refused under its name before it is decoded`() throws {
        var limits = PixelLimits()
        limits.maxSourcePixels = 2_000
        let large = try job([layer("b")], images(), limits: limits)
        do { _ = try InProcessImageProcessor().plan(large) } catch ImageProcessingError.mark(.tooLarge, "b") {} catch {
            Issue.record(error)
        }
        let broken = try job([layer("a")], ["a": ByteBuffer(string: "<html>")])
        #expect(throws: ImageProcessingError.mark(.unsupported, name: "a")) {
            try InProcessImageProcessor().plan(broken)
        }
        let missing = try job([layer("a")], [:])
        #expect(throws: ImageProcessingError.transformFailed("the job has no bytes for its mark")) {
            try InProcessImageProcessor().plan(missing)
        }
    }
}
