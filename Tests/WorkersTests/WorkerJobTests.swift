import DarkroomMachine
import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore
import Testing

@testable import DarkroomWorkers

@Suite(.timeLimit(.minutes(5)), .enabled(if: WorkerSite.isSupported))
struct WorkerJobTests {
    /// Every parameter at least once.
    static let recipes: [Recipe] = {
        var all = Recipe(resampling: .accurate)
        all.digest = SourceDigest(.md5, "b73dd8ca342d85bd3414da0454cc02fe")
        all.orientation = .exif(6)
        all.inset = Inset(Padding(top: 1, right: 2, bottom: 1, left: 0))
        all.steps = [
            .blur(Blur(sigma: 0.7)), .linear(LinearTones(factor: 1.1, red: -1)), .rotate(degrees: 90),
            .canvas(CanvasFill(.blur, padding: Padding(1))), .scale(Scale(90)),
            .round(RoundCorners(across: 3, down: 2)),
            .excerpt(Crop(x: .pixels(1), y: .pixels(0), width: .percent(90), height: .pixels(9))), .mark,
            .flatten(.average), .pad(CanvasFill(.color(.average), padding: Padding(9))), .text, .flip,
        ]
        all.crop = Crop(x: 1, y: 2, width: 20, height: 30)
        all.trim = Trim(threshold: 7)
        all.box = Box(width: 17, height: 13)
        all.fit = .cover
        all.enlarge = true
        all.position = .focal(x: 0.1, y: 1.0 / 3)
        all.scaleDown = true
        all.cut = Crop(x: .pixels(1), y: .percent(2), width: .percent(90), height: .percent(80))
        all.rotationDegrees = 30
        all.cornerBackground = Color(red: 12, green: 13, blue: 14, alpha: 255)
        all.flip = true
        all.flop = true
        all.background = Color(red: 1, green: 2, blue: 3, alpha: 4)
        all.blur = Blur(sigma: 1.1)
        all.sharpen = Sharpen(sigma: nil)
        all.brightness = Brightness(percent: -3)
        all.contrast = Contrast(percent: 4)
        all.saturation = Saturation(factor: 1.7)
        all.hue = Hue(degrees: 200)
        all.lightness = Lightness(factor: 1.2)
        all.gamma = Gamma(exponent: 2.2)
        all.tint = Tint(.white)
        all.filter = .sepia
        all.duotone = Duotone(shadow: .transparent, highlight: .white)
        all.pixelate = Pixelate(block: .percent(12.5))
        all.text = Text("é", size: 6, color: Color(red: 1, green: 2, blue: 3, alpha: 4), position: .center)
        all.border = BorderStyle(width: 2, color: Color(red: 5, green: 6, blue: 7, alpha: 8))
        all.mask = .pentagon180
        all.maskBackground = Color(red: 9, green: 10, blue: 11, alpha: 12)
        all.trimsMask = true
        all.padding = Padding(top: 1, right: 2, bottom: 3, left: 4)
        all.aiLabel = .topRight
        all.gamut = .source
        all.depth = .source
        all.mark = Mark(
            width: .percent(20), height: .pixels(9), anchor: .top, x: .pixels(-1), opacity: 3, blend: .screen)
        var part = Recipe()
        part.box = Box(horizontal: .percent(5), vertical: .pixels(6))
        part.steps = [.flip]
        var layer = Layer(
            "a-1", .picture(Picture(part)), x: Place(.end, distance: .percent(-1)), y: Place(.start))
        (layer.opacity, layer.blend) = (5, .multiply)
        all.layers = [layer, layer]
        var attention = Recipe(resampling: .linear)
        attention.orientation = .none
        attention.box = Box(width: 9, height: 9)
        attention.fit = .contain
        attention.position = .attention
        attention.blursBackdrop = true
        attention.rules = .wsrv
        attention.redaction = Redaction(.cover(.white))
        attention.canvasBackground = Color(red: 15, green: 16, blue: 17, alpha: 255)
        attention.blur = Blur(sigma: nil)
        attention.radius = CornerRadii(
            topLeft: .pixels(1), topRight: .percent(2), bottomRight: .pixels(3), bottomLeft: .percent(4))
        var relative = Recipe()
        relative.crop = Crop(
            x: .percent(10), y: .pixels(0), width: .percent(50),
            height: .pixels(9))
        relative.box = Box(
            horizontal: .percent(50), vertical: nil, ratio: AspectRatio(width: 4, height: 3),
            minWidth: 7, minHeight: 8)
        relative.fit = .cover
        relative.rules = .imgproxy
        relative.layout = Layout(parsing: "fill-down,dpr:2,zoom:1:2,crop:0.5:9:top:1:2,extend:left,even:x,maxside:8")
        return [Recipe(), all, attention, relative]
    }()

