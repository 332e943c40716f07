import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Sources that are results themselves, by `passthrough=auto`.
struct SourcePassthroughTests {
    private static let auto = OutputOptions(passthrough: .auto)

    /// A JPEG of a low quality, which grows when it is encoded again, with a position and a comment.
    static func strongJPEG(quality: Int = 30) throws -> ByteBuffer {
        let photo = try produce(
            Fixture.image("formats/photo.jpg"), output: OutputOptions(format: .jpeg, quality: quality))
        var file = JPEGFile(photo.body)
        file.insert(0xE1, Array(GPSPositionTests.Sample().bytes.readableBytesView))
        file.insert(0xFE, Array("Private".utf8))
        return file.bytes
    }

    private static func strongWebP() throws -> ByteBuffer {
        let photo = try produce(Fixture.image("formats/photo.jpg"), output: OutputOptions(format: .webp, quality: 20))
        var file = WebPFile(photo.body)
        let header = WebPFile.Chunk(name: "VP8X", content: [0x04, 0, 0, 0, 127, 2, 0, 170, 1, 0])
        file.chunks.insert(header, at: 0)
        file.chunks.append(WebPFile.Chunk(name: "XMP ", content: Array("Private".utf8)))
        return file.bytes
    }

    private static func palettePNG() throws -> ByteBuffer {
        var file = PNGFile(try Fixture.image("color/palette.png"))
        file.insert("tEXt", Array("Comment\0Private".utf8), before: "IDAT")
        file.insert("eXIf", Array(GPSPositionTests.Sample(head: "").bytes.readableBytesView), before: "IDAT")
        return file.bytes
    }

    private static func gif() throws -> ByteBuffer {
        // A comment before the trailer.
        let image = try Fixture.image("animation/disposal.gif")
        let comment = [0x21, 0xFE, 7] + Array("Private".utf8) + [0, 0x3B]
        return ByteBuffer(bytes: image.readableBytesView.dropLast() + comment)
    }

    static let sources: [(SourceFormat, @Sendable () throws -> ByteBuffer)] = [
        (.jpeg, { try strongJPEG() }), (.png, palettePNG), (.webp, strongWebP), (.gif, gif),
    ]

    @Test(arguments: sources)
    func `A source that encoding makes no smaller comes back with its own data and without metadata`(
        _ format: SourceFormat, _ make: @Sendable () throws -> ByteBuffer
    ) throws {
        let source = try make()
        let encoded = try produce(source, output: OutputOptions())
        let result = try produce(source, output: Self.auto)
        let stripped = try #require(result.format.row.stripped?(source))
        #expect(result.body == stripped && result.quality == .ofSource())
        #expect(result.body.readableBytes < source.readableBytes)
        #expect(result.body.readableBytes <= encoded.body.readableBytes)
        #expect(source.contains("Private") && !result.body.contains("Private") && !result.body.contains("Exif"))
        #expect((result.format, result.size, result.frames) == (encoded.format, encoded.size, encoded.frames))
        #expect(result.isProven && result.stages?.decode != nil)
        for frame in 0..<result.frames {
            #expect(try Pixels(result.body, frame: frame).samples == Pixels(source, frame: frame).samples)
        }
    }

    @Test func `A source that encoding makes smaller is encoded`() throws {
        let source = try Self.strongJPEG(quality: 97)
        #expect(try produce(source, output: Self.auto).body == produce(source, output: OutputOptions()).body)
        #expect(try produce(source, output: Self.auto).quality == nil)
    }

    @Test(arguments: [
        Recipe.box(4000), .box(640, 427, fit: .cover), .box(640, 500), .box(700, 427, fit: .contain, as: .linear),
        .with { $0.background = .white }, .with { $0.orientation = .exif(1) }, .with { $0.rules = .wsrv },
        .with { $0.scaleDown = true },
    ])
    func `Steps that change nothing do not matter`(_ recipe: Recipe) throws {
        var recipe = recipe
        if recipe.fit == .contain { recipe.box = Box(width: 640, height: 427) }
        #expect(try produce(Self.strongJPEG(), recipe, output: Self.auto).quality == .ofSource())
    }

    @Test(arguments: [
        Recipe.box(639), .box(700, enlarge: true), .box(400, 400, fit: .cover), .box(700, 427, fit: .contain),
        .with { $0.crop = Crop(x: 0, y: 0, width: 640, height: 426) }, .with { $0.flip = true },
        .with { $0.rotationDegrees = 180 }, .with { $0.orientation = .exif(3) }, .with { $0.blur = Blur(sigma: 2) },
        .with { $0.filter = .greyscale }, .with { $0.text = Text("a") }, .with { $0.radius = CornerRadii(.pixels(9)) },
        .with { $0.padding = Padding(1) }, .with { $0.border = BorderStyle(width: 1, color: .white) },
        .with { $0.brightness = Brightness(percent: 1) },
    ])
    func `A step that changes pixels has them encoded`(_ recipe: Recipe) throws {
        let gray = try produce(Self.strongJPEG()).body
        for source in [try Self.strongJPEG(), try Drawing.grayJPEG(of: gray)] {
            let result = try produce(source, recipe, output: Self.auto)
            let encoded = try produce(source, recipe, output: OutputOptions())
            #expect(result.quality == nil && result.body == encoded.body)
        }
    }

