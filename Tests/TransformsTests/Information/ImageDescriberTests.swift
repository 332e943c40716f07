import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// The text formats, end to end.
struct ImageDescriberTests {
    private func text(_ source: ByteBuffer, _ format: OutputFormat, _ recipe: Recipe = Recipe()) throws -> String {
        let result = try produce(source, recipe, output: OutputOptions(format: format))
        #expect(result.isProven)
        #expect(result.format == format)
        return String(buffer: result.body)
    }

    @Test func `Hashes and colors describe the result of the chain`() throws {
        let quarters = try Drawing.quarters(64, 64).png()
        var corner = Recipe()
        corner.crop = Crop(x: 40, y: 40, width: 20, height: 20)
        #expect(try text(quarters, .color, corner) == "#f0dc28")
        #expect(try text(quarters, .blurHash, corner) != text(quarters, .blurHash))
        let flat = Thumbnail.flat(20, 20, Color(red: 240, green: 220, blue: 40))
        #expect(try text(quarters, .thumbHash, corner) == ThumbHash.encode(flat))
        #expect(try text(quarters, .blurHash, corner) == BlurHash.encode(flat))
    }

    @Test func `Hashes describe the upright image`() throws {
        let hash = try text(Fixture.image("sample.jpg"), .thumbHash)
        let bytes = [UInt8](try #require(Data(base64Encoded: hash)))
        // The last bit of the header says landscape.
        #expect(bytes[4] & 0x80 != 0)
    }

    @Test(arguments: [
        "sample.jpg", "formats/alpha.png", "animation/disposal.gif", "svg/drawing.svg", "geometry/1x1.png",
    ])
    func `A placeholder is a small WebP of the image's shape, without metadata`(name: String) throws {
        let uri = try text(Fixture.image(name), .lqip)
        let head = "data:image/webp;base64,"
        #expect(uri.hasPrefix(head))
        let body = ByteBuffer(bytes: try #require(Data(base64Encoded: String(uri.dropFirst(head.count)))))
        let header = try SourceHeader(of: body)
        #expect(header.format == .webp)
        #expect(max(header.size.width, header.size.height) <= 16)
        #expect(body.readableBytes < 600)
        let rights = try VipsLoader.webp.withImage(of: body) { ImageRights(of: $0) }
        #expect(rights == ImageRights())
    }

    @Test func `A source over the limits is refused if pixels are needed`() throws {
        let source = try Drawing.flat(40, 40, [1, 2, 3]).png()
        let limits = PixelLimits(maxSourcePixels: 100)
        #expect(throws: ImageProcessingError.self) {
            try produce(source, output: OutputOptions(format: .blurHash), limits: limits)
        }
        #expect(throws: Never.self) { try produce(source, output: OutputOptions(format: .json), limits: limits) }
    }

    @Test(arguments: OutputFormat.allCases.filter(\.isText))
    func `A corrupt source is refused if pixels are needed`(_ format: OutputFormat) throws {
        let options = OutputOptions(format: format, details: .color)
        #expect(throws: ImageProcessingError.self) {
            try produce(Fixture.image("hostile/truncated.png"), output: options)
        }
    }
}
