import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

struct AnimationTests {
    private func fields(of body: ByteBuffer) throws -> (frames: Int, delays: [Int], loop: Int, size: PixelSize) {
        let loader = try #require(SourceFormat(sniffing: body)?.row.loader)
        return try loader.withImage(of: body, ["n": -1]) { image in
            (
                image.int("n-pages") ?? 1, image.ints("delay") ?? [], image.int("loop") ?? -1,
                PixelSize(width: image.width, height: image.int("page-height") ?? image.height)
            )
        }
    }

    @Test(arguments: ["disposal.gif", "disposal.webp"], [OutputFormat.webp, .gif])
    func `Frames, delays and loop survive scaling and a change of format`(_ name: String, _ format: OutputFormat) throws
    {
        let source = try Fixture.image("animation/\(name)")
        let result = try produce(source, .box(48), output: OutputOptions(format: format))
        let found = try fields(of: result.body)
        #expect(result.frames == 4)
        #expect(found.frames == 4)
        #expect(found.delays == [100, 200, 300, 50])
        // The file asks for three repetitions after the first run.
        #expect(found.loop == (name.hasSuffix("gif") ? 4 : 0))
        #expect(found.size == PixelSize(width: 48, height: 32))
        #expect(result.size == found.size)
    }

    @Test(arguments: [OutputFormat.webp, .gif])
    func `A GIF without a repetition count plays once`(_ format: OutputFormat) throws {
        let result = try produce(Fixture.image("animation/opaque.gif"), output: OutputOptions(format: format))
        #expect(try fields(of: result.body).loop == 1)
    }

    @Test func `Frames are complete images, with disposal applied`() throws {
        let result = try produce(
            Fixture.image("animation/disposal.gif"), output: OutputOptions(format: .webp, lossless: true))
        let second = try Pixels(result.body, frame: 1)
        #expect(second.distance(x: 10, y: 50, to: [224, 32, 32]) <= 1)
        let last = try Pixels(result.body, frame: 3)
        #expect(last[10, 10][3] == 0)
        #expect(last.distance(x: 50, y: 20, to: [32, 64, 192]) <= 1)
    }

    @Test func `n and page select frames with their delays`() throws {
        let source = try Fixture.image("animation/disposal.gif")
        let result = try produce(
            source, output: OutputOptions(format: .gif), pages: PageSelection(first: 2, count: 2))
        #expect(try fields(of: result.body).delays == [200, 300])
        let rest = try produce(source, output: OutputOptions(format: .gif), pages: PageSelection(first: 3))
        #expect(rest.frames == 2)
    }

    @Test(arguments: ["disposal.gif", "disposal.webp"])
    func `Frames that are picked evenly keep the duration of the animation`(_ name: String) throws {
        let source = try Fixture.image("animation/\(name)")
        let output = OutputOptions(format: .webp, lossless: true)
        for (first, count, delays, frames) in [
            (1, 2, [300, 350], [0, 2]), (1, 3, [100, 200, 350], [0, 1, 2]), (2, 2, [200, 350], [1, 2]),
            (1, 9, [100, 200, 300, 50], [0, 1, 2, 3]),
        ] {
            let pages = PageSelection(first: first, count: count, isThinned: true)
            let result = try produce(source, output: output, pages: pages)
            #expect(try fields(of: result.body).delays == delays)
            for (index, frame) in frames.enumerated() {
                let single = try produce(source, output: output, pages: PageSelection(first: frame + 1, count: 1))
                let (picked, expected) = (try Pixels(result.body, frame: index), try Pixels(single.body))
                #expect(picked[10, 10].prefix(3) == expected[10, 10].prefix(3), "\(pages) \(frame)")
                #expect(picked[50, 20].prefix(3) == expected[50, 20].prefix(3), "\(pages) \(frame)")
            }
        }
    }

    @Test func `A delay of up to 10 ms is 100 ms, as in browsers`() throws {
        // Equal frames would become one.
        let frames: [[UInt8]] = [0x44, 0x4C, 0x44].map { [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, $0, 1, 0] }
        let screen: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        let controls: [[UInt8]] = [0, 1, 2].map { [0x21, 0xF9, 4, 4, $0, 0, 0, 0] }
        let file = ByteBuffer(bytes: screen + zip(controls, frames).flatMap { $0 + $1 } + [0x3B])
        #expect(try fields(of: produce(file, output: OutputOptions(format: .webp)).body).delays == [100, 100, 20])
    }

    @Test func `The last page is used in place of one that may not exist`() throws {
        for name in ["disposal.gif", "pages.tiff"] {
            let source = try Fixture.image("animation/\(name)")
            let last = try SourceHeader(of: source).frames
            let expected = try produce(source, pages: PageSelection(first: last, count: 1)).body
            let found = try produce(source, pages: PageSelection(first: 999, count: 1, mayBeFewer: true)).body
            #expect(found == expected)
        }
    }

