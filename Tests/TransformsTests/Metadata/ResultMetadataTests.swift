import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

struct CopyrightNoticeTests {
    private func fields(_ body: ByteBuffer) throws -> [String: String] {
        let loader = try #require(SourceFormat(sniffing: body)?.row.loader)
        return try loader.withImage(of: body) { image in
            Dictionary(uniqueKeysWithValues: image.fields.map { ($0, image.text($0) ?? "") })
        }
    }

    @Test(arguments: [OutputFormat.jpeg, .webp, .png, .avif])
    func `The copyright is kept and the position is stripped`(_ format: OutputFormat) throws {
        let source = try Fixture.image("sample.jpg")
        let before = try fields(source)
        #expect(before.keys.contains { $0.hasPrefix("exif-ifd3-GPS") })
        let notice = try #require(before["exif-ifd0-Copyright"])
        let after = try fields(produce(source, .box(200), output: OutputOptions(format: format)).body)
        // Loaders count the comments of a PNG in different orders.
        let kept = after.first { $0.key.hasSuffix("-Copyright") && $0.key.hasPrefix(format == .png ? "png-" : "exif-") }
        #expect(kept?.value.prefix(36) == notice.prefix(36))
        let leaks = after.keys.filter { $0.contains("GPS") || $0.contains("Model") || $0.contains("DateTimeOriginal") }
        #expect(leaks.isEmpty)
    }

    @Test func `Without a copyright notice, no metadata is kept`() throws {
        let after = try fields(produce(Fixture.image("formats/photo.jpg"), output: OutputOptions(format: .jpeg)).body)
        #expect(!after.keys.contains { $0.hasPrefix("exif") || $0.hasPrefix("xmp") || $0.hasPrefix("iptc") })
    }

    @Test func `Names with parentheses are kept whole`() throws {
        let drawing = try Drawing.flat(20, 20, [9, 9, 9])
        for name in ["Zoe (Studio) 2024", "A (text, ASCII, 3 components, 3 bytes)", "plain"] {
            let source = try drawing.setting(texts: ["exif-ifd0-Copyright": "\(name) (ASCII)"]).jpeg()
            let again = try produce(source, output: OutputOptions(format: .jpeg)).body
            let kept = try VipsLoader.jpeg.withImage(of: again) { CopyrightNotice(of: $0).copyright }
            #expect(kept == name)
        }
    }
}
