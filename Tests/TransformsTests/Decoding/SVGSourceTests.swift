import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

struct SVGSourceTests {
    private func drawing(_ root: String) -> ByteBuffer {
        ByteBuffer(
            string: "<svg xmlns='http://www.w3.org/2000/svg' \(root)><rect width='999' height='999' fill='red'/></svg>")
    }

    @Test func `A drawing is drawn at the size asked for, not scaled up from its own`() throws {
        let source = drawing("width='10' height='10' viewBox='0 0 1000 1000'")
        let pixels = try Pixels(produce(source, .box(500)).body)
        #expect(pixels.size == PixelSize(width: 500, height: 500))
        #expect(pixels[490, 250] == [255, 0, 0, 255])
    }

    @Test func `A side too long for libvips is refused as too large, not drawn one pixel wide`() throws {
        for root in ["width='1000000000' height='10'", "width='10' height='1000000000'"] {
            let error = #expect(throws: ImageProcessingError.self) { try produce(drawing(root), .box(16)) }
            guard case .tooLarge = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(try produce(drawing("width='1' height='10'")).size == PixelSize(width: 1, height: 10))
    }

    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian])
    func `A drawing in UTF-16 is drawn as one in UTF-8`(encoding: String.Encoding) throws {
        let text = String(buffer: drawing("width='10mm' height='1in' style='--c:red'"))
        let marked = try #require("\u{FEFF}<?xml version='1.0' encoding='UTF-16'?>\(text)".data(using: encoding))
        for source in [ByteBuffer(bytes: marked), stored(Array(marked))] {
            #expect(try SVGSource.plain(source) == ByteBuffer(string: text))
            #expect(try SourceHeader(of: source).size == PixelSize(width: 38, height: 96))
        }
    }

    @Test(arguments: ["<?xml version='1.0' encoding='utf-16'?>", "\u{FEFF} <?xml version=\"1.1\"?>\n"])
    func `A declaration that the text contradicts is ignored`(declaration: String) throws {
        let source = ByteBuffer(string: declaration + String(buffer: drawing("width='8' height='6'")))
        #expect(try Pixels(produce(source).body)[4, 4] == [255, 0, 0, 255])
        let usual = ByteBuffer(string: "<?xml version=\"1.0\" encoding=\"utf-8\"?><svg/>")
        #expect(try SVGSource.plain(usual) == usual)
    }

    /// A gzip member of stored blocks (RFC 1951 §3.2.4), which is as long as its content.
    private func stored(_ plain: [UInt8], after blocks: [UInt8] = []) -> ByteBuffer {
        var file = ByteBuffer(bytes: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + blocks)
        var rest = plain[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            file.writeInteger(UInt8(rest.isEmpty ? 1 : 0))
            file.writeInteger(UInt16(block.count), endianness: .little)
            file.writeInteger(~UInt16(block.count), endianness: .little)
            file.writeBytes(block)
        } while !rest.isEmpty
        file.writeInteger(plain.withUnsafeBytes { Checksum.crc32($0) }, endianness: .little)
        file.writeInteger(UInt32(plain.count), endianness: .little)
        return file
    }

    @Test func `A gzipped drawing is detected by the beginning of its bytes, however many follow`() throws {
        let plain = Array(drawing("width='8' height='6'").readableBytesView) + [UInt8](repeating: 0x20, count: 200_000)
        let long = stored(plain)
        #expect(SVGSource.matches(long))
        #expect(try SVGSource.plain(long) == ByteBuffer(bytes: plain))
        let empty: [UInt8] = [0, 0, 0, 0xFF, 0xFF]
        #expect(SVGSource.matches(stored(plain, after: empty)))
        // The document begins after the bytes that are inflated.
        let late = stored(plain, after: Array(repeatElement(empty, count: 20_000).joined()))
        #expect(!SVGSource.matches(late))
    }

    @Test func `A document longer than the limit is too large, whether it is gzipped or not`() throws {
        var long = drawing("width='8' height='6'")
        long.writeRepeatingByte(0x20, count: SVGSource.maxPlainBytes - long.readableBytes)
        #expect(try SVGSource.plain(long).readableBytes == SVGSource.maxPlainBytes)
        long.writeInteger(UInt8(0x20))
        for source in [long, stored(Array(long.readableBytesView))] {
            let error = #expect(throws: ImageProcessingError.self) { try SVGSource.plain(source) }
            guard case .tooLarge = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func `SVG never comes out as SVG`() throws {
        let result = try produce(drawing("width='10' height='10'"), output: OutputOptions())
        #expect(result.format == .png)
    }
}
