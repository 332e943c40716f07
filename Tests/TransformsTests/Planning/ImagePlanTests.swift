import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Plans are correct although no pixel is decoded.
struct ImagePlanTests {
    private struct Wish {
        var recipe = Recipe()
        var output = OutputOptions(format: .png)
        var pages = PageSelection()
    }

    private static let wishes: [Wish] = [
        Wish(output: OutputOptions()),
        Wish(recipe: .box(40), output: OutputOptions()),
        Wish(recipe: .box(37, 23, fit: .cover, as: .accurate)),
        Wish(recipe: .box(33, 51, fit: .contain), output: OutputOptions()),
        Wish(recipe: .box(300, 20, fit: .contain, enlarge: true), output: OutputOptions(format: .webp)),
        Wish(recipe: .box(31, 77, fit: .fill, enlarge: true, as: .linear), output: OutputOptions(format: .jpeg)),
        Wish(recipe: .box(nil, 19, fit: .outside), output: OutputOptions(format: .gif)),
        Wish(recipe: .with { $0.crop = Crop(x: 3, y: 5, width: 30, height: 21) }),
        Wish(recipe: .with { $0.crop = Crop(x: 0, y: 0, width: 190, height: 190) }),
        Wish(
            recipe: .with {
                $0.box = Box(width: 50, height: 30)
                $0.rotationDegrees = 90
                $0.flip = true
                $0.blur = Blur(sigma: 2)
            }),
        Wish(
            recipe: .with {
                $0.orientation = .exif(6)
                $0.box = Box(width: 45, height: nil)
                $0.background = .white
            }, output: OutputOptions()),
        Wish(recipe: .with { $0.rotationDegrees = 30 }, output: OutputOptions()),
        Wish(recipe: .with { $0.padding = Padding(top: 1, right: 2, bottom: 3, left: 4) }, output: OutputOptions()),
        Wish(
            recipe: .with {
                $0.padding = Padding(5)
                $0.background = Color(red: 1, green: 2, blue: 3, alpha: 4)
            }, output: OutputOptions()),
        Wish(recipe: .with { $0.radius = CornerRadii(.percent(10)) }, output: OutputOptions()),
        Wish(
            recipe: .with {
                $0 = .box(61, 37, fit: .cover)
                $0.mask = .star
                $0.trimsMask = true
                $0.border = BorderStyle(width: 3, color: .white)
            }, output: OutputOptions()),
        Wish(
            recipe: .with {
                $0.mask = .heart
                $0.maskBackground = .black
                $0.trimsMask = true
                $0.padding = Padding(7)
            }, output: OutputOptions()),
        Wish(
            recipe: .with {
                $0 = .box(33, 51, fit: .contain)
                $0.blursBackdrop = true
            }, output: OutputOptions()),
        Wish(
            recipe: .with {
                $0.mask = .triangle
                $0.trimsMask = true
                $0.padding = Padding(40)
            }, output: OutputOptions(format: .blurHash)),
        Wish(recipe: .box(44), pages: PageSelection(first: 2, count: 2)),
        Wish(recipe: .box(44), output: OutputOptions(format: .webp), pages: PageSelection(first: 1, count: 3)),
        Wish(recipe: .box(60), output: OutputOptions(format: .blurHash)),
        Wish(output: OutputOptions(format: .json)),
        Wish(
            recipe: .with {
                $0.box = Box(horizontal: .percent(half), vertical: nil, ratio: AspectRatio(width: 16, height: 9))
                $0.fit = .cover
            }),
        Wish(
            recipe: .with {
                $0.box.ratio = AspectRatio(width: 1, height: 1)
                $0.fit = .contain
            }, output: OutputOptions()),
        Wish(recipe: .with { $0.box = Box(horizontal: .pixels(30), vertical: nil, minWidth: 9, minHeight: 40) }),
        Wish(
            recipe: .with {
                $0.crop = Crop(x: .percent(half), y: .pixels(0), width: .percent(half), height: .percent(half))
                $0.pixelate = Pixelate(block: .pixels(5))
                $0.duotone = Duotone(shadow: .transparent, highlight: .white)
            }, output: OutputOptions()),
    ]

    private static let half = Percentage(hundredths: 5_000)

    private static let limits = PixelLimits(maxSourcePixels: 3_000_000)

    private func job(_ source: ByteBuffer, _ wish: Wish) -> ImageJob {
        ImageJob(
            source: source, pages: wish.pages, chain: TransformChain(wish.recipe, limits: Self.limits),
            resampling: wish.recipe.resampling, output: wish.output, limits: Self.limits)
    }

