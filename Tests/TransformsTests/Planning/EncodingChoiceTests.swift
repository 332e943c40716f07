import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// What becomes of an image that would take too long.
struct EncodingChoiceTests {
    private func plan(
        _ source: ByteBuffer, _ recipe: Recipe = Recipe(), _ output: OutputOptions = OutputOptions(),
        milliseconds: Int = PixelLimits().maxProcessingMilliseconds, efforts: EncoderEfforts = EncoderEfforts(),
        pages: PageSelection = PageSelection()
    ) throws(ImageProcessingError) -> ImagePlan {
        let limits = PixelLimits(maxProcessingMilliseconds: milliseconds)
        return try InProcessImageProcessor().plan(
            ImageJob(
                source: source, pages: pages, chain: TransformChain(recipe, limits: limits), output: output,
                efforts: efforts, limits: limits))
    }

    /// A JPEG whose header states another size. Its file is as long as a photograph's.
    func photograph(_ width: Int, _ height: Int) throws -> ByteBuffer {
        var file = JPEGFile(try Fixture.image("formats/photo.jpg"))
        let frame = try #require(file.segments.firstIndex { $0.marker == 0xC0 })
        let sides = [height >> 8, height & 255, width >> 8, width & 255].map { UInt8($0) }
        file.segments[frame].content.replaceSubrange(1..<5, with: sides)
        return file.bytes.followed(by: Array(repeating: 0, count: width * height / 3) + [0xFF, 0xD9])
    }

    @Test(arguments: [(4000, 3000), (3000, 4000)])
    func `A photograph of 12 megapixels is encoded as AVIF at every width`(width: Int, height: Int) throws {
        let source = try photograph(width, height)
        for wanted in Array(stride(from: 320, to: width, by: 160)) + [width] {
            for recipe in [Recipe.box(wanted), Recipe()] {
                let planned = try plan(source, recipe, OutputOptions(format: .avif))
                #expect(planned.format == .avif && planned.expectedWork <= 4000, "\(wanted)")
            }
        }
        #expect(try plan(source, .box(800), OutputOptions(format: .avif)).effort == EncoderEfforts().avif)
        #expect(try #require(plan(source, Recipe(), OutputOptions(format: .avif)).effort) < EncoderEfforts().avif)
    }

    @Test(arguments: [
        OutputOptions(format: .avif), OutputOptions(format: .avif, lossless: true),
        OutputOptions(format: .webp), OutputOptions(format: .webp, lossless: true),
        OutputOptions(format: .jxl), OutputOptions(format: .jxl, lossless: true),
        OutputOptions(format: .png, compression: 9, filtersRows: true),
    ])
    func `The effort is the greatest whose time is within the limit, and the image is encoded with it`(
        _ output: OutputOptions
    ) throws {
        let source = try Fixture.image("formats/photo.jpg")
        let format = try #require(output.format)
        let settings = EncoderEfforts(jxl: 5)
        let usual = try plan(source, Recipe(), output, efforts: settings)
        let configured = try #require(settings.with(output.compression, for: .png)[format])
        #expect(usual.effort == configured)
        let limit = Int((usual.expectedWork - usual.choiceWork) * 0.98)
        let faster = try plan(source, Recipe(), output, milliseconds: limit, efforts: settings)
        let effort = try #require(faster.effort)
        #expect(effort < configured && faster.expectedWork <= Double(limit) && faster.preferredFormat == nil)
        #expect(faster.estimatedMemoryBytes <= usual.estimatedMemoryBytes)
        var explicit = output
        explicit.compression = nil
        let greater = try plan(source, Recipe(), explicit, efforts: settings.with(effort + 1, for: format))
        #expect(greater.expectedWork > Double(limit))
        func made(_ output: OutputOptions, _ efforts: EncoderEfforts, _ limits: PixelLimits) throws -> ProcessedImage {
            let job = ImageJob(
                source: source, chain: TransformChain(Recipe()), output: output, efforts: efforts, limits: limits)
            return try InProcessImageProcessor().process(job) { false }
        }
        let image = try made(output, settings, PixelLimits(maxProcessingMilliseconds: limit))
        #expect(image.effort == effort)
        #expect(try image.body == made(explicit, settings.with(effort, for: format), PixelLimits()).body)
    }

    private static let choices: [(String, OutputOptions, OutputFormat, OutputFormat)] = [
        ("formats/photo.avif", OutputOptions(), .avif, .jpeg),
        ("formats/alpha.avif", OutputOptions(), .avif, .png),
        ("formats/photo.avif", OutputOptions(lossless: true), .avif, .png),
        ("formats/photo.avif", OutputOptions(passthrough: .auto), .avif, .jpeg),
        ("formats/photo.jpg", OutputOptions(format: .avif, alternative: .natural), .avif, .jpeg),
        ("formats/photo.jpg", OutputOptions(format: .avif, alternative: .webp), .avif, .webp),
        ("formats/alpha.png", OutputOptions(format: .avif, alternative: .webp), .avif, .webp),
        ("formats/photo.jpg", OutputOptions(format: .webp, alternative: .natural), .webp, .jpeg),
    ]

