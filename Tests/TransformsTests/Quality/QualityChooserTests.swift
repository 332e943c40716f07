import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

struct QualityChooserTests {
    static let formats = [OutputFormat.jpeg, .webp, .avif, .jxl]

    private func made(
        _ options: OutputOptions, _ name: String = "formats/photo.jpg", width: Int = 240
    ) throws -> ProcessedImage {
        try produce(Fixture.image(name), .box(width), output: options)
    }

    @Test(arguments: formats)
    func `A higher target takes a higher quality and more bytes`(_ format: OutputFormat) throws {
        let images = try [QualityTarget.low, .medium, .high].map { try made(OutputOptions(format: format, target: $0)) }
        let qualities = try images.map { try #require($0.quality?.value) }
        #expect(qualities[0] < qualities[1] && qualities[1] < qualities[2])
        #expect(qualities.allSatisfy { (20...100).contains($0) })
        let sizes = images.map(\.body.readableBytes)
        #expect(sizes[0] < sizes[1] && sizes[1] < sizes[2])
    }

    @Test(arguments: formats)
    func `The result equals one with the quality it names`(_ format: OutputFormat) throws {
        let automatic = try made(OutputOptions(format: format, target: .medium))
        let quality = try #require(automatic.quality?.value)
        #expect(try made(OutputOptions(format: format, quality: quality)).body == automatic.body)
    }

    @Test(arguments: formats)
    func `An image with detail needs a higher quality than one without`(_ format: OutputFormat) throws {
        let smooth = try Drawing.image(256, 192) { x, y in [UInt8(x), UInt8(y), 120] }
        var generator = SplitMix(seed: 1)
        let busy = try Drawing.image(256, 192) { x, y in
            let on: UInt8 = (x / 3 + y / 5) % 2 == 0 ? 70 : 140
            return [on &+ generator.byte() / 8, on, 200 - on / 2]
        }
        let qualities = try [smooth, busy].map { drawing in
            try produce(drawing.png(), output: OutputOptions(format: format, target: .medium)).quality?.value ?? 0
        }
        #expect(qualities[0] < qualities[1])
    }

    @Test(arguments: formats, [QualityTarget.low, .medium, .high])
    func `A drawing has at least the default quality`(_ format: OutputFormat, _ target: QualityTarget) throws {
        let chart = try Drawing.image(320, 192) { x, y in
            if x % 40 < 3 || y % 32 < 2 { return [20, 30, 40] }
            return y > 190 - x / 2 ? [200, 60, 30] : [250, 250, 250]
        }
        let result = try produce(chart.png(), output: OutputOptions(format: format, target: target))
        let quality = try #require(result.quality)
        // WebP and JPEG XL are lossless, because that is smaller.
        #expect((quality.value == nil) == (format == .webp || format == .jxl))
        #expect(try quality.value ?? 100 >= #require(format.defaultQuality))
    }

    @Test func `An animation is judged by its first and its middle frame, and keeps all`() throws {
        let options = OutputOptions(format: .webp, target: .medium)
        let frames = try (0..<4).map { frame in
            try Drawing.image(64, 48) { x, y in [UInt8(x * 4), UInt8(y * 5), UInt8((x * y + frame) % 256)] }
        }
        let result = try produce(Drawing.animation(frames), output: options)
        #expect(result.frames == 4)
        #expect(result.quality?.value != nil)
    }

    @Test func `Images with transparency, without color and too small to be judged have a quality too`() throws {
        let options = OutputOptions(format: .webp, target: .medium)
        #expect(try made(options, "formats/alpha.png").quality != nil)
        let tiny = try #require(try made(options, width: 12).quality)
        #expect(tiny.value ?? 95 == 95)
        let gray = try Drawing.image(200, 100) { x, y in [UInt8(x), UInt8(x), UInt8(x)] }
        #expect(try produce(gray.png(), output: options).quality != nil)
    }

    @Test func `A quality by target is an upper bound for max_bytes`() throws {
        let free = try made(OutputOptions(format: .jpeg, target: .high))
        let limit = free.body.readableBytes / 2
        let bounded = try made(OutputOptions(format: .jpeg, target: .high, maxBytes: limit))
        #expect(bounded.body.readableBytes <= limit)
        #expect(try #require(bounded.quality?.value) < #require(free.quality?.value))
        let ample = try made(OutputOptions(format: .jpeg, target: .high, maxBytes: 1 << 20))
        #expect(ample.body == free.body && ample.quality == free.quality)
    }

    @Test(arguments: [(400, 267), (3000, 2000), (40, 3000), (33, 33), (16_000, 64), (300, 31)])
    func `The stripes lie within the image, in order, and are few`(width: Int, height: Int) {
        let tops = QualityChooser.stripes(width: width, height: height, pageHeight: nil)
        #expect(tops.isEmpty == (height < 32))
        #expect(tops.allSatisfy { $0 >= 0 && $0 + 32 <= height })
        #expect(zip(tops, tops.dropFirst()).allSatisfy { $0 + 32 <= $1 })
        #expect(tops.count <= max(2, height / 64 + 1))
        #expect(tops.count * 32 * width <= max(1 << 17 + 32 * width, 64 * width))
    }

    @Test func `The stripes of an animation come from its first and its middle frame`() {
        let one = QualityChooser.stripes(width: 64, height: 96, pageHeight: nil)
        let frames = QualityChooser.stripes(width: 64, height: 96 * 5, pageHeight: 96)
        #expect(frames == one + one.map { $0 + 192 })
        #expect(QualityChooser.stripes(width: 64, height: 96, pageHeight: 96) == one)
    }
}

struct StripeComparisonTests {
    private static let side = 64

