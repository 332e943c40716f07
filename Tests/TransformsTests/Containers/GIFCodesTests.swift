import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// GIFs whose blocks are whole, with codes for a part of the pixels.
struct GIFCodesTests {
    /// A red square of 4×4 pixels in a table of red and three times black.
    ///
    /// - Parameter codes: of three bits, in bytes.
    private static func file(_ codes: [UInt8], earlier: [UInt8] = []) -> ByteBuffer {
        ByteBuffer(
            bytes: Array("GIF89a".utf8) + [4, 0, 4, 0, 0x81, 0, 0, 200, 0, 0] + Array(repeating: 0, count: 9) + earlier
                + [0x2C, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2, UInt8(codes.count)] + codes + [0, 0x3B])
    }

    /// A clear code and a color for each of these pixels, without an end. The last byte has no room for a further color
    /// if the number is 2, 6, 10 or 14.
    private static func codes(_ count: Int) -> [UInt8] {
        let bits = (0..<count).flatMap { _ in [0, 0, 1, 0, 0, 0] } + [0, 0, 1]
        return stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start...].prefix(8).enumerated().reduce(0) { $0 | UInt8($1.element << $1.offset) }
        }
    }

    private static func isCorrupt(_ file: ByteBuffer, pages: PageSelection = PageSelection()) -> Bool {
        do {
            _ = try produce(file, pages: pages)
            return false
        } catch {
            return error == .corrupt("GIF has a frame without all of its pixels")
        }
    }

    @Test func `A frame without all of its pixels is corrupt`() {
        #expect(!Self.isCorrupt(Self.file(Self.codes(16))) && !Self.isCorrupt(Self.file(Self.codes(17))))
        for count in [2, 6, 14] { #expect(Self.isCorrupt(Self.file(Self.codes(count))), "\(count)") }
        // Clear, a color, end.
        #expect(Self.isCorrupt(Self.file([0x44, 0x01])))
    }

    @Test func `Its pixels are shown if damage is, and the others are transparent`() throws {
        var shown = OutputOptions(format: .png)
        shown.damaged = .show
        let result = try produce(Self.file(Self.codes(6)), output: shown)
        let pixels = try Pixels(result.body)
        #expect(result.isDamaged)
        #expect(pixels[0, 0] == [200, 0, 0, 255] && pixels[1, 1] == [200, 0, 0, 255])
        #expect(pixels[2, 1] == [0, 0, 0, 0] && pixels[3, 3] == [0, 0, 0, 0])
    }

    @Test func `Frames behind the requested one do not count`() {
        let whole: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 0x01, 0]
        let file = Self.file(Self.codes(6), earlier: whole)
        #expect(!Self.isCorrupt(file, pages: PageSelection(first: 1, count: 1)))
        #expect(Self.isCorrupt(file, pages: PageSelection(first: 2, count: 1)))
    }

    @Test(arguments: [1, 2, 40, 300])
    func `Codes that stand for many pixels are counted`(side: Int) throws {
        for colors in [1, 3, 200] {
            let drawing = try Drawing.image(side, side) { x, y in [UInt8(x * y % colors), UInt8(x % colors), 9] }
            let whole = try produce(drawing.png(), output: OutputOptions(format: .gif)).body
            #expect(!GIFCodes.lackPixels(inFirst: 1, of: whole))
            // One more row, on the screen and in the frame.
            var taller = whole
            let frame = try #require(whole.readableBytesView.firstRange(of: [0x2C, 0, 0, 0, 0, UInt8(side & 255)]))
            taller.setInteger(UInt16(side + 1), at: 8, endianness: .little)
            taller.setInteger(UInt16(side + 1), at: frame.lowerBound + 7, endianness: .little)
            #expect(GIFCodes.lackPixels(inFirst: 1, of: taller))
        }
    }

    @Test func `Codes that are not valid are left to the decoder`() {
        // Clear, then a code that is not defined yet.
        #expect(!GIFCodes.lackPixels(inFirst: 1, of: Self.file([0x3C])))
        for bits in [0, 12, 255] as [UInt8] {
            var file = Self.file([0x44, 0x01])
            file.setInteger(bits, at: file.readerIndex + 35)
            #expect(!GIFCodes.lackPixels(inFirst: 1, of: file))
        }
    }
}
