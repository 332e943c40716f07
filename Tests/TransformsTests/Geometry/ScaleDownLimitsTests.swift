import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Oversized results are scaled down if the recipe asks for it.
struct FitLimitsTests {
    @Test(arguments: [
        ([600, 400], 256, 1_000_000, 0, [256, 171]), ([400, 600], 256, 1_000_000, 0, [171, 256]),
        ([256, 256], 256, 1_000_000, 0, [256, 256]), ([600, 400], 1000, 60_000, 0, [300, 200]),
        ([600, 400], 1000, 60_000, 90, [300, 200]), ([2000, 3], 1000, 60_000, 0, [1000, 2]),
        ([90_000, 1], 1000, 60_000, 0, [1000, 1]), ([300, 400], 1000, 1_000_000, 45, [300, 400]),
    ])
    func `The largest size of the same shape within the limits`(
        _ size: [Int], _ side: Int, _ pixels: Int, _ degrees: Double, expected: [Int]
    ) {
        let limits = ScaleDownLimits(
            PixelLimits(maxOutputSide: side, maxOutputPixels: pixels), rotationDegrees: degrees)
        let fitted = limits.fitted(PixelSize(width: size[0], height: size[1]))
        #expect(fitted == PixelSize(width: expected[0], height: expected[1]))
    }

    @Test func `With space around it, the largest size within the limits is just within them`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            func space() -> Int { .random(in: 0...600, using: &random) }
            let padding = Padding(top: space(), right: space(), bottom: space(), left: space())
            let pixels = PixelLimits(maxOutputSide: 2_000, maxOutputPixels: 2_500_000)
            let isUpright = Bool.random(using: &random)
            let limits = ScaleDownLimits(pixels, rotationDegrees: isUpright ? 180 : 270, padding: padding)
            let size = PixelSize(
                width: .random(in: 1...5_000, using: &random), height: .random(in: 1...5_000, using: &random))
            let fitted = limits.fitted(size)
            func result(_ size: PixelSize) -> PixelSize {
                padding.around(isUpright ? size : size.transposed)
            }
            func isWithin(_ size: PixelSize) -> Bool {
                max(size.width, size.height) <= 2_000 && size.area <= 2_500_000
            }
            #expect(isWithin(result(fitted)), "\(size) \(padding)")
            let larger = PixelSize(width: fitted.width + 8, height: fitted.height + 8)
            let isProportional = min(fitted.width, fitted.height) > 4
            #expect(fitted == size || !isProportional || !isWithin(result(larger)), "\(size) \(padding)")
        }
    }

    private let small = PixelLimits(maxOutputSide: 100, maxOutputPixels: 8000)

    private func scaledDown(_ recipe: Recipe) -> Recipe {
        var recipe = recipe
        recipe.scaleDown = true
        return recipe
    }

    @Test func `An oversized result is as large as the limits allow, in every fit`() throws {
        let source = try Drawing.quarters(300, 200).png()
        let table: [(Recipe, PixelSize)] = [
            (Recipe(), PixelSize(width: 100, height: 67)), (.box(5000), PixelSize(width: 100, height: 67)),
            (.box(5000, enlarge: true), PixelSize(width: 100, height: 67)),
            (.box(nil, 90), PixelSize(width: 100, height: 67)),
            (.box(90, 190, fit: .outside), PixelSize(width: 100, height: 67)),
            (.box(400, 200, fit: .fill, enlarge: true), PixelSize(width: 100, height: 50)),
            (.box(200, 200, fit: .cover), PixelSize(width: 89, height: 89)),
            (.box(400, 200, fit: .cover, enlarge: true), PixelSize(width: 100, height: 50)),
            (.box(4000, 1000, fit: .contain), PixelSize(width: 100, height: 25)),
        ]
        for (recipe, expected) in table {
            #expect(throws: ImageProcessingError.self) { try produce(source, recipe, limits: small) }
            let result = try produce(source, scaledDown(recipe), limits: small)
            #expect(result.size == expected, "\(recipe.box) \(recipe.fit)")
            guard recipe.fit != .contain else { continue }
            let pixels = try Pixels(result.body)
            #expect(pixels.distance(x: 2, y: 2, to: Drawing.red.map(Int.init)) <= 2)
            #expect(
                pixels.distance(x: expected.width - 3, y: expected.height - 3, to: Drawing.yellow.map(Int.init)) <= 2)
        }
    }

    @Test(arguments: Array(stride(from: 1, to: 360, by: 13)))
    func `A rotated result is within the limits at every angle`(_ degrees: Int) throws {
        let source = try Drawing.flat(400, 230, [9, 9, 9]).png()
        for recipe in [Recipe(), .box(300, 300, fit: .contain), .box(300, 200, fit: .cover)] {
            var recipe = recipe
            recipe.rotationDegrees = Double(degrees)
            let result = try produce(source, scaledDown(recipe), limits: small)
            #expect(max(result.size.width, result.size.height) <= 100 && result.size.area <= 8000)
            #expect(max(result.size.width, result.size.height) >= 96 || result.size.area >= 7300)
        }
    }

    @Test func `A result within the limits is not changed`() throws {
        let source = try Fixture.image("sample.jpg")
        for recipe in [Recipe.box(64), .box(60, 40, fit: .cover), .box(50, as: .linear)] {
            #expect(try produce(source, recipe).body == produce(source, scaledDown(recipe)).body)
        }
    }

    @Test func `Limits are part of the key only with scaleDown`() {
        let other = PixelLimits(maxOutputSide: 100, maxOutputPixels: 8001)
        let source = PixelLimits(maxSourcePixels: 9, maxOutputSide: 100, maxOutputPixels: 8000)
        let recipes: [Recipe] = [Recipe(), .box(30), .box(30, 30, fit: .cover), .box(30, 30, fit: .contain)]
        for recipe in recipes {
            let down = scaledDown(recipe)
            let keys = [small, other, source].map { TransformChain(down, limits: $0).key }
            #expect(Set(keys + [TransformChain(recipe).key]).count == 4)
            #expect(TransformChain(recipe, limits: small).key == TransformChain(recipe).key)
        }
    }

    @Test func `A vector image is drawn at the size that fits`() throws {
        let svg = ByteBuffer(string: "<svg xmlns='http://www.w3.org/2000/svg' width='900' height='300'></svg>")
        #expect(try produce(svg, scaledDown(Recipe()), limits: small).size == PixelSize(width: 100, height: 33))
    }
}
