import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

struct GainMapTests {
    private static let geometry: [(name: String, recipe: Recipe)] = [
        ("nothing", Recipe()), ("scaled", .box(120)), ("enlarged", .box(300, enlarge: true)),
        ("in linear light", .box(101, as: .linear)),
        ("cropped", .with { $0.crop = Crop(x: 101, y: 11, width: 130, height: 90) }),
        (
            "cropped and scaled",
            .with {
                $0 = .box(97)
                $0.crop = Crop(x: 60, y: 3, width: 170, height: 120)
            }
        ),
        ("covering", .box(80, 80, fit: .cover)),
        (
            "at a focus",
            .with {
                $0 = .box(60, 90, fit: .cover)
                $0.position = .point(x: 180, y: 40)
            }
        ),
        ("turned", .with { $0.rotationDegrees = 90 }),
        (
            "turned and scaled",
            .with {
                $0 = .box(90)
                $0.rotationDegrees = 270
            }
        ),
        ("upside down", .with { $0.flip = true }),
        (
            "mirrored",
            .with {
                $0 = .box(77)
                $0.flop = true
            }
        ),
        (
            "of another orientation",
            .with {
                $0 = .box(100)
                $0.orientation = .exif(6)
            }
        ),
        (
            "cut",
            .with {
                $0 = .box(200)
                $0.cut = Crop(x: 90, y: 0, width: 100, height: 70)
            }
        ),
        ("inset", .with { $0.inset = Inset(Padding(top: 5, right: 9, bottom: 0, left: 50)) }),
        ("filling as in imgproxy", laidOut(60, 90, "fill,gravity:right")),
        ("a window as in imgproxy", laidOut(77, nil, "crop:130:90:focal:1:0")),
        ("stretched as in imgproxy", laidOut(120, 50, "force,dpr:1.5")),
    ]

    private static func laidOut(_ width: Int?, _ height: Int?, _ layout: String) -> Recipe {
        var recipe = Recipe.box(width, height)
        (recipe.rules, recipe.layout) = (.imgproxy, Layout(parsing: layout))
        return recipe
    }

