import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// ICO and CUR. `Fixtures/images/icons` has one of each depth, which `FixtureTableTests` decodes.
struct IconTests {
    private static let red: [UInt8] = [200, 0, 0, 255]
    private static let green: [UInt8] = [0, 200, 0, 255]

    private func color(_ source: ByteBuffer, _ recipe: Recipe = Recipe()) throws -> [Int] {
        let pixels = try Pixels(produce(source, recipe).body)
        return pixels[pixels.width / 2 - pixels.width / 5, pixels.height / 2 - pixels.height / 5]
    }

    private func failure(_ source: ByteBuffer) -> ImageProcessingError? {
        do {
            _ = try produce(source)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        (8, [208, 32, 32, 255]), (16, [208, 32, 32, 255]), (17, [32, 160, 64, 255]), (32, [32, 160, 64, 255]),
        (33, [32, 96, 208, 255]), (48, [32, 96, 208, 255]), (49, [240, 192, 32, 255]), (400, [240, 192, 32, 255]),
    ])
    func `The smallest image that is large enough is used, with the most colors`(side: Int, expected: [Int]) throws {
        let icon = try Fixture.image("icons/favicon.ico")
        for resampling in Resampling.allCases {
            let found = try color(icon, .box(side, side, as: resampling))
            #expect(zip(found, expected).allSatisfy { abs($0 - $1) <= 2 }, "\(found)")
        }
        #expect(try produce(icon, .box(side, side)).size.width == min(side, 128))
    }

    @Test func `An image of the requested size is drawn as it is`() throws {
        let icon = try Fixture.image("icons/favicon.ico")
        let pixels = try Pixels(produce(icon, .box(32, 32)).body)
        #expect(pixels[0, 0][3] == 0 && pixels[16, 0] == [32, 32, 32, 255] && pixels[8, 8] == [32, 160, 64, 255])
    }

    @Test func `A crop, and an image in other proportions, take the largest`() throws {
        let icon = try Fixture.image("icons/favicon.ico")
        let cropped = Recipe.with {
            $0.crop = Crop(x: 32, y: 32, width: 64, height: 64)
            $0.box = Box(width: 16, height: 16)
        }
        #expect(try color(icon, cropped) == [240, 192, 32, 255])
        let wide = BitmapFile(
            width: 16, height: 24, bits: 32,
            pixels: Array(repeatElement([0, 0, 200, 255], count: 16 * 12).joined())
        ).iconImage
        let mixed = BitmapFile.icon([wide, BitmapFile.iconImage(side: 32, Self.green)])
        #expect(try color(mixed, .box(10)) == [0, 200, 0, 255])
        #expect(try SourceHeader(of: mixed).size == PixelSize(width: 32, height: 32))
    }

    @Test func `The plan says which image is decoded`() throws {
        let icon = try Fixture.image("icons/favicon.ico")
        let job = ImageJob(source: icon, chain: TransformChain(.box(24)), output: OutputOptions(format: .png))
        let plan = try InProcessImageProcessor().plan(job)
        #expect(plan.sourceSize == PixelSize(width: 128, height: 128) && plan.shrinkOnLoad == 4)
        #expect(plan.steps.first?.size == PixelSize(width: 32, height: 32))
    }

    @Test func `The mask counts where no pixel has alpha`() throws {
        // Bits 1010… of the mask hide every other pixel.
        let clear = BitmapFile.icon([BitmapFile.iconImage(side: 8, [9, 8, 7, 0], mask: 0xAA)])
        let pixels = try Pixels(produce(clear).body)
        #expect(pixels[0, 0][3] == 0 && pixels[1, 0] == [9, 8, 7, 255])
        let own = BitmapFile.icon([BitmapFile.iconImage(side: 8, [9, 8, 7, 77], mask: 0xAA)])
        #expect(try Pixels(produce(own).body)[0, 0] == [9, 8, 7, 77])
        let none = BitmapFile.icon([BitmapFile.iconImage(side: 8, [9, 8, 7, 0])])
        #expect(try Pixels(produce(none).body)[0, 0] == [9, 8, 7, 255])
    }

    @Test func `An image without its mask is opaque, and with a part of it corrupt`() throws {
        let rows = Array(repeatElement([7, 8, 9] as [UInt8], count: 64).joined())
        let whole = BitmapFile.icon([BitmapFile(width: 8, height: 16, bits: 24, pixels: rows).iconImage])
        #expect(try color(whole) == [9, 8, 7, 255])
        let masked = BitmapFile(width: 8, height: 16, bits: 24, pixels: rows + [0, 0, 0, 0]).iconImage
        #expect(throws: ImageProcessingError.self) { try color(BitmapFile.icon([masked])) }
    }

    @Test func `Of several images that are the largest, the first one is used`() throws {
        let icon = BitmapFile.icon([Self.red, Self.green].map { BitmapFile.iconImage(side: 16, $0) })
        #expect(try color(icon) == [200, 0, 0, 255] && color(icon, .box(10)) == [200, 0, 0, 255])
    }

    @Test func `A cursor is read like an icon`() throws {
        let cursor = BitmapFile.icon([BitmapFile.iconImage(side: 8, Self.red)], kind: 2)
        #expect(try color(cursor) == [200, 0, 0, 255])
        #expect(try produce(cursor, output: OutputOptions(format: .json)).sourceFormat == .ico)
    }

