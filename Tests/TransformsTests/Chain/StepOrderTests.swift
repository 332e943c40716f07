import DarkroomRequests
import Testing

@testable import DarkroomTransforms

/// The orders of all services have a place for every step.
struct StepOrderTests {
    @Test(arguments: Dialect.allCases)
    func `No order leaves out what a recipe asks for`(rules: Dialect) {
        let plain = TransformChain(.with { $0.rules = rules }).transforms
        for (name, recipes) in Self.steps {
            for var recipe in recipes {
                recipe.rules = rules
                let steps = TransformChain(recipe).transforms
                #expect(steps.map(\.key) != plain.map(\.key), "\(name)")
            }
        }
    }

    @Test func `Each property of a recipe is known to this test`() {
        let names = Swift.Mirror(reflecting: Recipe()).children.compactMap(\.label)
        #expect(Set(names) == Self.parts.union(Self.steps.keys))
        #expect(names.count == Self.parts.count + Self.steps.count)
    }

    /// Properties that are parts of steps, or have an effect only beside another property.
    private static let parts: Set = [
        "fit", "enlarge", "position", "resampling", "scaleDown", "blursBackdrop", "canvasBackground",
        "cornerBackground", "maskBackground", "trimsMask", "rules", "layout",
    ]

    /// Recipes by the property that alone makes a step, or takes one away.
    private static let steps: [String: [Recipe]] = [
        "digest": [.with { $0.digest = SourceDigest(.md5, "b73dd8ca342d85bd3414da0454cc02fe") }],
        "orientation": [.with { $0.orientation = .none }, .with { $0.orientation = .exif(6) }],
        "redaction": [.with { $0.redaction = Redaction() }],
        "inset": [.with { $0.inset = Inset(Padding(1)) }],
        "crop": [.with { $0.crop = Crop(x: 1, y: 2, width: 3, height: 4) }],
        "trim": [.with { $0.trim = Trim(threshold: 9) }],
        "cut": [.with { $0.cut = Crop(x: 1, y: 2, width: 3, height: 4) }],
        "box": [.box(40), .box(nil, 40), .box(40, 40)],
        "rotationDegrees": [.with { $0.rotationDegrees = 90 }, .with { $0.rotationDegrees = 30 }],
        "flip": [.with { $0.flip = true }],
        "flop": [.with { $0.flop = true }],
        "background": [.with { $0.background = .white }],
        "blur": [.with { $0.blur = Blur() }],
        "sharpen": [.with { $0.sharpen = Sharpen() }],
        "brightness": [.with { $0.brightness = Brightness(percent: 5) }],
        "lightness": [.with { $0.lightness = Lightness(factor: 2) }],
        "contrast": [.with { $0.contrast = Contrast(percent: 5) }],
        "saturation": [.with { $0.saturation = Saturation(factor: 2) }],
        "hue": [.with { $0.hue = Hue(degrees: 5) }],
        "gamma": [.with { $0.gamma = Gamma() }],
        "tint": [.with { $0.tint = Tint(.white) }],
        "filter": [.with { $0.filter = .sepia }],
        "duotone": [.with { $0.duotone = Duotone(shadow: .transparent, highlight: .white) }],
        "pixelate": [.with { $0.pixelate = Pixelate(block: .pixels(9)) }],
        "steps": [.with { $0.steps = [.flip] }],
        "text": [.with { $0.text = Text("a") }],
        "border": [.with { $0.border = BorderStyle(width: 1, color: .white) }],
        "radius": [.with { $0.radius = CornerRadii(.pixels(5)) }],
        "mask": [.with { $0.mask = .circle }],
        "padding": [.with { $0.padding = Padding(1) }],
        "mark": [.with { $0.mark = Mark() }],
        "layers": [.with { $0.layers = [Layer("a", .picture(Picture()))] }],
        "gamut": [.with { $0.gamut = .p3 }, .with { $0.gamut = .source }],
        "depth": [.with { $0.depth = .source }],
        "aiLabel": [.with { $0.aiLabel = .topLeft }],
    ]
}