    @Test(arguments: [
        OutputOptions(format: .png, passthrough: .auto), OutputOptions(format: .webp, passthrough: .auto),
        OutputOptions(interlaced: true, passthrough: .auto), OutputOptions(palette: true, passthrough: .auto),
        OutputOptions(quality: 5, passthrough: .auto),
    ])
    func `Another format, another form or fewer bytes are encoded`(_ output: OutputOptions) throws {
        #expect(try produce(Self.strongJPEG(), output: output).quality == nil)
    }

    @Test func `A quality only decides what the source is compared with`() throws {
        let source = try Self.strongJPEG()
        let length = try #require(JPEGContainer.stripped(source)).readableBytes
        for output in [
            OutputOptions(quality: 95, passthrough: .auto), OutputOptions(target: .high, passthrough: .auto),
            OutputOptions(maxBytes: length * 2, passthrough: .auto),
        ] { #expect(try produce(source, output: output).quality == .ofSource()) }
        let png = try Self.palettePNG()
        let tight = try produce(png, output: OutputOptions(maxBytes: 9, passthrough: .auto))
        #expect(tight.quality == .ofSource(fits: false))
    }

    @Test(arguments: [
        "color/display-p3.jpg", "color/icc-swap.jpg", "color/icc-swap.png", "color/grey-linear-profile.png",
        "color/cmyk.jpg", "color/sixteen-bit.png", "color/sixteen-bit-grey.png", "orientation/f-6.png",
        "orientation/f-2.jpg", "orientation/f-6.webp", "color/icc-swap.webp", "sample.jpg",
    ])
    func `Colors that have to be converted and an orientation are encoded`(_ name: String) throws {
        let source = try Fixture.image(name)
        // The greatest quality, so that nothing is passed on for its size.
        let best = OutputOptions(quality: 100, passthrough: .auto)
        for recipe in [Recipe(), .with { $0.orientation = .none }] {
            #expect(try produce(source, recipe, output: best).quality == nil)
        }
    }

    @Test(arguments: ["color/grey.jpg", "color/grey-rgb-profile.jpg", "color/grey.png", "color/one-bit.png"])
    func `Gray images are passed on as gray`(_ name: String) throws {
        let source = try Fixture.image(name)
        let result = try produce(source, output: OutputOptions(quality: 100, passthrough: .auto))
        #expect(result.quality == .ofSource())
        #expect(try Pixels(result.body).samples == Pixels(source).samples)
    }

    @Test(arguments: sources)
    func `A source with rights is passed on with them, or without metadata by request`(
        _ format: SourceFormat, _ make: @Sendable () throws -> ByteBuffer
    ) throws {
        var rights = ImageRights()
        (rights.creator, rights.licensorURL) = ("Zoë", "https://a.example/buy")
        let bare = try produce(make(), output: Self.auto)
        let packet = XMPPacket.make(rights.properties)
        let source = try #require(bare.format.row.addingXMP?(packet, bare.body))
        let result = try produce(source, output: Self.auto)
        #expect(result.quality == .ofSource() && result.body == source)
        #expect(try SourceHeader(of: result.body).withFields(of: result.body) { ImageRights(of: $0) } == rights)
        let none = try produce(source, output: OutputOptions(passthrough: .auto, metadata: .none))
        #expect(none.quality == .ofSource() && none.body == bare.body)
        let all = try produce(source, output: OutputOptions(passthrough: .auto, metadata: .all))
        #expect(all.quality == .ofSource() && all.body == source)
    }

    @Test func `Of an animation, only all frames are passed on`() throws {
        let source = try Self.gif()
        #expect(try produce(source, output: Self.auto).frames == 4)
        #expect(try produce(source, output: Self.auto, pages: PageSelection(count: 3)).quality == nil)
        #expect(try produce(source, output: Self.auto, pages: PageSelection(first: 2)).quality == nil)
        let webp = OutputOptions(format: .avif, passthrough: .auto, alternative: .webp)
        #expect(try produce(Fixture.image("animation/disposal.webp"), output: webp).format == .webp)
    }

    @Test func `A file in an unexpected form is not passed on`() throws {
        let webp = try Self.strongWebP()
        var file = WebPFile(webp)
        file.chunks.append(WebPFile.Chunk(name: "ANIM", content: [0, 0, 0, 0, 0, 0]))
        #expect(try produce(webp, output: Self.auto).quality == .ofSource())
        #expect(try produce(file.bytes, output: Self.auto).quality == nil)
    }

    @Test func `A cached decode that was made upright is not taken for the source's own pixels`() throws {
        let processor = InProcessImageProcessor(decoded: DecodedCache(budgetBytes: 1 << 24))
        for _ in 0..<2 {
            let job = ImageJob(
                source: try Fixture.image("orientation/f-3.jpg"), identity: "f", cachesDecoded: true,
                chain: TransformChain(Recipe()), output: OutputOptions(quality: 100, passthrough: .auto))
            #expect(try processor.process(job) { false }.quality == nil)
        }
        let job = ImageJob(
            source: try Self.strongJPEG(), identity: "j", cachesDecoded: true, chain: TransformChain(Recipe()),
            output: Self.auto)
        for _ in 0..<2 { #expect(try processor.process(job) { false }.quality == .ofSource()) }
    }

    @Test func `The copy of the source is part of the estimated memory`() throws {
        let source = try Self.strongJPEG()
        func bytes(_ output: OutputOptions) throws -> Int {
            try PreparedJob(ImageJob(source: source, chain: TransformChain(Recipe()), output: output)).plan()
                .estimatedMemoryBytes
        }
        #expect(try bytes(Self.auto) == bytes(OutputOptions()) + source.readableBytes)
    }
}
