import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// What the pixels of a PNG decide about its form.
struct PNGChoiceTests {
    /// The color type and the bits of a sample.
    private func form(_ file: ByteBuffer) -> [UInt8] {
        [25, 24].compactMap { file.getInteger(at: file.readerIndex + $0) }
    }

    private func made(_ source: ByteBuffer, interlaced: Bool = false, filters: Bool = false) throws -> ByteBuffer {
        let output = OutputOptions(format: .png, interlaced: interlaced, filtersRows: filters)
        return try produce(source, output: output).body
    }

    private static let forms: [(colors: Int, alpha: Bool, interlaced: Bool, bits: UInt8)] = [
        (2, false, false, 1), (2, true, false, 1), (4, false, false, 2), (16, false, false, 4), (16, true, true, 8),
        (17, false, false, 8), (17, true, false, 8), (4, false, true, 8),
    ]

    @Test(arguments: forms)
    func `Few colors are indices of a palette, and the same colors`(
        colors: Int, alpha: Bool, interlaced: Bool, bits: UInt8
    ) throws {
        // A width that leaves bits of a row's last byte unused.
        let drawing = try Drawing.image(123, 90) { x, y in
            let color = ((x / 5) * 7 + (y / 5) * 13) % colors
            return [UInt8(color * 255 / (colors - 1)), UInt8(color * 3), 40] + (alpha ? [UInt8(255 - color)] : [])
        }
        let plain = try made(drawing.png(), interlaced: interlaced, filters: true)
        let file = try made(drawing.png(), interlaced: interlaced)
        #expect(form(file) == [3, bits] && form(plain) == [alpha ? 6 : 2, 8])
        #expect(file.readableBytes < plain.readableBytes)
        let pixels = try Pixels(file)
        #expect(try pixels.bands == drawing.bands && pixels.samples == Pixels(drawing).samples)
        #expect(!PNGContainer.hasWrongChecksum(file))
        // A palette stays one.
        #expect(try form(made(file)).first == 3)
    }

    @Test func `An opaque image with an alpha channel keeps it`() throws {
        let drawing = try Drawing.image(60, 40) { x, _ in x < 30 ? [9, 8, 7, 255] : [200, 100, 0, 255] }
        let file = try made(drawing.png())
        #expect(form(file).first == 3)
        #expect(try Pixels(file).samples == Pixels(drawing).samples)
    }

    @Test func `A gradient of 256 colors has no palette, since filters make it smaller, nor have more colors`() throws {
        let gradient = try Drawing.image(256, 64) { x, _ in [UInt8(x), UInt8(x / 2), UInt8(255 - x)] }
        #expect(try form(made(gradient.png())).first == 2)
        let many = try Drawing.image(257, 9) { x, _ in [UInt8(x % 256), UInt8(x / 256), 0] }
        #expect(try form(made(many.png())).first == 2)
    }

    @Test func `An owner's notice stays beside a palette`() throws {
        let drawing = try Drawing.quarters(80, 80).setting(texts: ["exif-ifd0-Copyright": "Alice (ASCII)"])
        let result = try made(VipsSaver.webp.encode(drawing, ["lossless": true]))
        #expect(form(result).first == 3)
        let texts = try VipsLoader.png.withImage(of: result) { image in image.fields.compactMap { image.text($0) } }
        #expect(texts.contains { $0.hasPrefix("Alice") })
    }

    /// Runs of pixels in 600 colors, which filters make longer.
    private static func runs() throws -> VipsImage {
        try Drawing.image(300, 200) { x, y in
            let color = (x / 6 * 7919 + y * y * 31 + x / 6 * y * 13) % 600
            return [UInt8(color * 37 % 256), UInt8(color * 91 % 256), UInt8(color / 3)]
        }
    }

    @Test func `Rows are filtered where that makes the file smaller`() throws {
        let photo = try VipsLoader.jpeg.withImage(of: Fixture.image("formats/photo.jpg")) { lazy throws(VipsError) in
            try lazy.rendered()
        }
        for (image, isFiltered) in [(photo, true), (try Self.runs(), false)] {
            let sizes = try [RowFilters.none, RowFilters.all].map { filter in
                try VipsSaver.png.encode(image, ["compression": 6, "filter": .int(filter), "strip": true]).readableBytes
            }
            #expect((sizes[1] < sizes[0]) == isFiltered)
            #expect(try RowFilters.arePreferable(for: image, level: 6) { false } == isFiltered)
            #expect(try made(image.png()).readableBytes == sizes.min())
        }
    }

    @Test func `A part of a large image decides, whatever its shape`() throws {
        for (width, height) in [(400, 500), (5000, 40), (40, 5000), (9000, 2)] {
            // A gradient with a little noise.
            let gray = try Drawing.image(width, height) { x, y in
                [UInt8((x * 3 + y * 5 + (x * 7919 + y * 104_729 + x * y * 31) % 7) % 256)]
            }
            #expect(try RowFilters.arePreferable(for: gray, level: 6) { false })
        }
    }
}