    @Test(arguments: FixtureTableTests.Row.all)
    func `Processing matches its plan`(_ row: FixtureTableTests.Row) throws {
        let source = try row.bytes()
        for (number, wish) in Self.wishes.enumerated() {
            let job = job(source, wish)
            let plan = Result { () throws(ImageProcessingError) in try InProcessImageProcessor().plan(job) }
            let made = Result { () throws(ImageProcessingError) in
                try InProcessImageProcessor().process(job) { false }
            }
            let name = Comment(rawValue: "\(row.path), wish \(number)")
            switch (plan, made) {
            case (.success(let plan), .success(let made)):
                #expect(plan.size == made.size, name)
                #expect(plan.frames == made.frames, name)
                #expect(plan.format == made.format, name)
                #expect(plan.sourceFormat == made.sourceFormat, name)
                #expect(plan.isExact, name)
            // libvips adds the messages of other threads to an error.
            case (.failure(.corrupt), .failure(.corrupt)): break
            case (.failure(let refusal), .failure(let failure)): #expect(refusal == failure, name)
            case (.failure, .success): Issue.record("The plan refused what processing accepts: \(name), \(plan)")
            case (.success, .failure(.corrupt)): break
            case (.success, .failure(let failure)): Issue.record("The plan did not predict: \(name), \(failure)")
            }
        }
    }

    @Test func `A conversion by a profile counts as work, of CMYK most`() throws {
        func work(_ name: String) throws -> Double {
            let source = try Fixture.image("color/\(name)")
            return try InProcessImageProcessor().plan(job(source, Wish(recipe: .box(50)))).expectedWork
        }
        let plain = try work("squares.jpg")
        #expect(try work("display-p3.jpg") > plain + 4)
        #expect(try work("cmyk.jpg") > plain + 19)
        #expect(try work("cmyk-profile.jpg") > plain + 19)
    }

    @Test(arguments: FixtureTableTests.Row.all.filter { $0.outcome == "decode" })
    func `The decoder delivers the planned raster`(_ row: FixtureTableTests.Row) throws {
        let source = try row.bytes()
        let header = try SourceHeader(of: source)
        for side in [9, 40, 120] {
            let job = job(source, Wish(recipe: .box(side)))
            let last = try InProcessImageProcessor.planned(job, header, framesUsed: 1)
            let decoder = Decoder(source: source, header: header) { false }
            let parameters = try decoder.parameters(of: job, framesUsed: 1, as: last.decode)
            let decoded = try decoder.decode(parameters).image
            let planned = try InProcessImageProcessor().plan(job).steps.first
            #expect(planned?.size == PixelSize(width: decoded.width, height: decoded.height))
        }
    }

    @Test func `Each step has its raster: the decoder's until the resize`() throws {
        let source = try Fixture.image("sample.jpg")
        let plan = try InProcessImageProcessor().plan(job(source, Wish(recipe: .box(200, 200, fit: .cover))))
        #expect(plan.shrinkOnLoad == 4)
        #expect(plan.steps.map(\.name) == ["decode", "orient", "resize", "srgb", "cover"])
        #expect(
            plan.steps.map { [$0.size.width, $0.size.height] }
                == [[266, 400], [400, 266], [300, 200], [300, 200], [200, 200]])
        #expect(plan.estimatedMemoryBytes > source.readableBytes + 266 * 400 * 3 + 200 * 200 * 3)
        #expect(plan.estimatedMemoryBytes < 4 << 20)
        #expect(plan.expectedWork > 1)
    }

    @Test func `After a step that depends on pixels, sizes are upper bounds`() throws {
        let source = try Fixture.image("sample.jpg")
        let plan = try InProcessImageProcessor().plan(job(source, Wish(recipe: .with { $0.trim = Trim(threshold: 9) })))
        #expect(!plan.isExact)
        #expect(plan.size == PixelSize(width: 1600, height: 1067))
    }

    @Test func `A gzipped drawing is as much work as its plain document`() throws {
        let zipped = try Fixture.image("hostile/drawing.svgz")
        let plain = try Gzip.inflate(zipped, maxBytes: 10_000).plain
        #expect(plain.readableBytes > 2 * zipped.readableBytes)
        let size = PixelSize(width: 40, height: 30)
        let work = try [zipped, plain].map { source in
            [
                try InProcessImageProcessor().plan(job(source, Wish(recipe: .box(40)))).expectedWork,
                try MarkSource(source, limits: Self.limits).cost(1, at: size).work,
            ]
        }
        #expect(work[0] == work[1])
    }

    @Test func `A document about the header decodes nothing`() throws {
        let source = try Fixture.image("sample.jpg")
        let plan = try InProcessImageProcessor().plan(job(source, Wish(output: OutputOptions(format: .json))))
        #expect(plan.steps.isEmpty)
        #expect(plan.usage(of: Self.limits).isEmpty)
        #expect(plan.estimatedMemoryBytes == source.readableBytes)
    }

    @Test func `A plan reports its usage of each limit that applies`() throws {
        let still = try InProcessImageProcessor().plan(job(try Fixture.image("sample.jpg"), Wish(recipe: .box(400))))
        let limits = PixelLimits(maxSourcePixels: 1600 * 1067 * 2, maxOutputSide: 800, maxOutputPixels: 400 * 267 * 4)
        let uses = still.usage(of: limits)
        #expect(
            uses.map(\.setting) == ["max-source-pixels", "max-output-side", "max-output-pixels", "max-processing-time"])
        #expect(uses.map(\.share).dropLast() == [0.5, 0.5, 0.25])
        #expect(uses.last?.value == Int(still.expectedWork.rounded(.up)))
        let moving = try InProcessImageProcessor().plan(
            job(try Fixture.image("animation/disposal.gif"), Wish(output: OutputOptions())))
        #expect(moving.usage(of: limits).contains { $0.setting == "max-animation-pixels" })
    }
}
