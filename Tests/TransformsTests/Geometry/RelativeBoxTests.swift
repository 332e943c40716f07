import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Boxes that depend on the image, from the recipe to the pixels.
struct RelativeBoxTests {
    private func made(_ source: ByteBuffer, _ change: (inout Recipe) -> Void) throws -> Pixels {
        try Pixels(produce(source, .with(change)).body)
    }

    @Test func `A ratio alone crops the source to it`() throws {
        let pixels = try made(Drawing.quarters(80, 40).png()) {
            $0.box.ratio = AspectRatio(width: 1, height: 1)
            $0.fit = .cover
        }
        #expect(pixels.size == PixelSize(width: 40, height: 40))
        #expect(pixels[0, 0] == Drawing.red.map(Int.init) && pixels[39, 39] == Drawing.yellow.map(Int.init))
        let right = try made(Drawing.quarters(80, 40).png()) {
            $0.box.ratio = AspectRatio(width: 1, height: 1)
            $0.fit = .cover
            $0.position = .anchor(x: 1, y: 0)
        }
        #expect(right[0, 0] == Drawing.green.map(Int.init))
    }

    @Test func `A ratio alone pads the source to it with contain`() throws {
        let pixels = try made(Drawing.flat(80, 40, Drawing.blue).png()) {
            $0.box.ratio = AspectRatio(width: 1, height: 1)
            $0.fit = .contain
        }
        #expect(pixels.size == PixelSize(width: 80, height: 80))
        #expect(pixels[40, 0] == [255, 255, 255] && pixels[40, 40] == Drawing.blue.map(Int.init))
    }

    @Test func `Percentages refer to the image after crop and trim, upright`() throws {
        let crop = try made(Drawing.quarters(80, 40).png()) {
            $0.crop = Crop(x: 40, y: 0, width: 20, height: 20)
            $0.box.horizontal = .percent(50)
        }
        #expect(crop.size == PixelSize(width: 10, height: 10))
        let framed = try Drawing.image(100, 60) { x, y in
            (20..<80).contains(x) && (20..<40).contains(y) ? Drawing.red : [255, 255, 255]
        }
        let trimmed = try made(framed.png()) {
            $0.trim = Trim(threshold: 10)
            $0.box.horizontal = .percent(50)
        }
        #expect(trimmed.size == PixelSize(width: 30, height: 10))
        let upright = try made(Drawing.quarters(80, 40).png()) {
            $0.orientation = .exif(6)
            $0.box.horizontal = .percent(50)
        }
        #expect(upright.size == PixelSize(width: 20, height: 40))
    }

    @Test func `Half of a photograph is the photograph`() throws {
        let source = try Fixture.image("sample.jpg")
        let whole = try made(source) { $0.box.width = 400 }
        let half = try made(source) { $0.box.horizontal = .percent(50) }
        #expect(half.size == PixelSize(width: 800, height: 534))
        #expect(half.hashDistance(to: whole) <= 4)
        let square = try made(source) {
            $0.box = Box(horizontal: .percent(25), vertical: nil, ratio: AspectRatio(width: 1, height: 1))
            $0.fit = .cover
        }
        let pixels = try made(source) { $0 = .box(400, 400, fit: .cover) }
        #expect(square.size == pixels.size)
        #expect(square.hashDistance(to: pixels) <= 4)
    }

    @Test func `A percentage crop stays within every image`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let size = PixelSize(
                width: .random(in: 1...50, using: &random), height: .random(in: 1...5_000, using: &random))
            let (x, y) = (Int.random(in: 0..<10_000, using: &random), Int.random(in: 0..<10_000, using: &random))
            let part = { (most: Int) in
                Length.percent(Percentage(hundredths: .random(in: 1...(10_000 - most), using: &random)))
            }
            let crop = Crop(
                x: .percent(Percentage(hundredths: x)), y: .percent(Percentage(hundredths: y)), width: part(x),
                height: part(y))
            let planned = try crop.planned(ChainPlan(source: size)).size
            #expect(planned.width >= 1 && planned.height >= 1)
        }
        let tooLarge = Crop(x: .percent(50), y: .pixels(0), width: .percent(51), height: .pixels(1))
        #expect(throws: TransformError.self) {
            try tooLarge.planned(ChainPlan(source: PixelSize(width: 10, height: 10)))
        }
    }

    @Test func `A crop in percent is the crop in pixels`() throws {
        let source = try Drawing.quarters(80, 40).png()
        let relative = try made(source) {
            $0.crop = Crop(x: .percent(50), y: .pixels(20), width: .percent(25), height: .percent(50))
        }
        let absolute = try made(source) { $0.crop = Crop(x: 40, y: 20, width: 20, height: 20) }
        #expect(relative.samples == absolute.samples && relative.isFlat(Drawing.yellow.map(Int.init)))
    }

    private static let limits = PixelLimits(maxOutputSide: 100, maxOutputPixels: 7_000)

    @Test func `Plans are exact and results within the limits, for random boxes with and without scaling down`() throws
    {
        var random = SystemRandomNumberGenerator()
        var made = 0
        for _ in 0..<400 {
            let size = PixelSize(
                width: .random(in: 1...160, using: &random), height: .random(in: 1...160, using: &random))
            let recipe = Recipe.randomBox(using: &random)
            let job = ImageJob(
                source: try Drawing.flat(size.width, size.height, Drawing.green).png(),
                chain: TransformChain(recipe, limits: Self.limits), output: OutputOptions(format: .png),
                limits: Self.limits)
            let plan = Result { () throws(ImageProcessingError) in try InProcessImageProcessor().plan(job) }
            let result = Result { () throws(ImageProcessingError) in
                try InProcessImageProcessor().process(job) { false }
            }
            let name = Comment(rawValue: "\(size) \(recipe.box) \(recipe.fit) \(recipe.scaleDown)")
            switch (plan, result) {
            case (.success(let plan), .success(let image)):
                made += 1
                #expect(plan.size == image.size && plan.isExact, name)
                #expect(max(image.size.width, image.size.height) <= 100 && image.size.area <= 7_000, name)
            case (.failure(let refusal), .failure(let failure)): #expect(refusal == failure, name)
            default: Issue.record("\(name): \(plan) \(result)")
            }
        }
        #expect(made > 200)
    }
}

extension Recipe {
    fileprivate static func randomBox(using random: inout some RandomNumberGenerator) -> Recipe {
        let sides: [Length?] = [
            nil, nil, .pixels(1), .pixels(40), .pixels(90), .percent(33.33),
            .percent(200),
        ]
        let least: [Int?] = [nil, nil, 2, 30, 77]
        var recipe = Recipe()
        recipe.box = Box(
            horizontal: sides.randomElement(using: &random) ?? nil,
            vertical: sides.randomElement(using: &random) ?? nil,
            ratio: Bool.random(using: &random)
                ? AspectRatio(width: .random(in: 1...9, using: &random), height: .random(in: 1...9, using: &random))
                : nil,
            minWidth: least.randomElement(using: &random) ?? nil,
            minHeight: least.randomElement(using: &random) ?? nil)
        recipe.fit = Fit.allCases.randomElement(using: &random) ?? .inside
        recipe.enlarge = .random(using: &random)
        recipe.scaleDown = Int.random(in: 0..<3, using: &random) > 0
        recipe.rotationDegrees = [0, 0, 90, 30].randomElement(using: &random) ?? 0
        return recipe
    }
}
