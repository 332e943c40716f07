import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Transparent parts of GIFs. The background color of all files is blue.
struct GIFPagesTests {
    private static let colors: [UInt8] = [200, 0, 0, 0, 200, 0, 0, 0, 200, 0, 0, 0]

    /// A file of a screen whose background color is the third one.
    private static func file(_ frames: [[UInt8]], _ width: UInt16 = 4, _ height: UInt16 = 4) -> ByteBuffer {
        var file = ByteBuffer(string: "GIF89a")
        file.writeInteger(width, endianness: .little)
        file.writeInteger(height, endianness: .little)
        file.writeBytes([0x81, 2, 0] + colors + frames.flatMap(\.self) + [0x3B])
        return file
    }

    /// A square of one color.
    ///
    /// - Parameter disposal: nil = no graphic control extension.
    private static func frame(
        _ color: UInt8, at place: UInt8 = 0, side: UInt8 = 4, disposal: UInt8? = nil, isTransparent: Bool = false
    ) -> [UInt8] {
        let control: [UInt8] =
            disposal.map { [0x21, 0xF9, 4, $0 << 2 | (isTransparent ? 1 : 0), 10, 0, 3, 0] } ?? []
        // A clear code before each color keeps all codes at three bits.
        let codes: [UInt8] = Array(repeating: [4, color], count: Int(side) * Int(side)).flatMap(\.self) + [5]
        var (bits, count, data): (Int, Int, [UInt8]) = (0, 0, [])
        for code in codes {
            bits |= Int(code) << count
            count += 3
            while count >= 8 {
                data.append(UInt8(truncatingIfNeeded: bits))
                (bits, count) = (bits >> 8, count - 8)
            }
        }
        data.append(UInt8(truncatingIfNeeded: bits))
        return control + [0x2C, place, 0, place, 0, side, 0, side, 0, 0, 2, UInt8(data.count)] + data + [0]
    }

    private static let red = [200, 0, 0, 255]
    private static let green = [0, 200, 0, 255]
    private static let clear = [0, 0, 0, 0]

    /// Files with the colors of the pixels at 0,0 and 2,2 of each frame.
    private static let table: [(name: String, file: ByteBuffer, pixels: [[[Int]]])] = [
        ("a first frame that covers a part", file([frame(0, at: 2, side: 2)]), [[clear, red]]),
        (
            "a later frame beside it", file([frame(0, at: 2, side: 2), frame(1, side: 1, disposal: 1)]),
            [[clear, red], [green, red]]
        ),
        (
            "a cleared frame", file([frame(0), frame(1, at: 2, side: 2, disposal: 2), frame(1, side: 1)]),
            [[red, red], [red, green], [green, clear]]
        ),
        ("a cleared first frame", file([frame(0, disposal: 2), frame(1, side: 1)]), [[red, red], [green, clear]]),
        (
            "a first frame that restores nothing", file([frame(0, disposal: 3), frame(1, side: 1)]),
            [[red, red], [green, clear]]
        ),
        (
            "the same in its other spelling", file([frame(0, disposal: 4), frame(1, side: 1)]),
            [[red, red], [green, clear]]
        ),
        (
            "a restored frame", file([frame(0), frame(1, at: 2, side: 2, disposal: 3), frame(1, side: 1)]),
            [[red, red], [red, green], [green, red]]
        ),
        (
            "frames cleared one after the other",
            file([
                frame(0), frame(1, side: 1, disposal: 2), frame(1, at: 2, side: 2, disposal: 2),
                frame(0, at: 1, side: 1),
            ]),
            [[red, red], [green, red], [clear, green], [clear, clear]]
        ),
        (
            "a restored frame after a cleared one",
            file([
                frame(0), frame(1, at: 2, side: 2, disposal: 2), frame(1, at: 2, side: 1, disposal: 3),
                frame(0, side: 1),
            ]),
            [[red, red], [red, green], [red, green], [red, clear]]
        ),
        (
            "a screen that libvips ignores", file([frame(0, at: 2, side: 2)], 640, 480), [[clear, red]]
        ),
    ]

