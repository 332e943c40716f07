import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// JPEGs that become JPEG XL without loss.
struct JPEGTranscodingTests {
    private static let kept = OutputOptions(format: .jxl, passthrough: .auto)

    @Test(arguments: [30, 60, 97])
    func `With passthrough, a JPEG is a smaller JPEG XL of the same data, without metadata`(_ quality: Int) throws {
        let source = try SourcePassthroughTests.strongJPEG(quality: quality)
        let stripped = try #require(JPEGContainer.stripped(source))
        for output in [
            Self.kept, OutputOptions(format: .jxl, passthrough: .auto, alternative: .webp),
            OutputOptions(format: .jxl, lossless: true, passthrough: .auto),
        ] {
            let result = try produce(source, output: output)
            #expect(result.format == .jxl && result.quality == .ofSource() && result.isProven)
            // It exists only if the JPEG came back byte by byte.
            #expect(result.body == JPEGXLTranscoder.transcode(stripped))
            #expect(result.body.readableBytes < stripped.readableBytes * 9 / 10)
            #expect(result.body.contains("jbrd") && !result.body.contains("Private") && !result.body.contains("Exif"))
            #expect(try SourceHeader(of: result.body).size == result.size)
        }
    }

    @Test func `A JPEG with rights is kept with them, or without metadata by request`() throws {
        var rights = ImageRights()
        (rights.creator, rights.licensorURL) = ("Zoë", "https://a.example/buy")
        let stripped = try #require(JPEGContainer.stripped(SourcePassthroughTests.strongJPEG()))
        let source = try #require(JPEGContainer.adding(xmp: XMPPacket.make(rights.properties), to: stripped))
        let bare = try #require(JPEGXLTranscoder.transcode(stripped))
        let whole = try #require(JPEGXLContainer.adding(xmp: XMPPacket.make(rights.properties), to: bare))
        for (policy, body) in [(MetadataPolicy.rights, whole), (.all, whole), (.none, bare)] {
            let output = OutputOptions(format: .jxl, passthrough: .auto, metadata: policy)
            let result = try produce(source, output: output)
            #expect(result.quality == .ofSource() && result.body == body)
            let kept = try SourceHeader(of: result.body).withFields(of: result.body) { ImageRights(of: $0) }
            #expect(kept == (policy == .none ? ImageRights() : rights))
        }
        #expect(try Pixels(whole).samples == Pixels(bare).samples)
    }

    @Test func `It has the pixels of the JPEG`() throws {
        for source in [
            try SourcePassthroughTests.strongJPEG(), try Fixture.image("color/grey.jpg"),
            try Fixture.image("formats/progressive.jpg"),
        ] {
            let (own, kept) = (try Pixels(source), try Pixels(produce(source, output: Self.kept).body))
            try #require(own.size == kept.size && own.samples.count == kept.samples.count)
            let error = zip(own.samples, kept.samples).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(error < own.samples.count * 2)
        }
    }

    @Test func `Without passthrough, it is kept where encoding takes more bytes`() throws {
        let source = try SourcePassthroughTests.strongJPEG()
        let lossy = OutputOptions(format: .jxl)
        #expect(try produce(source, output: lossy).quality == .ofSource())
        #expect(try produce(source, output: lossy).body == produce(source, output: Self.kept).body)
        #expect(try produce(SourcePassthroughTests.strongJPEG(quality: 97), output: lossy).quality == nil)
        let exact = OutputOptions(format: .jxl, lossless: true)
        #expect(try produce(source, output: exact).quality == nil)
    }