    /// The recipes without faces, for which `FaceJobTests` has smaller images.
    private static var recipesWithoutSearch: [Recipe] {
        recipes.map { recipe in
            var recipe = recipe
            recipe.redaction = nil
            return recipe
        }
    }

    @Test(arguments: recipes)
    func `A job is the same on the other side`(recipe: Recipe) throws {
        var limits = PixelLimits()
        limits.maxFrames = 3
        let job = ImageJob(
            source: ByteBuffer(string: "a"), identity: "b", cachesDecoded: true,
            pages: PageSelection(first: 2, count: 3),
            chain: TransformChain(recipe, limits: limits), resampling: recipe.resampling,
            output: OutputOptions(format: .json, details: [.exif, .palette]), limits: limits)
        let encoded = try #require(EncodedJob(job))
        let crossed = try encoded.job(source: SharedBytes(job.source))
        #expect(EncodedJob(crossed) == encoded)
        #expect(crossed.chain.recipe == recipe && crossed.chain.key == job.chain.key)
        #expect(crossed.output == job.output && crossed.limits == limits && crossed.pages == job.pages)
        #expect(crossed.identity == "b" && crossed.cachesDecoded && crossed.resampling == recipe.resampling)
        #expect(crossed.workIdentity == job.workIdentity)
    }

    @Test func `A worker makes the bytes that this process would make`() async throws {
        let site = try await WorkerSite()
        for recipe in Self.recipesWithoutSearch {
            for format in [OutputFormat.webp, .avif, .json, .blurHash] {
                var job = ImageJob.drawing(format: format)
                job.chain = TransformChain(recipe)
                job.resampling = recipe.resampling
                job.output = OutputOptions(format: format, details: .all)
                job.mark = recipe.mark.map { _ in job.source }
                let made = try site.processor.process(job) { false }
                let expected = try InProcessImageProcessor().process(job) { false }
                #expect(made.body == expected.body, "\(format)")
                #expect(made.format == expected.format && made.size == expected.size)
                #expect(made.frames == 1 && made.sourceFormat == .svg && made.isProven == expected.isProven)
                #expect(made.stages?.encode ?? .zero > .zero)
                #expect((made.stages?.transform == nil) == (expected.stages?.transform == nil))
            }
        }
    }

    @Test func `A worker encodes with less effort where this process would`() async throws {
        let site = try await WorkerSite()
        var job = ImageJob.drawing(width: 400, format: .avif)
        let usual = try InProcessImageProcessor().plan(job)
        job.limits.maxProcessingMilliseconds = Int(usual.expectedWork * 0.9)
        let plan = try InProcessImageProcessor().plan(job)
        #expect(try #require(plan.effort) < EncoderEfforts().avif)
        let expected = try InProcessImageProcessor().process(job) { false }
        let made = try site.processor.process(job) { false }
        #expect(made.body == expected.body && made.effort == plan.effort)
        let allowance = JobAllowance(memoryBytes: 1 << 40, work: 0)
        #expect(try site.processor.attempt(job, within: allowance) { false }.plan == plan)
        #expect(try site.processor.process(job) { false }.body == expected.body)
    }

