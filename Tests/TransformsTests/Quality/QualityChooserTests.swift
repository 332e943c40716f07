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
    func `The result is that of the quality it names`(_ format: OutputFormat) throws {
        let automatic = try made(OutputOptions(format: format, target: .medium))
        let quality = try #require(automatic.quality?.value)
        #expect(try made(OutputOptions(format: format, quality: quality)).body == automatic.body)
    }

    @Test(arguments: formats)
    func `An image with detail needs a higher quality than one without`(_ format: OutputFormat) throws {
        let smooth = try Drawing.image(256, 192) { x, y in [UInt8(x / 2 + 40), UInt8(y / 2 + 60), 120] }
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

    @Test func `An animation is judged by its first and its middle frame, and keeps all`() throws {
        let options = OutputOptions(format: .webp, target: .medium)
        let result = try produce(Fixture.image("animation/disposal.gif"), output: options)
        #expect(result.frames == 4)
        #expect(result.quality?.value != nil)
    }

    @Test func `Images with transparency, without color and too small to be judged have a quality too`() throws {
        let options = OutputOptions(format: .webp, target: .medium)
        #expect(try made(options, "formats/alpha.png").quality != nil)
        #expect(try made(options, width: 12).quality == ResultQuality(value: OutputFormat.webp.defaultQuality))
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

    @Test(arguments: [(400, 267), (3000, 2000), (40, 3000), (33, 33), (16_000, 8)])
    func `The rows on trial lie within the image, in order, and are a megapixel at most`(width: Int, height: Int) {
        for format in Self.formats {
            let rows = QualityChooser.rows(width: width, height: height, coding: format)
            #expect(rows.allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= height })
            #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
            #expect(Set(rows.map(\.count)).count == 1)
            #expect(rows.reduce(0) { $0 + $1.count } * width <= max(1 << 20, 96 * width))
        }
    }

    @Test func `Equal images differ in nothing, and coarser ones differ more`() throws {
        func plain(_ quality: Int) throws -> LinearImage {
            let body = try made(OutputOptions(format: .jpeg, quality: quality)).body
            let image = try VipsLoader.jpeg.withImage(of: body) { lazy throws(VipsError) in try lazy.rendered() }
            return try LinearImage(image, reducedBy: 1)
        }
        let original = try plain(100)
        #expect(StructuralSimilarity(of: original, to: original).features.allSatisfy { $0 < 1e-4 })
        let means = try [90, 60, 30].map { StructuralSimilarity(of: try plain($0), to: original).features[1] }
        #expect(means[0] < means[1] && means[1] < means[2])
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
    private let lines = QualityModel.Lines(
        qualities: [20, 40, 60, 80], intercepts: [-10, 0, 8, 20], slopes: [1, 1, 0.9, 0.9])

    @Test func `The lowest quality is interpolated and rounded up, and stays within what is known`() {
        #expect(lines.quality(scoring: 60, of: 70) == 20)
        #expect(lines.quality(scoring: 60.1, of: 70) == 21)
        #expect(lines.quality(scoring: 65, of: 70) == 30)
        #expect(lines.quality(scoring: 99, of: 70) == 80)
    }

    @Test func `Lines that cross are never followed down`() {
        for trial in stride(from: -50.0, through: 150, by: 5) {
            let qualities = [40.0, 65, 75, 82, 95].map { lines.quality(scoring: $0, of: trial) }
            #expect(qualities == qualities.sorted())
        }
    }

    @Test(arguments: QualityChooserTests.formats)
    func `Every model has a number for each feature and each quality, and scores that grow`(_ format: OutputFormat)
        throws
    {
        let lines = try #require(QualityModel(of: format)).lines
        #expect(QualityModel.weights.count == StructuralSimilarity.scales * 12)
        #expect(lines.intercepts.count == lines.qualities.count && lines.slopes.count == lines.qualities.count)
        #expect(lines.qualities == lines.qualities.sorted() && lines.qualities.allSatisfy { (20...100).contains($0) })
        // Lines may cross at the extremes, which the test above is about.
        for trial in [55.0, 65, 75] {
            let scores = zip(lines.intercepts, lines.slopes).map { $0 + $1 * trial }
            #expect(scores == scores.sorted())
        }
    }
}