    @Test(arguments: geometry.indices, ["ultra-hdr", "iso-gain-map"])
    func `A gain map stays aligned to its image within a pixel, with its metadata`(_ index: Int, _ name: String) throws
    {
        let (step, recipe) = Self.geometry[index]
        let source = try Fixture.image("hdr/\(name).jpg")
        let result = try produce(source, recipe, output: Self.jpeg(.keep))
        let found = try Self.map(in: result.body)
        let map = try #require(found, "\(step)")
        #expect(try map.metadata == Self.map(in: source)?.metadata)
        let size = map.header.size
        #expect(
            abs(size.width * 4 - result.size.width) <= 2 && abs(size.height * 4 - result.size.height) <= 2, "\(size)")
        let (lamp, light) = (try Self.lamp(in: Pixels(result.body)), try Self.lamp(in: Pixels(map.file)))
        #expect(abs(lamp.x - light.x) * Double(result.size.width) <= 1, "\(step): \(lamp) and \(light)")
        #expect(abs(lamp.y - light.y) * Double(result.size.height) <= 1, "\(step): \(lamp) and \(light)")
    }

    @Test func `Steps that draw or depend on pixels, other formats and the request drop it, and the plan says so`()
        throws
    {
        let source = try Fixture.image("hdr/ultra-hdr.jpg")
        let cases: [(Recipe, OutputOptions, GainMapOutcome?)] = [
            (.box(90), Self.jpeg(.keep), .kept), (.box(90), Self.jpeg(nil), .kept),
            (.box(90), Self.jpeg(.drop), .droppedByPolicy),
            (.box(90), OutputOptions(format: .webp), .droppedByFormat),
            (.with { $0.blur = Blur() }, Self.jpeg(.keep), .droppedBySteps),
            (
                .with {
                    $0 = .box(50, 50, fit: .cover)
                    $0.position = .attention
                }, Self.jpeg(.keep), .droppedBySteps
            ),
            (.with { $0.rotationDegrees = 5 }, Self.jpeg(.keep), .droppedBySteps),
            (.with { $0.padding = Padding(4) }, Self.jpeg(.keep), .droppedBySteps),
            (Self.laidOut(50, 50, "fill"), Self.jpeg(.keep), .kept),
            (Self.laidOut(50, 50, "fill,gravity:attention"), Self.jpeg(.keep), .droppedBySteps),
            (Self.laidOut(50, 50, "extend:center"), Self.jpeg(.keep), .droppedBySteps),
        ]
        for (recipe, output, outcome) in cases {
            let job = ImageJob(source: source, chain: TransformChain(recipe), output: output)
            #expect(try InProcessImageProcessor().plan(job).gainMap == outcome)
            let result = try produce(source, recipe, output: output).body
            #expect(try (Self.map(in: result) != nil) == (outcome == .kept && output.hdr == .keep))
        }
        let plain = ImageJob(source: try Fixture.image("formats/photo.jpg"), chain: TransformChain(Recipe()))
        #expect(try InProcessImageProcessor().plan(plain).gainMap == nil)
    }

    @Test(arguments: ["ultra-hdr", "iso-gain-map"])
    func `A result has the metadata of Ultra HDR and of ISO 21496-1, which agree`(_ name: String) throws {
        let result = try produce(Fixture.image("hdr/\(name).jpg"), .box(90), output: Self.jpeg(.keep)).body
        func fields(of file: ByteBuffer) -> ByteBuffer? {
            JPEGContainer.segment(JPEGContainer.Marker.profile, GainMapMetadata.isoName, of: file)
        }
        #expect(fields(of: result) == ByteBuffer(bytes: [0, 0, 0, 0]))
        let file = try #require(try Self.map(in: result)).file
        let packet = try #require(JPEGContainer.segment(JPEGContainer.Marker.exif, JPEGContainer.xmpName, of: file))
        var numbers = try #require(fields(of: file))
        let iso = try #require(GainMapMetadata(iso: &numbers))
        #expect(numbers.readableBytes == 0 && iso == GainMapMetadata(xmp: packet.readableBytesView))
    }

    @Test(arguments: [("apple-gain-map", 8.0), ("apple-headroom", 4.0)])
    func `A map of Apple's kind has the same gains in a result, as logarithms`(_ name: String, headroom: Double) throws
    {
        let result = try produce(Fixture.image("hdr/\(name).jpg"), .box(120), output: Self.jpeg(.keep)).body
        let map = try #require(try Self.map(in: result))
        let most = try #require(map.metadata.most.first)
        #expect(map.metadata == GainMapMetadata(most: log2(headroom)))
        let samples = try Pixels(map.file)
        // A sample of 180 is half of the light.
        let gain = samples.luminance(x: 22, y: 5) / 255 * most
        #expect(abs(gain - log2(1 + (headroom - 1) * 0.5006)) < 0.06, "\(gain)")
        #expect(samples.luminance(x: 5, y: 15) < 4)
    }

    @Test func `The estimates of time and memory count the map`() throws {
        let source = try Fixture.image("hdr/ultra-hdr.jpg")
        let crop = Recipe.with { $0.crop = Crop(x: 0, y: 0, width: 60, height: 60) }
        let plans = try [(Recipe.box(90), HDRPolicy.drop), (.box(90), .keep), (crop, .drop), (crop, .keep)].map {
            try InProcessImageProcessor().plan(
                ImageJob(source: source, chain: TransformChain($0), output: Self.jpeg($1)))
        }
        let (bytes, work) = (plans.map(\.estimatedMemoryBytes), plans.map(\.expectedWork))
        #expect(bytes[1] > bytes[0] && bytes[3] > bytes[2] + 3 * 240 * 160)
        #expect(work[1] > work[0] && work[3] > work[2])
    }

    @Test func `By default a map is kept if it takes at most a third of the bytes of the image`() throws {
        let photo = try Fixture.image("formats/photo.jpg")
        for (detail, isKept) in [(false, true), (true, false)] {
            let source = try Self.photo(photo, hasDetailedMap: detail)
            let results = try [nil, HDRPolicy.keep, .drop].map { try produce(source, output: Self.jpeg($0)).body }
            #expect(try Self.map(in: results[0]) != nil || !isKept)
            #expect(results[0] == (isKept ? results[1] : results[2]))
            let share = Double(results[1].readableBytes) / Double(results[2].readableBytes)
            #expect((share < 1.34 + 1100 / Double(results[2].readableBytes)) == isKept, "\(share)")
        }
    }

    @Test func `The image is the same with and without its map, also under a limit on bytes`() throws {
        let source = try Fixture.image("hdr/ultra-hdr.jpg")
        let (kept, dropped) = (
            try produce(source, .box(100), output: Self.jpeg(.keep)),
            try produce(source, .box(100), output: Self.jpeg(.drop))
        )
        #expect(try Pixels(kept.body).samples == Pixels(dropped.body).samples)
        let most = kept.body.readableBytes - 20
        var output = Self.jpeg(.keep)
        output.maxBytes = most
        let limited = try produce(source, .box(100), output: output).body
        #expect(limited.readableBytes <= most || limited.readableBytes < kept.body.readableBytes)
    }

    @Test func `Passed through, an image keeps its map`() throws {
        let source = try Self.photo(Fixture.image("formats/photo.jpg"), hasDetailedMap: false)
        var output = OutputOptions(format: .jpeg, passthrough: .auto)
        output.hdr = .keep
        let result = try produce(source, output: output)
        #expect(result.quality?.isSource == true)
        #expect(try Self.map(in: result.body) != nil)
    }

    @Test func `A map that is larger than its image is reduced to it`() throws {
        let image = try Fixture.image("hdr/ultra-hdr.jpg")
        let known = try #require(try Self.map(in: image))
        let base = try #require(JPEGContainer.stripped(image))
        let large = try VipsLoader.jpeg.withImage(of: known.file) { lazy throws(VipsError) in
            try VipsSaver.jpeg.encode(
                lazy.resampled(to: PixelSize(width: 360, height: 240)).rendered(), ["strip": true])
        }
        let described = try #require(JPEGContainer.adding(xmp: known.metadata.packet, to: large))
        let source = try #require(MultiPictureIndex.joining(base, described))
        let result = try produce(source, .box(120), output: Self.jpeg(.keep))
        let kept = try #require(try Self.map(in: result.body))
        #expect(kept.header.size == result.size)
        let (lamp, light) = (try Self.lamp(in: Pixels(result.body)), try Self.lamp(in: Pixels(kept.file)))
        #expect(abs(lamp.x - light.x) * 120 <= 1 && abs(lamp.y - light.y) * 80 <= 1)
    }

    @Test func `A map that lies is left out, and the image is made as without it`() throws {
        let source = try Fixture.image("hdr/ultra-hdr.jpg")
        let expected = try produce(source, .box(90), output: Self.jpeg(.drop)).body
        let bytes = Array(source.readableBytesView)
        let index = try #require(bytes.indices.first { bytes[$0...].starts(with: "MPF\0".utf8) }) + 4
        let map = try #require(bytes.indices.dropFirst(100).first { bytes[$0...].starts(with: [0xFF, 0xD8, 0xFF]) })
        let frame = try #require(bytes.indices.dropFirst(map).first { bytes[$0...].starts(with: [0xFF, 0xC0]) })
        let lies: [(String, Int, [UInt8])] = [
            ("a size beyond the file", index + 50 + 20, [255, 255, 255, 255]),
            ("an offset beyond the file", index + 50 + 24, [255, 255, 255, 255]),
            ("an offset into the first image", index + 50 + 24, [1, 0, 0, 0]),
            ("entries beyond the segment", index + 8 + 2 + 24 + 8, [255, 255, 255, 127]),
            ("a directory beyond the segment", index + 4, [255, 255, 255, 255]),
            ("65,535 pixels", frame + 5, [255, 255, 255, 255]), ("no pixels", frame + 5, [0, 0, 0, 0]),
            ("24 megapixels", frame + 5, [0x0F, 0xA0, 0x17, 0x70]),
            ("other proportions", frame + 5, [0, 40, 0, 30]), ("no scan", frame, [0xFF, 0xC8]),
        ]
        for (name, place, lie) in lies {
            var changed = bytes
            changed.replaceSubrange(place..<(place + lie.count), with: lie)
            let result = try produce(ByteBuffer(bytes: changed), .box(90), output: Self.jpeg(.keep)).body
            #expect(result == expected, "\(name)")
        }
        let many = index + 8 + 2 + 24 + 4
        var changed = bytes
        changed.replaceSubrange(many..<(many + 4), with: [0, 0x71, 2, 0])
        #expect(try Self.map(in: produce(ByteBuffer(bytes: changed), .box(90), output: Self.jpeg(.keep)).body) != nil)
    }

    @Test(arguments: [4, 20, 60])
    func `A map whose data end early is left out, and the plan says so`(_ missing: Int) throws {
        let source = try Fixture.image("hdr/ultra-hdr.jpg")
        let expected = try produce(source, .box(90), output: Self.jpeg(.drop)).body
        let map = try #require(try Self.map(in: source)).file
        let base = try #require(JPEGContainer.stripped(source))
        let data = map.readableBytesView.dropLast(2)
        for (isKept, rest) in [(true, data), (false, data.dropLast(missing))] {
            let file = Array(rest) + [0xFF, 0xD9, 0, 0, 0]
            let changed = try #require(MultiPictureIndex.joining(base, ByteBuffer(bytes: file)))
            let job = ImageJob(source: changed, chain: TransformChain(.box(90)), output: Self.jpeg(.keep))
            let result = try InProcessImageProcessor().process(job) { false }.body
            #expect(try (Self.map(in: result) != nil) == isKept)
            #expect(isKept || result == expected)
            #expect(try InProcessImageProcessor().plan(job).gainMap == (isKept ? .kept : .droppedAsCorrupt))
        }
    }

    private static func jpeg(_ hdr: HDRPolicy?) -> OutputOptions {
        var output = OutputOptions(format: .jpeg)
        output.hdr = hdr
        return output
    }

    private static func map(in file: ByteBuffer) throws -> GainMapSource? {
        GainMapSource(of: file, try SourceHeader(of: file))
    }

    /// The center of what is bright, 0…1.
    private static func lamp(in pixels: Pixels) -> (x: Double, y: Double) {
        var (sum, x, y) = (0.0, 0.0, 0.0)
        let darkest = (0..<pixels.height).map { pixels.luminance(x: 0, y: $0) }.min() ?? 0
        for row in 0..<pixels.height {
            for column in 0..<pixels.width {
                let weight = max(pixels.luminance(x: column, y: row) - darkest - 20, 0)
                sum += weight
                x += weight * (Double(column) + 0.5)
                y += weight * (Double(row) + 0.5)
            }
        }
        return (x / sum / Double(pixels.width), y / sum / Double(pixels.height))
    }

    /// A photograph with a map of a quarter of its sides, or of its size.
    private static func photo(_ file: ByteBuffer, hasDetailedMap: Bool) throws -> ByteBuffer {
        let known = try map(in: Fixture.image("hdr/ultra-hdr.jpg"))
        let metadata = try #require(known?.metadata)
        let image = try VipsLoader.jpeg.withImage(of: file) { lazy throws(VipsError) in try lazy.rendered() }
        let size = hasDetailedMap ? image.size : image.size.shrunk(by: 8)
        let samples = try image.resampled(to: size).band(1).applying("copy", ["interpretation": "b-w"])
        let plain = try samples.setting(removing: samples.fields)
        let coarse = try VipsSaver.jpeg.encode(image.setting(removing: image.fields), ["Q": 40, "strip": true])
        let saved = try VipsSaver.jpeg.encode(plain, ["Q": .int(hasDetailedMap ? 95 : 60), "strip": true])
        let map = try #require(JPEGContainer.adding(xmp: metadata.packet, to: saved))
        let base = try #require(JPEGContainer.stripped(coarse))
        return try #require(MultiPictureIndex.joining(base, map))
    }
}