    @Test func `Every option of the encoder is the same on the other side`() throws {
        let options = [
            OutputOptions(format: .jpeg, target: .high, maxBytes: 900, interlaced: true),
            OutputOptions(format: .webp, quality: 7, nearLossless: true), OutputOptions(format: .png, palette: true),
            OutputOptions(maxBytes: 900, passthrough: .auto),
            OutputOptions(format: .png, compression: 9, filtersRows: true), OutputOptions(metadata: .none),
            OutputOptions(format: .avif, alternative: .webp), OutputOptions(format: .webp, alternative: .natural),
        ]
        for output in options {
            var job = ImageJob.drawing(format: .png)
            job.output = output
            job.pages.first = PageSelection.smallest
            job.webPBytes = 9
            job.efforts = EncoderEfforts(webp: 1, avif: 1, jxl: 5, png: 7)
            let crossed = try #require(EncodedJob(job)).job(source: SharedBytes(job.source))
            #expect(crossed.output == output && crossed.efforts == job.efforts && crossed.pages == job.pages)
            #expect(crossed.webPBytes == 9)
        }
    }

    @Test(arguments: [OutputFormat.jpeg, .webp, .avif, .jxl])
    func `A worker chooses the quality that this process would choose`(_ format: OutputFormat) async throws {
        let site = try await WorkerSite()
        var job = ImageJob.drawing(width: 200, format: format)
        for output in [
            OutputOptions(format: format, target: .medium), OutputOptions(format: format, maxBytes: 1500),
            OutputOptions(format: format, maxBytes: 1),
        ] {
            job.output = output
            let made = try site.processor.process(job) { false }
            let expected = try InProcessImageProcessor().process(job) { false }
            #expect(made.quality == expected.quality && made.quality != nil)
            #expect(made.body == expected.body)
        }
    }

    @Test func `A worker plans what this process would plan, or refuses it alike`() async throws {
        let site = try await WorkerSite()
        for recipe in Self.recipesWithoutSearch {
            var job = ImageJob.drawing()
            job.chain = TransformChain(recipe)
            job.mark = recipe.mark.map { _ in job.source }
            #expect(try site.processor.plan(job) == InProcessImageProcessor().plan(job))
        }
        var nothing = ImageJob.drawing()
        (nothing.source, nothing.identity) = (ByteBuffer(string: "no picture"), "no picture")
        #expect(throws: ImageProcessingError.unsupported) { try site.processor.plan(nothing) }
    }

    /// The most and the longest steps that a query may list, beside everything else.
    @Test(arguments: [
        EffectStep.flip,
        .caption(
            Caption(
                String(repeating: "é", count: 200), x: Place(.start, distance: .pixels(0)),
                y: Place(.start, distance: .pixels(0)), size: .font(6), width: .pixels(9))),
    ])
    func `Long lists of long steps cost no worker`(step: EffectStep) async throws {
        let site = try await WorkerSite()
        var job = ImageJob.drawing()
        var recipe = try #require(Self.recipes.first)
        (recipe.mark, recipe.rules) = (nil, .darkroom)
        recipe.steps = Array(repeating: step, count: EffectStep.maxCount)
        job.chain = TransformChain(recipe)
        #expect(try site.processor.plan(job) == InProcessImageProcessor().plan(job))
        #expect(throws: Never.self) { try site.processor.process(job) { false } }
        #expect(site.processor.statistics.ended == [:])
    }

    @Test func `A result too large for a message comes in sealed memory`() async throws {
        let site = try await WorkerSite()
        var job = ImageJob.drawing(width: 400)
        job.source = ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg" width="400" height="300">\
                <filter id="noise"><feTurbulence type="fractalNoise" baseFrequency="0.9"/></filter>\
                <rect width="400" height="300" filter="url(#noise)"/></svg>
                """)
        let made = try site.processor.process(job) { false }
        #expect(made.body.readableBytes > MessageSocket.maxBodyBytes)
        #expect(made.body == (try InProcessImageProcessor().process(job) { false }.body))
    }

    /// The process that workers are forked from has laid out text before, which takes a thread in some libraries.
    @Test func `A worker draws text with the fonts of this process`() async throws {
        let site = try await WorkerSite()
        var job = ImageJob.drawing(width: 100)
        job.source = ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg" width="100" height="50">\
                <text y="20" font-family="serif">ag</text>\
                <text y="40" font-family="monospace" font-weight="bold">ag</text></svg>
                """)
        let made = try site.processor.process(job) { false }
        #expect(made.body == (try InProcessImageProcessor().process(job) { false }.body))
    }

