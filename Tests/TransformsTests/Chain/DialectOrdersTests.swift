import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// The order of steps and the sizes of weserv/images.
struct DialectOrdersTests {
    private func names(_ change: (inout Recipe) -> Void) -> [String] {
        let recipe = Recipe.with {
            $0.rules = .wsrv
            change(&$0)
        }
        return TransformChain(recipe).transforms.map { String($0.key.prefix { $0 != "(" }) }
    }

    private func size(_ change: (inout Recipe) -> Void) throws -> PixelSize {
        let recipe = Recipe.with {
            $0.rules = .wsrv
            change(&$0)
        }
        return try produce(Drawing.quarters(400, 200).png(), recipe).size
    }

    @Test func `Turns come before cuts, and the background before the mask`() {
        let cover = names {
            $0 = .box(300, 100, fit: .cover)
            $0.rules = .wsrv
            $0.rotationDegrees = 90
            ($0.flip, $0.flop) = (true, true)
            $0.cut = Crop(x: .pixels(1), y: .pixels(1), width: .pixels(9), height: .pixels(9))
            $0.background = .white
            $0.mask = .circle
            $0.trim = Trim(threshold: 9)
        }
        #expect(
            cover == [
                "trim", "orient", "resize", "srgb", "rotate", "flip", "flop", "clip", "cut", "flatten", "mask",
            ])
        let contain = names {
            $0 = .box(300, 100, fit: .contain)
            $0.rules = .wsrv
            $0.rotationDegrees = 30
            $0.flop = true
            $0.cut = Crop(x: .pixels(1), y: .pixels(1), width: .pixels(9), height: .pixels(9))
        }
        #expect(contain == ["orient", "resize", "srgb", "flop", "cut", "contain", "rotate"])
        let cropped = names {
            $0 = .box(300, 100, fit: .cover)
            $0.rules = .wsrv
            $0.rotationDegrees = 180
            $0.crop = Crop(x: 0, y: 0, width: 9, height: 9)
        }
        #expect(cropped == ["orient", "rotate", "cut", "resize", "srgb", "clip"])
    }

    @Test(arguments: [
        (Fit.inside, 300, 300, 300, 150), (.outside, 300, 300, 400, 200), (.cover, 600, 100, 400, 100),
        (.cover, 600, 600, 400, 200), (.cover, 100, 50, 100, 50), (.fill, 600, 100, 400, 100),
        (.fill, 100, 600, 100, 200),
        (.contain, 600, 300, 600, 300),
    ])
    func `Without enlarging, each side that the image does not reach stays`(
        fit: Fit, width: Int, height: Int, resultWidth: Int, resultHeight: Int
    ) throws {
        let size = try size {
            $0 = .box(width, height, fit: fit)
            $0.rules = .wsrv
        }
        #expect(size == PixelSize(width: resultWidth, height: resultHeight))
    }

    @Test func `One side alone is stretched, contained or rounded to even`() throws {
        func size(_ width: Int?, _ height: Int?, _ fit: Fit, enlarge: Bool = true) throws -> PixelSize {
            try self.size {
                $0 = .box(width, height, fit: fit, enlarge: enlarge)
                $0.rules = .wsrv
            }
        }
        #expect(try size(100, nil, .fill) == PixelSize(width: 100, height: 200))
        #expect(try size(500, nil, .contain, enlarge: false) == PixelSize(width: 500, height: 200))
        #expect(try size(500, nil, .contain) == PixelSize(width: 500, height: 250))
        #expect(try size(101, nil, .inside) == PixelSize(width: 101, height: 50))
        #expect(try size(103, nil, .inside) == PixelSize(width: 103, height: 52))
    }

    @Test func `A quarter turn exchanges the sides that cover has scaled, not its box`() throws {
        let size = try size {
            $0 = .box(200, 100, fit: .cover, enlarge: true)
            $0.rules = .wsrv
            $0.rotationDegrees = 90
        }
        #expect(size == PixelSize(width: 100, height: 100))
    }

    @Test func `A crop before scaling leaves out what exceeds the source`() throws {
        let size = try size {
            $0.crop = Crop(x: 300, y: 500, width: 900, height: 50)
        }
        #expect(size == PixelSize(width: 100, height: 50))
        #expect(throws: ImageProcessingError.self) {
            var recipe = Recipe()
            recipe.crop = Crop(x: 300, y: 500, width: 900, height: 50)
            _ = try produce(Drawing.quarters(400, 200).png(), recipe)
        }
    }

    @Test func `Of an animation only columns are trimmed, and no part is chosen by its content`() throws {
        let frames = try (0..<2).map { _ in
            try Drawing.image(40, 20) { x, y in (5..<15).contains(x) && (5..<15).contains(y) ? [255, 0, 0] : [0, 0, 0] }
        }
        var trim = Trim(threshold: 10)
        trim.keepsHeightOfAnimations = true
        let image = ImageFrames(frames: frames, delays: [10, 10])
        let context = TransformContext(plan: ChainPlan(source: image.size), interrupt: { false })
        #expect(try trim.apply(image, context: context).size == PixelSize(width: 10, height: 20))
        #expect(trim.key != Trim(threshold: 10).key)
        let plan = ChainPlan(source: image.size).scaling(
            to: image.size, canvas: PixelSize(width: 20, height: 20), inLinearLight: false)
        for position in [Position.attention, .center] {
            let clip = Clip(position: position)
            let clipped = try clip.apply(
                image, context: TransformContext(plan: clip.planned(plan), interrupt: { false }))
            #expect(
                try clipped.first.asPixels()[0, 10] == [255, 0, 0] || clipped.first.asPixels()[0, 10] == [0, 0, 0])
            #expect(try clipped.first.asPixels()[5, 10] == [0, 0, 0])
        }
    }

    @Test func `Rules are part of the key`() {
        let keys = Dialect.allCases.map { rules in
            TransformChain(
                .with {
                    $0 = .box(40, 40, fit: .fill)
                    $0.rules = rules
                }
            ).key
        }
        #expect(Set(keys).count == keys.count)
    }
}
