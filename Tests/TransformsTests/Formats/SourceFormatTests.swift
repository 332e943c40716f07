import DarkroomRequests
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

struct SourceFormatTests {
    private static func box(_ brands: String...) -> [UInt8] {
        let body = Array(brands[0].utf8) + [0, 0, 0, 0] + brands.dropFirst().flatMap { Array($0.utf8) }
        return [0, 0, 0, UInt8(8 + body.count)] + Array("ftyp".utf8) + body
    }

    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], SourceFormat.jpeg), ([0xFF, 0xD8, 0xFF, 0xDB], .jpeg),
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png), (Array("GIF87a".utf8), .gif),
            (Array("GIF89a".utf8), .gif), (Array("RIFF1234WEBPVP8 ".utf8), .webp), ([0x49, 0x49, 0x2A, 0], .tiff),
            ([0x4D, 0x4D, 0, 0x2A], .tiff), ([0x49, 0x49, 0x2B, 0], .tiff), ([0x4D, 0x4D, 0, 0x2B], .tiff),
            ([0xFF, 0x0A, 0x7F], .jxl), ([0, 0, 0, 12] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A], .jxl),
            (box("avif", "mif1"), .avif), (box("mif1", "avif"), .avif), (box("heic", "mif1"), .heic),
            (box("mif1", "heic"), .heic), (box("avis", "msf1"), .avif),
            (Array("BM".utf8) + Array(repeating: 7, count: 12) + [40, 0, 0, 0], .bmp),
            ([0, 0, 1, 0, 1, 0] + Array(repeating: 7, count: 16), .ico),
            ([0, 0, 2, 0, 0, 1] + Array(repeating: 7, count: 16), .ico),
        ] as [([UInt8], SourceFormat)])
    func `A format is detected by its first bytes`(_ bytes: [UInt8], _ format: SourceFormat) {
        #expect(SourceFormat(sniffing: ByteBuffer(bytes: bytes)) == format)
    }

    @Test(
        arguments: [
            [], [0xFF], [0xFF, 0xD8], Array("BM......".utf8), Array("%PDF-1.7".utf8), [0, 0, 1, 0, 1, 0],
            Array("RIFF1234AVI LIST".utf8), Array("RIFF1234WEB".utf8), Array("P6 1 1 255".utf8), [0x1F, 0x8B, 8, 0],
            Array("BMI is a number that says little of a person.".utf8), [0, 0, 1, 0] + Array(repeating: 0, count: 20),
            [0, 0, 3, 0, 1, 0] + Array(repeating: 0, count: 20), [0, 0, 2] + Array(repeating: 0, count: 20),
            box("isom", "mp42"), box("jp2 "), Array("#?RADIANCE".utf8), Array("#EXTM3U".utf8),
            Array("push graphic".utf8),
            Array("<html><svg></svg></html>".utf8), Array("svg".utf8),
        ] as [[UInt8]])
    func `Other bytes have no format`(_ bytes: [UInt8]) {
        #expect(SourceFormat(sniffing: ByteBuffer(bytes: bytes)) == nil)
    }

    @Test func `SVG has no signature`() {
        #expect(SourceFormat(signatureOf: ByteBuffer(string: "GIF89a")) == .gif)
        #expect(SourceFormat(signatureOf: ByteBuffer(bytes: Self.box("avif"))) == .avif)
        #expect(SourceFormat(signatureOf: ByteBuffer(string: "<svg/>")) == nil)
    }

    @Test(arguments: [
        "<svg/>", "<svg xmlns='http://www.w3.org/2000/svg'>", "\u{FEFF}  \n<svg>", "<?xml version='1.0'?><svg>",
        "<!-- <html> --><svg>", "<s:svg xmlns:s='http://www.w3.org/2000/svg'>",
        "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://www.w3.org/svg11.dtd\"><svg>",
        "<?xml version='1.0'?>\r\n<!DOCTYPE svg [ <!ENTITY a '>'> <!-- isn't ]> --> ]>\r\n<svg>",
    ])
    func `XML is SVG if its root element is`(_ text: String) {
        #expect(SourceFormat(sniffing: ByteBuffer(string: text)) == .svg)
    }

    @Test(arguments: [
        "<!DOCTYPE html><html><svg>", "<html><svg>", "<!-- <svg> --><html>", "<svgfoo>",
        "<!DOCTYPE x [ <!ENTITY svg '<svg>'> ]><x>", "<!-- <svg>", "<rss><svg:svg/></rss>", "text <svg>",
        "<!DOCTYPE svg",
    ])
    func `XML with another root element is not SVG`(_ text: String) {
        #expect(SourceFormat(sniffing: ByteBuffer(string: text)) == nil)
    }

    @Test func `SVG is found in UTF-16 and in gzip too`() throws {
        let text =
            "<?xml version='1.0' encoding='UTF-16'?><svg xmlns='http://www.w3.org/2000/svg' width='8' height='6'/>"
        for (mark, encoding) in [([0xFF, 0xFE], String.Encoding.utf16LittleEndian), ([0xFE, 0xFF], .utf16BigEndian)] {
            let bytes = ByteBuffer(bytes: mark.map(UInt8.init) + Array(try #require(text.data(using: encoding))))
            #expect(SourceFormat(sniffing: bytes) == .svg)
            #expect(try produce(bytes).size == PixelSize(width: 8, height: 6))
        }
        let zipped = try Fixture.image("hostile/drawing.svgz")
        #expect(SourceFormat(sniffing: zipped) == .svg)
        #expect(try produce(zipped).sourceFormat == .svg)
    }
}