    /// The features of a square image.
    private func features(bands: Int = 3, _ pixel: (_ x: Int, _ y: Int) -> [UInt8]) -> [Double] {
        let samples = (0..<Self.side * Self.side).flatMap { pixel($0 % Self.side, $0 / Self.side) }
        return samples.withUnsafeBytes { bytes in
            StripeComparison(samples: bytes, width: Self.side, bands: bands).similarity(inStripesAt: [0, 32]).features
        }
    }

    @Test(arguments: [(3, 0.0), (3, 0.25), (4, 0.5), (4, 1)])
    func `Squares of one color count as plain, and no others`(bands: Int, share: Double) {
        let changes = { (x: Int, y: Int) in Double(x) >= Double(Self.side) * share && x % 2 == 1 && y % 2 == 1 }
        let samples = (0..<Self.side * Self.side).flatMap { index -> [UInt8] in
            var pixel: [UInt8] = Array([9, 8, 7, 255].prefix(bands))
            if changes(index % Self.side, index / Self.side) { pixel[bands - 1] -= 1 }
            return pixel
        }
        samples.withUnsafeBytes { bytes in
            let comparison = StripeComparison(samples: bytes, width: Self.side, bands: bands)
            #expect(comparison.plainShare(inStripesAt: [0, 32]) == share)
        }
    }

    @Test func `A plain image loses nothing`() {
        let features = features { _, _ in [128, 128, 128] }
        #expect(features.count == 28)
        #expect(features.allSatisfy { $0 < 1e-3 })
    }

    @Test(arguments: QualityChooserTests.formats)
    func `Faint noise, which coding loses, lowers the score`(_ format: OutputFormat) throws {
        let model = try #require(format.row.qualityModel?())
        let scores = [0, 16].map { amplitude in
            var generator = SplitMix(seed: 7)
            return model.score(
                features { x, y in
                    let noise = Int(generator.byte()) * amplitude / 256
                    return [UInt8(60 + x + noise), UInt8(60 + y + noise), UInt8(120 + noise)]
                })
        }
        #expect(scores[0] > scores[1])
    }

    @Test func `Transparent pixels are judged on white`() {
        func alpha(_ x: Int) -> Int { x < 20 ? 0 : x < 40 ? 100 : 255 }
        func sample(_ x: Int, _ y: Int) -> Int { (x * 37 + y * 61) % 200 }
        let transparent = features(bands: 4) { x, y in
            let sample = UInt8(sample(x, y))
            return [sample, sample / 2, 90, UInt8(alpha(x))]
        }
        let flat = features { x, y in
            [sample(x, y), sample(x, y) / 2, 90].map { UInt8(($0 * alpha(x) + 255 * (255 - alpha(x)) + 127) / 255) }
        }
        #expect(transparent == flat)
    }

    @Test func `Rounding by small steps keeps a block, and by large ones its mean only`() {
        let (width, height) = (16, 8)
        let original = (0..<width * height).map { Float($0 * 7 % 31) }
        func rounded(_ step: @escaping (Int, Int) -> Float) -> [Float] {
            StripeWorkspace.with(capacity: width * height) { workspace in
                let plane = workspace.original[0]
                for index in original.indices { plane[index] = original[index] }
                BlockRounding<SIMD8<Float>>(step).apply(to: plane, width: width, height: height)
                return original.indices.map { plane[$0] }
            }
        }
        #expect(zip(rounded { _, _ in 1e-3 }, original).allSatisfy { abs($0 - $1) < 0.01 })
        let means = rounded { $0 + $1 == 0 ? 1e-3 : 1e4 }
        let left = (0..<height).flatMap { row in original[row * width..<row * width + 8] }
        #expect(abs(means[0] - left.reduce(0, +) / 64) < 0.01)
        #expect(
            (0..<height).allSatisfy { row in (0..<8).allSatisfy { abs(means[row * width + $0] - means[0]) < 0.01 } })
    }
}

/// The same numbers on every run.
private struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func byte() -> UInt8 {
        state &+= 0x9E37_79B9_7F4A_7C15
        let mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        return UInt8(truncatingIfNeeded: mixed >> 56)
    }
}

struct QualityModelTests {
    private let model = QualityModel(
        bias: 0, weights: [], knots: [(20, -10, 1), (40, 0, 1), (60, 8, 0.9), (80, 20, 0.9)])

    @Test func `The lowest quality is interpolated and rounded up, and stays within what is known`() {
        #expect(model.quality(scoring: 60, of: 70) == 20)
        #expect(model.quality(scoring: 60.1, of: 70) == 21)
        #expect(model.quality(scoring: 65, of: 70) == 30)
        #expect(model.quality(scoring: 99, of: 70) == 80)
    }

    @Test func `Lines that cross are never followed down`() {
        for trial in stride(from: -50.0, through: 150, by: 5) {
            let qualities = [40.0, 65, 75, 82, 95].map { model.quality(scoring: $0, of: trial) }
            #expect(qualities == qualities.sorted())
        }
    }

    @Test(arguments: QualityChooserTests.formats)
    func `Every model has a number for each feature and each quality, and scores that grow`(_ format: OutputFormat)
        throws
    {
        let model = try #require(format.row.qualityModel?())
        #expect(model.weights.count == StructuralSimilarity().features.count)
        let qualities = model.knots.map(\.quality)
        #expect(qualities == qualities.sorted() && qualities.allSatisfy { (20...100).contains($0) })
        // Lines may cross at the extremes, which the test above is about.
        for trial in [55.0, 65, 75] {
            let scores = model.knots.map { $0.intercept + $0.slope * trial }
            #expect(scores == scores.sorted())
        }
    }
}