    @Test(arguments: choices)
    func `A format that the server chose is replaced by the next that takes no longer than allowed`(
        name: String, output: OutputOptions, preferred: OutputFormat, expected: OutputFormat
    ) throws {
        let source = try Fixture.image(name)
        let recipe = Recipe.box(1600, enlarge: true)
        // A limit that is too short for the preferred format at any effort.
        let least = EncoderEfforts(webp: 0, avif: 0, jxl: 3, png: 1)
        let fastest = try plan(source, recipe, output.converted(to: preferred), milliseconds: 1_000_000, efforts: least)
        let limit = Int(fastest.expectedWork) - 1
        #expect(try plan(source, recipe, output, milliseconds: 1_000_000).format == preferred)
        let chosen = try plan(source, recipe, output, milliseconds: limit)
        #expect(chosen.format == expected && chosen.preferredFormat == preferred)
        let made = try produce(source, recipe, output: output, limits: PixelLimits(maxProcessingMilliseconds: limit))
        #expect(made.format == expected && made.size == chosen.size)
        #expect(SourceFormat(sniffing: made.body)?.mediaType == expected.mediaType)
        // A request that names the format is refused.
        let error = #expect(throws: ImageProcessingError.self) {
            try plan(source, recipe, output.converted(to: preferred), milliseconds: limit)
        }
        guard case .badParameter(let refusal) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(["output", "ll", "w"].contains(refusal.parameter))
    }

    @Test func `A negotiated format that would take much memory is replaced by one that takes less`() throws {
        let output = OutputOptions(format: .jxl, alternative: .webp)
        let large = try photograph(8000, 5000)
        let planned = try plan(large, Recipe(), output, milliseconds: 10_000)
        #expect(planned.format == .webp && planned.preferredFormat == .jxl)
        #expect(planned.estimatedMemoryBytes <= 1 << 30)
        #expect(try plan(photograph(4000, 3000), Recipe(), output, milliseconds: 10_000).format == .jxl)
        let named = try plan(large, Recipe(), OutputOptions(format: .jxl), milliseconds: 10_000)
        #expect(named.format == .jxl && named.estimatedMemoryBytes > 1 << 30)
    }

    @Test func `A choice by the pixels is part of the estimate, and left out where there is no time for it`() throws {
        let (chart, photo) = (try PixelContentTests.chart().png(), try Fixture.image("formats/photo.jpg"))
        for (source, format) in [
            (chart, OutputFormat.webp), (chart, .jxl), (chart, .png), (photo, .png), (photo, .jxl),
        ] {
            let output = OutputOptions(format: format)
            let usual = try plan(source, Recipe(), output)
            #expect(usual.choiceWork > 0)
            let limit = Int(usual.expectedWork.rounded(.up))
            #expect(try plan(source, Recipe(), output, milliseconds: limit) == usual)
            let short = try plan(source, Recipe(), output, milliseconds: Int(usual.expectedWork) - 1)
            #expect(short.choiceWork == 0 && short.effort == usual.effort)
            #expect(abs(short.expectedWork + usual.choiceWork - usual.expectedWork) < 1e-6)
            #expect(short.estimatedMemoryBytes <= usual.estimatedMemoryBytes)
        }
        for format in [OutputFormat.webp, .jpeg, .avif] {
            #expect(try plan(photo, Recipe(), OutputOptions(format: format)).choiceWork == 0, "\(format)")
        }
        #expect(try plan(photo, .box(300), OutputOptions(format: .jxl)).choiceWork == 0)
        // A second encode takes longer at a greater effort too.
        for (format, efforts, factor) in [
            (OutputFormat.webp, EncoderEfforts(webp: 6), 1.5), (.jxl, EncoderEfforts(jxl: 8), 4.2),
            (.png, EncoderEfforts(png: 9), 1.1),
        ] {
            let output = OutputOptions(format: format)
            let usual = try plan(chart, Recipe(), output)
            let thorough = try plan(chart, Recipe(), output, efforts: efforts)
            #expect(abs(thorough.choiceWork - usual.choiceWork * factor) < 1e-6, "\(format)")
        }
        for output in [
            OutputOptions(format: .webp, lossless: true), OutputOptions(format: .webp, nearLossless: true),
            OutputOptions(format: .png, palette: true), OutputOptions(format: .png, filtersRows: true),
        ] { #expect(try plan(chart, Recipe(), output).choiceWork == 0) }
    }

    @Test func `An animation is a drawing only if its frames are stored without loss`() throws {
        let chart = try PixelContentTests.chart()
        let stacked = try VipsImage.stacked([chart, chart.applying("invert")])
        let frames = try stacked.setting(ints: ["page-height": stacked.height / 2])
        for lossless in [true, false] {
            let source = try VipsSaver.webp.encode(frames, ["lossless": .bool(lossless)])
            let planned = try plan(source, Recipe(), OutputOptions(format: .webp))
            #expect(planned.frames == 2 && (planned.choiceWork > 0) == lossless)
        }
    }

    @Test func `A small drawing is compared with its lossless form although its metadata are long`() throws {
        var file = PNGFile(try Drawing.quarters(80, 80).png())
        let output = OutputOptions(format: .webp)
        #expect(try plan(file.bytes, Recipe(), output).choiceWork > 0)
        let text = Array("Comment\0".utf8) + Array(repeating: 65, count: 9000)
        file.chunks.insert(.init(type: "tEXt", content: text), at: 1)
        #expect(try plan(file.bytes, Recipe(), output).choiceWork > 0)
    }

    @Test func `A drawing of 50 megapixels is encoded once, within the limit`() throws {
        var file = PNGFile(try PixelContentTests.chart().png())
        let sides = [8000, 6250].flatMap { side -> [UInt8] in [0, 0, UInt8(side >> 8), UInt8(side & 255)] }
        file.chunks[0].content.replaceSubrange(0..<8, with: sides)
        for format in [OutputFormat.webp, .jxl, .png] {
            let planned = try plan(file.bytes, Recipe(), OutputOptions(format: format), milliseconds: 6000)
            #expect(planned.choiceWork == 0 && planned.expectedWork <= 6000, "\(format)")
        }
    }

    @Test func `An animation is never replaced by its first frame`() throws {
        let source = try Fixture.image("animation/disposal.gif")
        let output = OutputOptions(format: .avif, alternative: .webp)
        #expect(try plan(source, .box(3000, enlarge: true), output, milliseconds: 100_000).format == .webp)
        let error = #expect(throws: ImageProcessingError.self) {
            try plan(source, .box(3000, enlarge: true), output, milliseconds: 100)
        }
        guard case .badParameter(let refusal) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.parameter == "w" && refusal.reason.contains("fewer frames"))
    }

    @Test func `A refusal names a parameter that the request has, or the source`() throws {
        let photograph = try photograph(8000, 6000)
        func refusal(
            _ recipe: Recipe = Recipe(), _ output: OutputOptions = OutputOptions(format: .avif), milliseconds: Int = 900
        ) -> (parameter: String?, sentence: String) {
            do throws(ImageProcessingError) {
                _ = try plan(photograph, recipe, output, milliseconds: milliseconds)
                return (nil, "")
            } catch {
                switch error {
                case .badParameter(let error): return (error.parameter, error.reason)
                case .tooLarge(let sentence): return (nil, sentence)
                default: return (nil, "\(error)")
                }
            }
        }
        #expect(refusal().parameter == "output")
        #expect(refusal(.box(7000)).parameter == "w")
        #expect(refusal(.box(nil, 5000)).parameter == "h")
        #expect(refusal(.box(7000), OutputOptions(format: .webp, lossless: true)).parameter == "ll")
        #expect(refusal(.box(7000), OutputOptions(format: .avif, maxBytes: 9)).parameter == "max_bytes")
        var listed = Recipe.box(7000)
        listed.steps = [.flip]
        #expect(refusal(listed, OutputOptions(format: .avif, maxBytes: 9)).parameter == "max_bytes")
        listed = Recipe()
        listed.steps = Array(repeating: .blur(Blur(sigma: 9)), count: 8)
        let effects = refusal(listed, OutputOptions(format: .jpeg))
        #expect(effects.parameter == "steps" && effects.sentence.contains("fewer effects"), "\(effects)")
        for output in [OutputOptions(), OutputOptions(format: .avif, alternative: .webp)] {
            let (parameter, sentence) = refusal(Recipe(), output)
            #expect(parameter == nil && sentence.hasPrefix("The image would take about "), "\(sentence)")
            #expect(sentence.contains("max-processing-time allows at most 0.9 s") && sentence.hasSuffix("."))
        }
    }

    @Test func `A result that is too large by the source's size is the source's fault`() throws {
        let source = try photograph(9000, 10)
        let error = #expect(throws: ImageProcessingError.self) { try plan(source) }
        guard case .tooLarge(let sentence) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(sentence.hasPrefix("The result would be 9000×10 pixels"))
    }
}
