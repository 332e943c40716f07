import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Bands behind the colors, as the file describes them.
struct AlphaFormTests {
    /// An uncompressed TIFF of 8×8 equal pixels, with the bits of `Sample`.
    private func tiff<Sample: FixedWidthInteger & UnsignedInteger>(
        _ pixel: [Sample], photometric: UInt16, extra: [UInt16], isBig: Bool = false
    ) -> ByteBuffer {
        let bits = UInt32(Sample.bitWidth)
        let samples = UInt16(pixel.count)
        let entries: [(tag: UInt16, type: UInt16, values: [UInt32])] = [
            (256, 3, [8]), (257, 3, [8]), (258, 3, pixel.map { _ in bits }), (259, 3, [1]),
            (262, 3, [UInt32(photometric)]),
            (273, 4, [1000]), (277, 3, [UInt32(samples)]), (278, 3, [8]), (279, 4, [8 * bits * UInt32(samples)]),
            (338, 3, extra.map(UInt32.init)),
        ].filter { !$0.2.isEmpty }
        var (file, values) = (ByteBuffer(), ByteBuffer())
        let offsetSize = isBig ? 8 : 4
        func write(_ number: Int, _ size: Int, to buffer: inout ByteBuffer) {
            for byte in 0..<size { buffer.writeInteger(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
        }
        file.writeBytes(isBig ? [0x49, 0x49, 43, 0, 8, 0, 0, 0] : [0x49, 0x49, 42, 0])
        write(isBig ? 16 : 8, offsetSize, to: &file)
        write(entries.count, isBig ? 8 : 2, to: &file)
        for entry in entries {
            let size = entry.type == 3 ? 2 : 4
            write(Int(entry.tag), 2, to: &file)
            write(Int(entry.type), 2, to: &file)
            write(entry.values.count, offsetSize, to: &file)
            var field = ByteBuffer()
            for value in entry.values { write(Int(value), size, to: &field) }
            if field.readableBytes > offsetSize {
                write(500 + values.readableBytes, offsetSize, to: &file)
                values.writeBuffer(&field)
            } else {
                file.writeBuffer(&field)
                while (file.readableBytes - (isBig ? 24 : 10)) % (isBig ? 20 : 12) != 0 { file.writeInteger(UInt8(0)) }
            }
        }
        write(0, offsetSize, to: &file)
        file.writeRepeatingByte(0, count: 500 - file.readableBytes)
        file.writeBuffer(&values)
        file.writeRepeatingByte(0, count: 1000 - file.readableBytes)
        for sample in repeatElement(pixel, count: 64).joined() { file.writeInteger(sample, endianness: .little) }
        return file
    }

    @Test(arguments: [false, true])
    func `Only the samples that a TIFF calls alpha are alpha`(isBig: Bool) throws {
        for (pixel, photometric, extra, expected) in [
            ([255, 0, 0, 0], 2, [0], [255, 0, 0]), ([255, 0, 0, 0], 2, [], [255, 0, 0]),
            ([255, 0, 0, 128], 2, [2], [255, 0, 0, 128]), ([128, 0, 0, 128], 2, [1], [255, 0, 0, 128]),
            ([255, 0, 0, 128, 7], 2, [2, 0], [255, 0, 0, 128]), ([255, 0, 0, 0, 0], 2, [0, 0], [255, 0, 0]),
            ([90, 0], 1, [0], [90, 90, 90]), ([90, 40], 1, [2], [90, 90, 90, 40]),
        ] as [([UInt8], UInt16, [UInt16], [Int])] {
            let file = tiff(pixel, photometric: photometric, extra: extra, isBig: isBig)
            #expect(try SourceHeader(of: file).hasAlpha == (expected.count == 4), "\(pixel) \(extra)")
            #expect(try Pixels(produce(file).body)[3, 3] == expected, "\(pixel) \(extra)")
        }
        // A fifth channel beside inks is no alpha.
        let channels: [UInt8] = [0, 255, 255, 0, 0]
        let inks = try Pixels(produce(tiff(channels, photometric: 5, extra: [0], isBig: isBig)).body)
        #expect(inks.bands == 3 && inks[3, 3][0] > 150 && inks[3, 3][1] < 90)
    }

    @Test func `The samples of the page that is read count`() {
        let file = tiff([1, 2, 3, 4] as [UInt8], photometric: 2, extra: [0])
        #expect(TIFFDirectory(of: file, page: 0)?.surplus == 1)
        #expect(TIFFDirectory(of: file, page: 1) == nil)
        for length in 0..<file.readableBytes {
            _ = TIFFDirectory(of: ByteBuffer(bytes: file.readableBytesView.prefix(length)), page: 0)?.surplus
        }
    }

    @Test func `Lab of 8 and 16 bits has the colors and the alpha that it states`() throws {
        for (file, expected) in [
            (tiff([113, 61, 41, 128] as [UInt8], photometric: 8, extra: [2]), [200, 40, 40, 128]),
            (tiff([28941, 15585, 10456] as [UInt16], photometric: 8, extra: []), [200, 40, 40]),
            (tiff([28941, 15585, 10456, 40000] as [UInt16], photometric: 8, extra: [2]), [200, 40, 40, 156]),
            (tiff([32768, 55296, 55296] as [UInt16], photometric: 8, extra: []), [0, 139, 186]),
        ] {
            let found = try Pixels(produce(file).body)[3, 3]
            #expect(found.count == expected.count && zip(found, expected).allSatisfy { abs($0 - $1) <= 2 }, "\(found)")
            #expect(try SourceHeader(of: file).conversionCost.nanosecondsPerPixel > 0)
        }
    }

    @Test func `Floating point samples are light, or integers if they exceed light`() throws {
        func image(_ samples: [Double]) throws -> Pixels {
            let black = try VipsImage.build("black", ["width": 2, "height": 2, "bands": .int(samples.count)])
            let zeros = samples.map { _ in 0.0 }
            return try black.applying("linear", ["a": .doubles(zeros), "b": .doubles(samples)])
                .applying("cast", ["format": "float"])
                .applying("copy", ["interpretation": samples.count < 3 ? "b-w" : "scrgb"])
                .withUnsignedSamples().asPixels()
        }
        for (samples, expected) in [
            ([0.5, 0, 1], [188, 0, 255]), ([4, 0, 1], [255, 0, 255]), ([255, 0, 100], [255, 0, 100]),
            ([65535, 0, 25700], [255, 0, 100]), ([0.5, 0, 1, 0.5], [188, 0, 255, 128]), ([0.5], [188, 188, 188]),
            ([100], [100, 100, 100]), ([0.5, 1], [188, 188, 188, 255]), ([255, 0, 100, 51], [255, 0, 100, 51]),
        ] as [([Double], [Int])] {
            #expect(try image(samples).distance(x: 1, y: 1, to: expected) <= 1, "\(samples)")
        }
    }

    @Test func `Gray of AVIF in the range of video has full range`() throws {
        // 8×8 pixels of 200, of which the file has 16 + 200 × 219 / 255.
        let file = try ByteBuffer(bytes: #require(Data(base64Encoded: Self.limitedGray)))
        #expect(try Pixels(produce(file).body).distance(x: 3, y: 3, to: [200, 200, 200]) <= 2)
        var full = file
        let range = try #require(file.readableBytesView.firstRange(of: Array("nclx".utf8))).upperBound + 6
        full.setInteger(0x80 as UInt8, at: range)
        #expect(try Pixels(produce(full).body).distance(x: 3, y: 3, to: [188, 188, 188]) <= 2)
    }

    private static let limitedGray =
        "AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAPBtZXRhAAAAAAAAAChoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAbGli"
        + "YXZpZgAAAAAOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAEUAAAAFgAAAChpaW5mAAAAAAABAAAAGmluZmUCAAAA"
        + "AAEAAGF2MDFDb2xvcgAAAABoaXBycAAAAElpcGNvAAAAFGlzcGUAAAAAAAAACAAAAAgAAAAOcGl4aQAAAAABCAAAAAxhdjFDgQAc"
        + "AAAAABNjb2xybmNseAABAA0ABgAAAAAXaXBtYQAAAAAAAAABAAEEAQKDBAAAAB5tZGF0EgAKCBgIv2GAhoMQMggQAAAY3qS9QA=="

    @Test func `Premultiplied colors of JPEG XL are divided`() throws {
        let file = try Fixture.image("formats/alpha.jxl")
        #expect(!JPEGXLHeader.isPremultiplied(file))
        for length in 0..<min(file.readableBytes, 200) {
            _ = JPEGXLHeader.isPremultiplied(ByteBuffer(bytes: file.readableBytesView.prefix(length)))
        }
        guard let corpus = Fixture.corpus else { return }
        let name = "jxl-conformance/conformance/alpha_premultiplied.jxl"
        let premultiplied = try Fixture.bytes(corpus.appendingPathComponent(name))
        #expect(JPEGXLHeader.isPremultiplied(premultiplied))
    }
}