    @Test func `These recipes have every parameter`() {
        func values(_ recipe: Recipe) -> [String] { Mirror(reflecting: recipe).children.map { "\($0)" } }
        let others = Self.recipes.map(values)
        for (index, plain) in values(Recipe()).enumerated() { #expect(others.contains { $0[index] != plain }) }
    }

    @Test func `Every property of a job crosses, except its bytes and what only the server needs`() throws {
        let names = Mirror(reflecting: ImageJob.drawing()).children.compactMap(\.label)
        #expect(
            names.filter { ImageJob.CodingKeys(stringValue: $0) == nil } == [
                "sharedSource", "images", "expectedWork", "client",
            ])
        let image = ProcessedImage(
            body: ByteBuffer(), format: .png, size: PixelSize(width: 1, height: 2), frames: 3, sourceFormat: .svg,
            isProven: false, quality: ResultQuality(value: 4), stages: ProcessingStages(decode: .seconds(5)))
        let crossed = try ProcessedImage.decoding(image.encoded)
        #expect("\(crossed)" == "\(image)")
    }

    @Test func `Numbers that no plan has are not believed`() throws {
        let plan = try InProcessImageProcessor().plan(.drawing())
        #expect(plan.isPlausible)
        var large = plan
        large.size.width = .max
        var negative = plan
        negative.sourceFrames = -1
        var endless = plan
        endless.shrinkOnLoad = .infinity
        var long = plan
        long.steps = Array(repeating: plan.steps[0], count: WireEncoder.maxListCount + 1)
        var undefined = plan
        undefined.expectedWork = .nan
        for hostile in [large, negative, endless, long, undefined] { #expect(!hostile.isPlausible) }
    }

    /// The failure without libvips' own words, which other operations may add to.
    private func outcome(of job: ImageJob, by processor: any ImageProcessing) -> ImageProcessingError? {
        do throws(ImageProcessingError) {
            _ = try processor.process(job) { false }
            return nil
        } catch {
            if case .corrupt = error { return .corrupt("") }
            return error
        }
    }

    @Test func `A failure comes back as it is, and costs no worker`() async throws {
        let site = try await WorkerSite()
        try await site.ready()
        let workers = site.workers
        var jobs = [ImageJob.drawing(), .drawing(), .drawing(), .drawing()]
        jobs[0].source = ByteBuffer(string: "no picture")
        jobs[1].source = ByteBuffer(bytes: [0xFF, 0xD8, 0xFF, 0])
        jobs[2].limits.maxSourcePixels = 1
        jobs[3].pages.first = 2
        for job in jobs {
            let expected = outcome(of: job, by: InProcessImageProcessor())
            #expect(expected != nil && outcome(of: job, by: site.processor) == expected)
        }
        #expect(site.workers.isSuperset(of: workers) && site.processor.statistics.ended.isEmpty)
    }

    @Test func `A transform of one's own does not cross`() async throws {
        struct Own: Transform {
            let key = "own"
            func apply(_ picture: ImageFrames, context: TransformContext) -> ImageFrames { picture }
        }
        let site = try await WorkerSite()
        var job = ImageJob.drawing()
        job.chain.transforms.append(Own())
        #expect(throws: ImageProcessingError.self) { try site.processor.process(job) { false } }
    }

    @Test func `A chain that was made for other limits than the job's crosses as it is`() async throws {
        let site = try await WorkerSite()
        var job = ImageJob.drawing()
        var recipe = Recipe()
        recipe.scaleDown = true
        job.chain = TransformChain(recipe, limits: PixelLimits(maxOutputSide: 5))
        #expect(try site.processor.process(job) { false }.size == PixelSize(width: 5, height: 4))
    }
}