    @Test func `A missing page is a bad parameter`() throws {
        let error = #expect(throws: ImageProcessingError.self) {
            try produce(Fixture.image("animation/disposal.gif"), pages: PageSelection(first: 5))
        }
        guard case .badParameter(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.parameter == "page")
    }

    @Test(arguments: [OutputFormat.jpeg, .png, .avif])
    func `A format without animation gets the first frame`(_ format: OutputFormat) throws {
        let result = try produce(Fixture.image("animation/disposal.gif"), output: OutputOptions(format: format))
        #expect(result.frames == 1)
        #expect(try Pixels(result.body).distance(x: 4, y: 4, to: [32, 64, 192]) <= 12)
    }

    @Test(arguments: [
        ("disposal.gif", AlternativeFormat.webp, OutputFormat.webp), ("disposal.gif", .natural, .gif),
        ("still.gif", .webp, .avif), ("pages.tiff", .webp, .avif),
    ])
    func `An animation keeps its frames in another format where the output says so`(
        name: String, alternative: AlternativeFormat, expected: OutputFormat
    ) throws {
        let output = OutputOptions(format: .avif, alternative: alternative)
        // Instead of an AVIF, a WebP that keeps these drawings exact may be the result.
        let single: OutputFormat = alternative == .webp ? .webp : .avif
        let source = try Fixture.image("animation/\(name)")
        let result = try produce(source, output: output)
        #expect(result.format == (expected == .avif ? single : expected))
        #expect((result.frames > 1) == (expected != .avif))
        let plan = try InProcessImageProcessor().plan(
            ImageJob(source: source, chain: TransformChain([]), output: output))
        #expect(plan.format == expected && plan.frames == result.frames)
        let first = try produce(source, output: output, pages: PageSelection(count: 1))
        #expect(first.format == single && first.frames == 1)
    }

    @Test func `A single frame stays single however tall it grows`() throws {
        let result = try produce(
            Fixture.image("animation/still.gif"), .box(96, 256, fit: .fill, enlarge: true),
            output: OutputOptions(format: .webp))
        #expect(try fields(of: result.body).frames == 1)
        #expect(try fields(of: result.body).size == PixelSize(width: 96, height: 256))
    }

    @Test func `A document's first page counts unless more are asked for`() throws {
        let source = try Fixture.image("animation/pages.tiff")
        #expect(try produce(source, output: OutputOptions(format: .tiff)).frames == 1)
        #expect(try produce(source, output: OutputOptions(format: .tiff), pages: PageSelection(count: 3)).frames == 3)
        let second = try produce(source, pages: PageSelection(first: 2))
        #expect(try Pixels(second.body)[0, 0] == [224, 32, 32])
    }

    @Test func `Frames after the first have no metadata, but a profile that converts their colors`() throws {
        var file = WebPFile(try Fixture.image("animation/disposal.webp"))
        let photo = JPEGFile(try Fixture.image("sample.jpg"))
        let exif = try #require(photo.segments.first { $0.marker == 0xE1 && $0.content.starts(with: "Exif".utf8) })
        let swapping = WebPFile(try Fixture.image("color/icc-swap.webp"))
        file.chunks.insert(try #require(swapping.chunks.first { $0.name == "ICCP" }), at: 1)
        file.chunks.append(WebPFile.Chunk(name: "EXIF", content: exif.content))
        file.chunks.append(WebPFile.Chunk(name: "XMP ", content: Array("<x/>".utf8)))
        // ICC profile, EXIF and XMP.
        file.chunks[0].content[0] |= 0x2C
        let source = file.bytes
        let header = try SourceHeader(of: source)
        let decoder = Decoder(source: source, header: header) { false }
        let frames = try decoder.decode(DecodeParameters(frames: header.frames)).frames(header.frames)
        let fields = frames.map { frame in
            ["exif-data", "xmp-data", "icc-profile-data"].filter { frame.has($0) }
        }
        #expect(fields.count == 4 && fields[0] == ["exif-data", "xmp-data", "icc-profile-data"])
        #expect(fields.dropFirst().allSatisfy { $0 == ["icc-profile-data"] })
    }

    @Test(arguments: ["disposal.gif", "disposal.png", "disposal.webp"])
    func `With the reader of its header, a decoder does not walk the file again`(_ name: String) throws {
        let source = try Fixture.image("animation/\(name)")
        let (header, reader) = try SourceHeader.read(source, pages: PageSelection(), maxPages: 1)
        let parameters = DecodeParameters(frames: header.frames)
        let whole = try Decoder(source: source, header: header) { false }.decode(parameters)
        let again = Decoder(source: ByteBuffer(), header: header, headerReader: reader) { false }
        #expect(try again.raster(parameters).size == header.size)
        #expect(try again.decode(parameters).image.samples() == whole.image.samples())
    }

    @Test(arguments: ["disposal.gif", "disposal.webp", "opaque.gif"])
    func `The same animation, turned and scaled, is the same bytes every time`(_ name: String) throws {
        let source = try Fixture.image("animation/\(name)")
        for output in [OutputFormat.webp, .gif] {
            for recipe in [Recipe.with { $0.orientation = .exif(5) }, .box(12), .box(9, 9, fit: .cover)] {
                let bodies = try (0..<8).map { _ in
                    try produce(source, recipe, output: OutputOptions(format: output)).body
                }
                #expect(Set(bodies).count == 1, "\(output) \(recipe.box)")
            }
        }
    }
}