    @Test func `The plan says whether the data of a JPEG is kept`() throws {
        let source = try SourcePassthroughTests.strongJPEG()
        func outcome(_ output: OutputOptions, _ recipe: Recipe = Recipe(), of source: ByteBuffer) throws
            -> JPEGDataOutcome?
        {
            let job = ImageJob(source: source, chain: TransformChain(recipe), output: output)
            let (planned, result) = (try PreparedJob(job).plan(), try produce(source, recipe, output: output))
            let isHeld = result.format == .jxl && result.quality == .ofSource()
            #expect(!isHeld || planned.jpegData != nil, "\(output)")
            return planned.jpegData
        }
        let exact = OutputOptions(format: .jxl, lossless: true, passthrough: .auto)
        for output in [Self.kept, exact] { #expect(try outcome(output, of: source) == .kept) }
        for output in [
            OutputOptions(format: .jxl), OutputOptions(format: .jxl, quality: 95, passthrough: .auto),
        ] { #expect(try outcome(output, of: source) == .keptIfSmaller) }
        for (output, recipe) in [
            (OutputOptions(format: .jxl, lossless: true), Recipe()), (exact, .box(300)),
            (OutputOptions(format: .jpeg, passthrough: .auto), Recipe()),
        ] { #expect(try outcome(output, recipe, of: source) == nil) }
        for name in ["orientation/f-6.jpg", "color/palette.png"] {
            #expect(try outcome(Self.kept, of: Fixture.image(name)) == nil, "\(name)")
        }
    }

    @Test func `A quality only decides what it is compared with`() throws {
        let source = try SourcePassthroughTests.strongJPEG(quality: 50)
        for output in [
            OutputOptions(format: .jxl, quality: 95, passthrough: .auto),
            OutputOptions(format: .jxl, maxBytes: 1 << 20, passthrough: .auto),
            OutputOptions(format: .jxl, quality: 95),
        ] { #expect(try produce(source, output: output).quality == .ofSource()) }
        for output in [
            OutputOptions(format: .jxl, quality: 20, passthrough: .auto),
            OutputOptions(format: .jxl, maxBytes: 5_000, passthrough: .auto),
        ] { #expect(try produce(source, output: output).quality != .ofSource()) }
    }

    @Test(arguments: [
        Recipe.box(639), .with { $0.flip = true }, .with { $0.filter = .greyscale }, .with { $0.text = Text("a") },
    ])
    func `A step that changes pixels has them encoded`(_ recipe: Recipe) throws {
        let source = try SourcePassthroughTests.strongJPEG()
        let result = try produce(source, recipe, output: Self.kept)
        #expect(result.format == .jxl && result.quality == nil && !result.body.contains("jbrd"))
    }

    @Test(arguments: [
        "color/cmyk.jpg", "color/display-p3.jpg", "orientation/f-6.jpg", "sample.jpg", "color/palette.png",
        "formats/photo.webp",
    ])
    func `A JPEG of other colors or with an orientation, and another format are encoded`(_ name: String) throws {
        let result = try produce(Fixture.image(name), output: Self.kept)
        #expect(result.format == .jxl && result.quality == nil)
    }

    @Test func `A damaged or a foreign file is not taken`() throws {
        let whole = try #require(JPEGContainer.stripped(SourcePassthroughTests.strongJPEG()))
        #expect(JPEGXLTranscoder.transcode(whole) != nil)
        for length in [0, 1, 2, 20, 300, whole.readableBytes / 2, whole.readableBytes - 2] {
            #expect(JPEGXLTranscoder.transcode(ByteBuffer(bytes: whole.readableBytesView.prefix(length))) == nil)
        }
        for name in ["color/cmyk.jpg", "hostile/truncated.jpg", "hostile/png.jpg", "color/palette.png"] {
            #expect(try JPEGXLTranscoder.transcode(Fixture.image(name)) == nil, "\(name)")
        }
    }

    @Test func `A JPEG for which there is no time is encoded`() throws {
        let source = try SourcePassthroughTests.strongJPEG()
        let job = ImageJob(source: source, chain: TransformChain(Recipe()), output: Self.kept)
        let planned = try PreparedJob(job).plan()
        #expect(planned.choiceWork > 0)
        let short = PixelLimits(maxProcessingMilliseconds: Int(planned.expectedWork) - 1)
        let result = try produce(source, output: Self.kept, limits: short)
        #expect(result.format == .jxl && result.quality == nil)
    }
}
