import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct TransformChainTests {
    @Test func `Steps are in the documented order, whatever the order in which a recipe is filled`() {
        let chain = TransformChain(.everything)
        let names = chain.transforms.map { $0.key.prefix { $0 != "(" } }
        #expect(
            names == [
                "orient", "crop", "trim", "resize", "srgb", "cover", "rotate", "flip", "flop", "bri", "sat", "hue",
                "con",
                "gam", "sharp", "filt", "duotone", "blur", "pixelate", "tint", "text", "border", "mask", "pad",
                "flatten",
            ])
        #expect(TransformChain(.box(10, 10, fit: .contain)).transforms.contains { $0 is ContainExtend })
    }

    @Test func `A chain has its recipe until it is changed`() {
        var chain = TransformChain(.everything, limits: PixelLimits(maxOutputSide: 9))
        #expect(chain.recipe == .everything)
        chain.transforms.append(Flip())
        #expect(chain.recipe == nil)
        #expect(TransformChain([Flip()]).recipe == nil)
    }

    @Test func `An empty recipe only orients and converts to sRGB`() {
        #expect(TransformChain(Recipe()).key == "12:orient(auto)4:srgb")
        #expect(TransformChain(.with { $0.orientation = .none }).key == "4:srgb")
    }

    @Test func `Every value of a recipe is in the key`() {
        let half = Percentage(hundredths: 5_000)
        let changes: [(inout Recipe) -> Void] = [
            { $0.orientation = .none }, { $0.orientation = .exif(6) },
            { $0.crop = Crop(x: 1, y: 2, width: 3, height: 4) },
            { $0.crop = Crop(x: 1, y: 2, width: 3, height: 5) }, { $0.trim = Trim(threshold: 10) },
            { $0.trim = Trim(threshold: 11) }, { $0.box.width = 40 }, { $0.box.height = 40 },
            { $0.box = Box(width: 40, height: 40) }, { $0 = .box(40, 40, fit: .cover) },
            { $0 = .box(40, 40, fit: .fill) },
            { $0 = .box(40, 40, fit: .contain) }, { $0 = .box(40, 40, fit: .outside) },
            { $0 = .box(40, enlarge: true) },
            { $0 = .box(40, as: .linear) }, { $0 = .box(40, as: .accurate) },
            {
                $0 = .box(40, 40, fit: .cover)
                $0.position = .entropy
            },
            {
                $0 = .box(40, 40, fit: .contain)
                $0.position = .anchor(x: 0, y: 0)
            },
            { $0.rotationDegrees = 90 }, { $0.rotationDegrees = 91 }, { $0.flip = true }, { $0.flop = true },
            { $0.background = .white }, { $0.blur = Blur() },
            { $0.blur = Blur(sigma: 2) },
            { $0.sharpen = Sharpen() }, { $0.sharpen = Sharpen(sigma: 2) }, { $0.brightness = Brightness(percent: 5) },
            { $0.contrast = Contrast(percent: 5) }, { $0.saturation = Saturation(factor: 2) },
            { $0.hue = Hue(degrees: 5) },
            { $0.gamma = Gamma() }, { $0.gamma = Gamma(exponent: 1.5) }, { $0.tint = Tint(.white) },
            { $0.filter = .sepia }, { $0.filter = .negate }, { $0.filter = .greyscale }, { $0.scaleDown = true },
            { $0.duotone = Duotone(shadow: .transparent, highlight: .white) },
            { $0.duotone = Duotone(shadow: .white, highlight: .transparent) },
            { $0.pixelate = Pixelate(block: .pixels(9)) },
            { $0.pixelate = Pixelate(block: .percent(9)) },
            { $0.crop = Crop(x: .pixels(1), y: .pixels(2), width: .pixels(3), height: .percent(half)) },
            { $0.box.horizontal = .percent(half) }, { $0.box.vertical = .percent(half) }, { $0.box.minWidth = 40 },
            { $0.box.minHeight = 40 }, { $0.box.ratio = AspectRatio(width: 2, height: 1) },
            {
                $0 = .box(40, fit: .cover)
                $0.box.ratio = AspectRatio(width: 2, height: 1)
            },
            {
                $0 = .box(40, fit: .contain)
                $0.box.ratio = AspectRatio(width: 2, height: 1)
            },
            {
                $0 = .box(40, 40, fit: .contain)
                $0.background = .transparent
            },
            {
                $0 = .box(40, 40, fit: .contain)
                $0.blursBackdrop = true
            },
            { $0.text = Text("a") }, { $0.text = Text("b") }, { $0.text = Text("a", size: 9) },
            { $0.text = Text("a", color: .black) }, { $0.text = Text("a", position: .center) },
            { $0.border = BorderStyle(width: 1, color: .white) }, { $0.border = BorderStyle(width: 2, color: .white) },
            { $0.border = BorderStyle(width: 1, color: .black) },
            {
                $0.border = BorderStyle(width: 1, color: .black)
                $0.radius = CornerRadii(.pixels(5))
            },
            { $0.radius = CornerRadii(.pixels(5)) }, { $0.radius = CornerRadii(.percent(5)) },
            {
                $0.radius = CornerRadii(.pixels(5))
                $0.radius?.bottomLeft = .pixels(6)
            },
            { $0.mask = .circle }, { $0.mask = .heart },
            {
                $0.mask = .circle
                $0.maskBackground = .white
            },
            {
                $0.mask = .circle
                $0.trimsMask = true
            },
            { $0.cut = Crop(x: .pixels(1), y: .pixels(2), width: .pixels(3), height: .pixels(4)) },
            { $0.lightness = Lightness(factor: 2) }, { $0.trim = Trim(threshold: 10, background: .white) },
            { $0.sharpen = Sharpen(sigma: 2, flat: 1) }, { $0.sharpen = Sharpen(sigma: 2, jagged: 1) },
            {
                $0 = .box(40, 40)
                $0.rules = .wsrv
            },
            {
                $0 = .box(40, 40, fit: .contain)
                $0.canvasBackground = .black
            },
            {
                $0.rotationDegrees = 91
                $0.cornerBackground = .black
            },
            { $0.padding = Padding(1) }, { $0.padding = Padding(top: 1, right: 1, bottom: 1, left: 2) },
            {
                $0.padding = Padding(1)
                $0.background = .white
            },
        ]
        let keys = changes.map { TransformChain(.with($0)).key }
        #expect(Set(keys).count == keys.count)
    }

    @Test func `Different lists of steps never share a key`() {
        struct Named: Transform {
            var key: String
            func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames { image }
        }
        func key(_ names: String...) -> String { TransformChain(names.map(Named.init)).key }
        let keys = [key("a", "b"), key("ab"), key("a,1:b"), key("a"), key(), key(""), key("", "")]
        #expect(Set(keys).count == keys.count)
    }

    @Test func `Values that change nothing are left out of the key`() {
        #expect(TransformChain(.with { $0.rotationDegrees = 360 }).key == TransformChain(Recipe()).key)
        #expect(TransformChain(.with { $0.fit = .cover }).key == TransformChain(Recipe()).key)
        #expect(TransformChain(.box(40, fit: .cover)).key == TransformChain(.box(40)).key)
        #expect(TransformChain(.with { $0.background = .transparent }).key == TransformChain(Recipe()).key)
    }
}

extension Recipe {
    static let everything = Recipe.with {
        $0.padding = Padding(1)
        $0.mask = .star
        $0.border = BorderStyle(width: 1, color: .black)
        $0.text = Text("a")
        $0.filter = .sepia
        $0.duotone = Duotone(shadow: .transparent, highlight: .white)
        $0.pixelate = Pixelate(block: .pixels(3))
        $0.tint = Tint(.white)
        $0.gamma = Gamma()
        $0.hue = Hue(degrees: 1)
        $0.saturation = Saturation(factor: 2)
        $0.contrast = Contrast(percent: 1)
        $0.brightness = Brightness(percent: 1)
        $0.sharpen = Sharpen()
        $0.blur = Blur()
        $0.background = .white
        $0.flop = true
        $0.flip = true
        $0.rotationDegrees = 45
        $0.fit = .cover
        $0.box = Box(width: 10, height: 10)
        $0.trim = Trim(threshold: 10)
        $0.crop = Crop(x: 0, y: 0, width: 50, height: 50)
    }
}