    @Test func `The document describes the largest image`() throws {
        let icon = try Fixture.image("icons/png.ico")
        let document = String(buffer: try produce(icon, output: OutputOptions(format: .json)).body)
        for member in [
            #""width":256"#, #""height":256"#, #""format":"ico""#, #""mime_type":"image/vnd.microsoft.icon""#,
            #""has_alpha":true"#, #""pages":1"#,
        ] {
            #expect(document.contains(member), "\(document)")
        }
    }

    @Test func `An image in an unknown form is left out`() throws {
        let unknown = Array("not a picture, but as long as one".utf8)
        let compressed = BitmapFile(width: 64, height: 128, bits: 24, compression: 4, pixels: unknown).iconImage
        let known = BitmapFile.iconImage(side: 16, Self.red)
        #expect(try color(BitmapFile.icon([unknown, known, compressed])) == [200, 0, 0, 255])
        #expect(failure(BitmapFile.icon([unknown, compressed])) == .unsupported)
    }

    @Test
    func `An image outside of the file makes the whole icon corrupt if it may be the largest, whichever is requested`()
        throws
    {
        let whole = BitmapFile.icon([
            BitmapFile.iconImage(side: 16, Self.red), BitmapFile.iconImage(side: 32, Self.green),
        ])
        let bytes = Array(whole.readableBytesView)
        for start in [0, 21, 37, bytes.count, 0xFFFF_FFFF] {
            var moved = bytes
            moved.replaceSubrange(34..<38, with: BitmapFile.bytes(start, 4))
            #expect(failure(ByteBuffer(bytes: moved)) == .corrupt("icon points outside itself"), "\(start)")
        }
        for count in [20, 30, 50, 1_000, bytes.count - 1] {
            let cut = ByteBuffer(bytes: bytes.prefix(count))
            for recipe in [Recipe(), .box(8)] {
                #expect(throws: ImageProcessingError.self, "\(count)") { try produce(cut, recipe) }
            }
        }
    }

    @Test(arguments: [(16, true), (31, true), (32, false), (48, false), (0, false)])
    func `A damaged image is left out if a whole one is larger than the directory states for it`(
        side: UInt8, isShown: Bool
    ) throws {
        let images = [BitmapFile.iconImage(side: 16, Self.red), BitmapFile.iconImage(side: 32, Self.green)]
        var bytes = Array(BitmapFile.icon(images).readableBytesView)
        bytes.replaceSubrange(6..<8, with: [side, side])
        var outside = bytes
        outside.replaceSubrange(18..<22, with: BitmapFile.bytes(0xFFFF_FFFF, 4))
        var cut = bytes
        // The header of the first image states more rows than the file has.
        cut.replaceSubrange(42..<50, with: BitmapFile.bytes(4000, 4) + BitmapFile.bytes(8000, 4))
        for damaged in [outside, cut].map({ ByteBuffer(bytes: $0) }) {
            if isShown {
                #expect(try color(damaged) == [0, 200, 0, 255] && color(damaged, .box(10)) == [0, 200, 0, 255])
            } else {
                #expect(throws: ImageProcessingError.self) { try produce(damaged) }
            }
        }
    }

    @Test func `A PNG inside is decoded to its end and under the same limits`() throws {
        let icon = try Fixture.image("icons/png.ico")
        let small = PixelLimits(maxSourcePixels: 60_000)
        #expect(throws: ImageProcessingError.self) { try produce(icon, .box(16), limits: small) }
        let cut = try #require(icon.getSlice(at: 0, length: icon.readableBytes - 100))
        #expect(failure(cut) == .corrupt("icon ends inside a PNG"))
        var bytes = Array(icon.readableBytesView)
        bytes[bytes.count - 200] ^= 0xFF
        guard case .corrupt = failure(ByteBuffer(bytes: bytes)) else {
            Issue.record("a damaged PNG")
            return
        }
    }

    @Test(arguments: [0, 0x8000_0000, 0xFFFF_FFFF])
    func `A PNG inside has the sides that PNG allows`(side: Int) throws {
        let signature = [UInt8]([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        let sides = (0..<2).flatMap { _ in BitmapFile.bytes(side, 4).reversed() }
        let image = signature + [0, 0, 0, 13] + Array("IHDR".utf8) + sides + [8, 6, 0, 0, 0]
        #expect(failure(BitmapFile.icon([image])) == .corrupt("icon has a PNG of an impossible size"))
    }

    @Test func `An icon of more images than its directory or the limit has is refused`() throws {
        let image = BitmapFile.iconImage(side: 1, Self.red)
        #expect(failure(BitmapFile.icon([image], count: 9)) == .corrupt("icon ends inside its directory"))
        #expect(failure(BitmapFile.icon([image], count: 0)) == .unsupported)
        #expect(failure(BitmapFile.icon(Array(repeating: image, count: 256))) == nil)
        guard case .tooLarge(let text) = failure(BitmapFile.icon(Array(repeating: image, count: 257))) else {
            Issue.record("257 images")
            return
        }
        #expect(text == "The icon has 257 images; at most 256 are accepted.")
    }

    @Test func `Images may overlap`() throws {
        let bytes = Array(BitmapFile.icon([BitmapFile.iconImage(side: 16, Self.red)]).readableBytesView)
        let entry = BitmapFile.bytes(0, 8) + BitmapFile.bytes(9, 4) + BitmapFile.bytes(38, 4)
        let twice = BitmapFile.bytes(0, 2) + BitmapFile.bytes(1, 2) + BitmapFile.bytes(2, 2) + entry + entry
        #expect(try color(ByteBuffer(bytes: twice + bytes.dropFirst(22))) == [200, 0, 0, 255])
    }
}
