import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// GIFs whose blocks are whole, with codes for a part of the pixels.
struct GIFCodesTests {
    /// A red square of 4×4 pixels in a table of red and three times black.
    ///
    /// - Parameter codes: of three bits, in bytes.
    private static func file(_ codes: [UInt8]) -> ByteBuffer {
        ByteBuffer(
            bytes: Array("GIF89a".utf8) + [4, 0, 4, 0, 0x81, 0, 0, 200, 0, 0] + Array(repeating: 0, count: 9)
                + [0x2C, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2, UInt8(codes.count)] + codes + [0, 0x3B])
    }

    /// A clear code and a color for each of these pixels, without an end.
    private static func codes(_ count: Int) -> [UInt8] {
        let bits = (0..<count).flatMap { _ in [0, 0, 1, 0, 0, 0] } + [0, 0, 1]
        return stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start...].prefix(8).enumerated().reduce(0) { $0 | UInt8($1.element << $1.offset) }
        }
    }

    private static func lacksPixels(_ file: ByteBuffer) throws -> Bool {
        let view = file.readableBytesView
        let start = try #require(view.firstRange(of: [0x2C, 0, 0, 0, 0])).lowerBound
        return GIFCodes.lackPixels(
            ofImage: try #require(file.getSlice(at: start + 1, length: view.endIndex - start - 1)))
    }

    @Test func `Pixels without codes are transparent`() throws {
        let pixels = try Pixels(produce(Self.file(Self.codes(8))).body)
        #expect(pixels[0, 0] == [200, 0, 0, 255] && pixels[3, 1] == [200, 0, 0, 255])
        #expect(pixels[2, 2] == [0, 0, 0, 0] && pixels[3, 3] == [0, 0, 0, 0])
        let whole = try Pixels(produce(Self.file(Self.codes(16))).body)
        #expect(whole[3, 3].prefix(3) == [200, 0, 0] && whole.bands == 3)
    }

    @Test func `A frame lacks pixels if its codes end before the last one`() throws {
        for count in [16, 17] { #expect(try !Self.lacksPixels(Self.file(Self.codes(count))), "\(count)") }
        for count in [1, 8, 14] { #expect(try Self.lacksPixels(Self.file(Self.codes(count))), "\(count)") }
        // Clear, a color, end.
        #expect(try Self.lacksPixels(Self.file([0x44, 0x01])))
    }

    @Test(arguments: [1, 2, 40, 300])
    func `Codes that stand for many pixels are counted`(side: Int) throws {
        for colors in [1, 3, 200] {
            let drawing = try Drawing.image(side, side) { x, y in [UInt8(x * y % colors), UInt8(x % colors), 9] }
            let whole = try produce(drawing.png(), output: OutputOptions(format: .gif)).body
            #expect(try !Self.lacksPixels(whole))
            // One more row, on the screen and in the frame.
            var taller = whole
            let frame = try #require(whole.readableBytesView.firstRange(of: [0x2C, 0, 0, 0, 0, UInt8(side & 255)]))
            taller.setInteger(UInt16(side + 1), at: 8, endianness: .little)
            taller.setInteger(UInt16(side + 1), at: frame.lowerBound + 7, endianness: .little)
            #expect(try Self.lacksPixels(taller))
        }
    }

    @Test func `Codes that are not valid are left to the decoder`() throws {
        // Clear, then a code that is not defined yet.
        #expect(try !Self.lacksPixels(Self.file([0x3C])))
        for bits in [0, 12, 255] as [UInt8] {
            var file = Self.file([0x44, 0x01])
            file.setInteger(bits, at: file.readerIndex + 35)
            #expect(try !Self.lacksPixels(file))
        }
    }
}