    @Test(arguments: table.indices)
    func `Parts that no frame covers, and cleared ones, are transparent`(row: Int) throws {
        let (name, file, expected) = Self.table[row]
        let header = try SourceHeader(of: file)
        let hasAlpha = expected.joined().contains(Self.clear)
        #expect(header.frames == expected.count && header.hasAlpha == hasAlpha, "\(name)")
        #expect(
            header.size
                == (name.contains("screen") ? PixelSize(width: 640, height: 480) : PixelSize(width: 4, height: 4)))
        for (number, pixels) in expected.enumerated() {
            let png = try produce(file, pages: PageSelection(first: number + 1, count: 1))
            let found = try Pixels(png.body)
            #expect(
                [found[0, 0], found[2, 2]].map { $0.count == 3 ? $0 + [255] : $0 } == pixels, "\(name), frame \(number)"
            )
        }
        let all = try produce(file, output: OutputOptions(format: .webp, lossless: true))
        #expect(all.frames == expected.count)
        for (number, pixels) in expected.enumerated() {
            let found = try Pixels(all.body, frame: number)
            #expect(
                [found[0, 0], found[2, 2]].map { $0.count == 3 ? $0 + [255] : $0 } == pixels,
                "\(name), frame \(number) of all")
        }
        guard expected.count > 1 else { return }
        #expect(try SourceHeader(of: all.body).delays.count == expected.count)
        // The flag for alpha.
        #expect(all.body.getInteger(at: all.body.readerIndex + 20, as: UInt8.self).map { $0 & 0x10 } == 0x10)
    }

    @Test func `Files without transparent parts are read as they are`() throws {
        let whole: [ByteBuffer] = [
            Self.file([Self.frame(0)]), Self.file([Self.frame(0, disposal: 2)]),
            Self.file([Self.frame(0), Self.frame(1, side: 2, disposal: 3), Self.frame(1, side: 1)]),
            Self.file([Self.frame(0), Self.frame(1, side: 2, disposal: 2, isTransparent: true), Self.frame(1)]),
            Self.file([], 640, 480), try Fixture.image("animation/disposal.gif"),
            try Fixture.image("animation/opaque.gif"),
        ]
        for file in whole { #expect(GIFPages(file).bytes == file) }
        let changed = Self.table[2].file
        for length in 0..<changed.readableBytes {
            _ = GIFPages(ByteBuffer(bytes: changed.readableBytesView.prefix(length)))
        }
    }

    @Test func `Colors beyond the color table are black, except the transparent one`() throws {
        for isLocal in [false, true] {
            var file = ByteBuffer(string: "GIF89a")
            file.writeBytes([4, 0, 1, 0, isLocal ? 0 : 0x81, 0, 0] + (isLocal ? [] : Self.colors))
            file.writeBytes([0x21, 0xF9, 4, 1, 0, 0, 6, 0, 0x2C, 0, 0, 0, 0, 4, 0, 1, 0, isLocal ? 0x81 : 0])
            // Codes of four bits: clear, 0, 5, 6, 1, end.
            file.writeBytes((isLocal ? Self.colors : []) + [3, 3, 0x08, 0x65, 0x91, 0, 0x3B])
            #expect(GIFPages(file).isChanged && GIFPages(file).page(of: 0) == 0)
            #expect(try SourceHeader(of: file).frames == 1)
            let pixels = try Pixels(produce(file).body)
            #expect((0..<4).map { pixels[$0, 0] } == [Self.red, [0, 0, 0, 255], Self.clear, Self.green])
        }
    }

    @Test func `A GIF of more frames than libvips reads has its true number of frames`() throws {
        let many = Self.file(Array(repeating: Self.frame(0, side: 1), count: 5000), 1, 1)
        #expect(try SourceHeader(of: many).frames == 5000)
        let webp = OutputOptions(format: .webp)
        #expect(try produce(many, output: webp, pages: PageSelection(count: 20)).frames == 20)
        let error = #expect(throws: ImageProcessingError.self) {
            try produce(many, output: webp, pages: PageSelection(count: 20, isThinned: true))
        }
        #expect(String(describing: error).contains("n=4096"))
    }
}
