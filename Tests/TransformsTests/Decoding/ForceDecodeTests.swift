import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Sources are decoded to their end, even if the result would not show an error there.
struct ForceDecodeTests {
    private func isCorrupt(_ source: ByteBuffer, _ recipe: Recipe) -> Bool {
        do {
            _ = try produce(source, recipe)
            return false
        } catch {
            if case .corrupt = error { return true }
            return false
        }
    }

    @Test(arguments: [640, 641, 644, 647, 655])
    func `A JPEG without its end is corrupt, whatever shrink leaves its last rows unread`(_ height: Int) throws {
        for progressive in [false, true] {
            let drawing = try Drawing.image(480, height) { x, y in [UInt8(truncatingIfNeeded: x * 7 ^ y * 13)] }
            let whole = try VipsSaver.jpeg.encode(drawing, ["Q": 85, "interlace": .bool(progressive)])
            let cut = whole.getSlice(at: 0, length: whole.readableBytes - 40) ?? whole
            for side in [nil, 400, 300, 150, 70, 50, 30] {
                #expect(!isCorrupt(whole, .box(side, side)), "whole, \(String(describing: side))")
                #expect(isCorrupt(cut, .box(side, side)), "cut, \(String(describing: side))")
            }
        }
    }

    @Test(arguments: [SourceFormat.png, .webp, .gif, .avif, .jxl, .tiff])
    func `An image without its last bytes is corrupt, even for a crop of its upper left corner`(
        _ format: SourceFormat
    ) throws {
        let drawing = try Drawing.image(200, 150) { x, y in [UInt8(x), UInt8(y), UInt8(x ^ y)] }
        let output = try #require(OutputFormat(rawValue: format.rawValue))
        let whole = try produce(drawing.png(), output: OutputOptions(format: output, lossless: true)).body
        let cut = try #require(whole.getSlice(at: 0, length: whole.readableBytes * 9 / 10))
        for recipe in [Recipe(), .box(20), .with { $0.crop = Crop(x: 0, y: 0, width: 8, height: 8) }] {
            #expect(!isCorrupt(whole, recipe))
            #expect(isCorrupt(cut, recipe))
        }
    }

    @Test(arguments: ["disposal.gif", "disposal.webp"])
    func `An animation cut in its last frame is corrupt, even if only the first is asked for`(_ name: String) throws {
        let whole = try Fixture.image("animation/\(name)")
        let cut = try #require(whole.getSlice(at: 0, length: whole.readableBytes - 12))
        for count in [1, 2, 4] {
            #expect(throws: ImageProcessingError.self) { try produce(cut, pages: PageSelection(count: count)) }
        }
    }

    @Test func `A GIF that lacks only its trailer is complete`() throws {
        let whole = try Fixture.image("animation/disposal.gif")
        #expect(!GIFContainer.isTruncated(whole))
        let bare = try #require(whole.getSlice(at: 0, length: whole.readableBytes - 1))
        #expect(!GIFContainer.isTruncated(bare))
        let cut = try #require(whole.getSlice(at: 0, length: whole.readableBytes - 2))
        #expect(GIFContainer.isTruncated(cut))
    }

    @Test func `A PNG text longer than the file is refused before memory is allocated`() throws {
        let claim = try Fixture.image("hostile/long-chunk.png")
        #expect(throws: ImageProcessingError.corrupt("PNG ends inside a chunk")) { try SourceHeader(of: claim) }
        for whole in ["color/palette.png", "formats/interlaced.png", "hostile/truncated.png"] {
            #expect(!PNGContainer.isTruncatedBeforePixels(try Fixture.image(whole)))
        }
    }

    @Test func `A TIFF whose directory was cut off is corrupt, one with an unreadable directory is unsupported`() throws
    {
        let nonsense = ByteBuffer(bytes: [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 3, 1, 9, 9, 1, 0, 0, 0, 0, 0, 0, 0])
        #expect(throws: ImageProcessingError.unsupported) { try produce(nonsense) }
        #expect(isCorrupt(ByteBuffer(bytes: [0x49, 0x49, 0x2A, 0, 0xFF, 0, 0, 0]), Recipe()))
    }
}
