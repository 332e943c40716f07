import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

/// The text, the steps and the pixels of a layout.
struct LayoutTests {
    @Test(arguments: [
        "", "fill-down", "dpr:2", "dpr:0.333333", "zoom:2", "zoom:2:0.5", "crop:0.5:200", "crop:10:0:top:0:-10.5",
        "force,dpr:2,zoom:3,crop:1:2:focal:0:1,gravity:attention,extend:left:5:0,extendar:center,even:xy,maxside:9",
    ])
    func `A layout is written as it is read`(text: String) throws {
        let layout = text.isEmpty ? Layout() : try #require(Layout(parsing: text))
        #expect(layout.text == text)
    }

    @Test(arguments: [("zoom:2:2", "zoom:2"), ("dpr:1.50", "dpr:1.5"), ("gravity:top:0:0", "gravity:top"), ("fit", "")])
    func `A layout has one spelling`(text: String, canonical: String) throws {
        #expect(try #require(Layout(parsing: text)).text == canonical)
    }

    @Test func `Steps follow imgproxy`() throws {
        var recipe = Recipe.box(300, 200)
        (recipe.rules, recipe.layout) = (.imgproxy, Layout(parsing: "fill,crop:50:50,extend:center,extendar:center"))
        (recipe.rotationDegrees, recipe.flop, recipe.trim) = (90, true, Trim(threshold: 9))
        (recipe.blur, recipe.sharpen, recipe.pixelate) = (
            Blur(sigma: 1), Sharpen(sigma: 1), Pixelate(block: .pixels(3))
        )
        (recipe.padding, recipe.background, recipe.mark) = (Padding(5), .white, Mark())
        let names = TransformChain(recipe).transforms.map { String($0.key.prefix { $0 != "(" }) }
        #expect(
            names == [
                "trim", "orient", "rotate", "flop", "layout-window", "layout", "srgb", "layout-kept", "blur", "sharp",
                "pixelate", "layout-extend", "layout-extendRatio", "layout-padding", "flatten", "mark",
            ])
    }

    @Test func `Recipes whose layouts differ have different keys`() {
        var keys: Set<String> = []
        let texts = [
            "fit", "fill", "dpr:2", "zoom:2", "crop:5:5", "gravity:top", "extend:top", "extendar:top", "maxside:5",
        ]
        for text in texts {
            var recipe = Recipe.box(30, 20)
            (recipe.rules, recipe.layout) = (.imgproxy, Layout(parsing: text))
            keys.insert(TransformChain(recipe).key)
        }
        #expect(keys.count == texts.count)
    }

    /// Ten by ten pixels in a frame that is 2 wide on the left, 6 on the right, 4 above and 8 below.
    private func framed() throws -> VipsImage {
        try Drawing.image(18, 22) { x, y in
            (2..<12).contains(x) && (4..<14).contains(y) ? [200, 0, 0] : [0, 0, 0]
        }
    }

    @Test(arguments: [("fit", 10, 10), ("even:x", 14, 10), ("even:y", 10, 14), ("even:xy", 14, 14)])
    func `A trim may take as much from opposite sides`(text: String, width: Int, height: Int) throws {
        let layout = try #require(Layout(parsing: text))
        var trim = Trim(threshold: 10)
        (trim.isEvenAcross, trim.isEvenDown) = (layout.trimsEvenlyAcross, layout.trimsEvenlyDown)
        let image = try apply(trim, to: framed())
        #expect(image.width == width && image.height == height)
    }

    @Test(arguments: [
        (Anchor.topLeft, -3, -2, 0, 0), (.bottomRight, -3, -2, 33, 26), (.center, 0, 0, 16, 12),
        (.top, 5, 1, 21, 1),
    ])
    func `A mark may lie partly outside`(anchor: Anchor, x: Int, y: Int, left: Int, top: Int) throws {
        let mark = Mark(anchor: anchor, x: .pixels(x), y: .pixels(y))
        let placed = try #require(
            try mark.placed(Drawing.flat(10, 6, [0, 0, 0]), on: PixelSize(width: 40, height: 30), pixelRatio: 1))
        #expect(placed.x == left && placed.y == top)
        #expect(placed.image.width == (anchor == .center || anchor == .top ? 10 : 7))
    }

    @Test func `A mark outside is not drawn, and tiles lie around the center`() throws {
        let picture = PixelSize(width: 40, height: 30)
        let flat = try Drawing.flat(10, 6, [0, 0, 0])
        let outside = Mark(anchor: .topLeft, x: .pixels(-10), y: .pixels(0))
        #expect(try outside.placed(flat, on: picture, pixelRatio: 1) == nil)
        let tiles = Mark(anchor: nil, x: .pixels(2), y: .pixels(2))
        let placed = try #require(try tiles.placed(flat.addingAlpha(), on: picture, pixelRatio: 2))
        #expect(placed.image.width == 40 && placed.image.height == 30 && placed.x == 0)
    }
}
