import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Checksums of PNG chunks, which not every PNG library checks.
struct DamagedPNGTests {
    @Test(arguments: ["IHDR", "PLTE"])
    func `A wrong checksum of a chunk that decoders need is corrupt, in every mode`(type: String) throws {
        let file = try withWrongChecksum(of: type, in: Fixture.image("color/palette.png"))
        for recipe in [Recipe(), .box(16)] {
            for output in [OutputOptions(format: .png), OutputOptions(format: .color)] {
                let error = #expect(throws: ImageProcessingError.self) { try produce(file, recipe, output: output) }
                guard case .corrupt = error else { return #expect(error == nil, "\(String(describing: error))") }
            }
        }
    }

    @Test(arguments: ["IDAT", "IEND"])
    func `A wrong checksum does not matter if the checksum of the pixels is right`(type: String) throws {
        let whole = try Fixture.image("color/palette.png")
        let file = try withWrongChecksum(of: type, in: whole)
        #expect(try produce(file).body == produce(whole).body)
    }

    @Test func `Wrong checksums of chunk and pixels are corrupt`() throws {
        let file = try Fixture.image("hostile/bad-checksum.png")
        for recipe in [Recipe(), .box(16)] {
            #expect(throws: ImageProcessingError.self) { try produce(file, recipe) }
        }
    }

    @Test func `A file that lacks only its last bytes, checksums or order is shown`() throws {
        let whole = try Fixture.image("color/palette-alpha.png")
        let expected = try produce(whole).body
        let file = PNGFile(whole)
        let pixels = try #require(file.chunks.first { $0.type == "IDAT" }).content
        func changed(_ change: (inout PNGFile) -> Void) -> ByteBuffer {
            var copy = file
            change(&copy)
            return copy.bytes
        }
        let ends = [0, 4, 12, 16, 20].map { whole.getSlice(at: 0, length: whole.readableBytes - $0) ?? whole }
        let others = [
            changed {
                $0.chunks.removeAll { $0.type == "IDAT" }
                $0.insert("IDAT", Array(pixels.prefix(20)), before: "IEND")
                $0.insert("tEXt", Array("a".utf8) + [0], before: "IEND")
                $0.insert("IDAT", Array(pixels.dropFirst(20)), before: "IEND")
            },
            changed {
                $0.chunks.removeAll { $0.type == "IDAT" }
                $0.insert("IDAT", Array(pixels.dropLast(4)), before: "IEND")
            },
            changed {
                $0.chunks.removeAll { $0.type == "IDAT" }
                $0.insert("IDAT", pixels.dropLast(4) + [1, 2, 3, 4], before: "IEND")
            },
            changed {
                // A window of 256 bytes, which is too small.
                guard let index = $0.chunks.firstIndex(where: { $0.type == "IDAT" }) else { return }
                $0.chunks[index].content.replaceSubrange(0..<2, with: [0x08, 0x1D])
            },
            changed {
                guard let index = $0.chunks.firstIndex(where: { $0.type == "tRNS" }) else { return }
                $0.chunks[index].content += [UInt8](repeating: 0, count: 300)
            },
        ]
        for (index, damaged) in (ends + others).enumerated() {
            #expect(try produce(damaged).body == expected, "\(index)")
            // libpng takes more files as they are than libspng does.
            if index > 0 { #expect(PNGContainer.withWholePixels(damaged) != nil, "\(index)") }
        }
        for missing in [24, 40] {
            let damaged = whole.getSlice(at: 0, length: whole.readableBytes - missing) ?? whole
            #expect(throws: ImageProcessingError.self) { try produce(damaged) }
        }
    }

    @Test func `The transparency of a palette is ignored before the palette`() throws {
        let whole = PNGFile(try Fixture.image("color/palette-alpha.png"))
        let transparency = try #require(whole.chunks.first { $0.type == "tRNS" })
        var (moved, opaque) = (whole, whole)
        opaque.chunks.removeAll { $0.type == "tRNS" }
        moved.chunks = opaque.chunks
        moved.insert("tRNS", transparency.content, before: "PLTE")
        #expect(try produce(moved.bytes).body == produce(opaque.bytes).body)
    }

    @Test func `A palette that pixels do not use does not matter behind their transparent color`() throws {
        var file = PNGFile(try Drawing.flat(4, 4, [9, 8, 7]).png())
        file.insert("tRNS", [0, 9, 0, 8, 0, 7], before: "IDAT")
        let expected = try produce(file.bytes).body
        #expect(try Pixels(expected)[1, 1][3] == 0)
        file.insert("PLTE", [0, 0, 0, 128, 128, 128], before: "IDAT")
        #expect(try produce(file.bytes).body == expected)
    }

    @Test(arguments: ["color/palette.png", "color/palette-alpha.png"])
    func `Colors beyond the palette are its last color`(name: String) throws {
        var (short, whole) = (PNGFile(try Fixture.image(name)), PNGFile(try Fixture.image(name)))
        let count = 5
        let most = 1 << Int(try #require(whole.chunks.first).content[8])
        for (type, size) in [("PLTE", 3), ("tRNS", 1)] {
            guard let index = whole.chunks.firstIndex(where: { $0.type == type }) else { continue }
            let kept = whole.chunks[index].content.prefix(count * size)
            short.chunks[index].content = Array(kept)
            guard kept.count == count * size else { continue }
            whole.chunks[index].content = Array(kept) + (count..<most).flatMap { _ in kept.suffix(size) }
        }
        #expect(short.bytes != whole.bytes)
        #expect(try produce(short.bytes).body == produce(whole.bytes).body)
    }

    @Test(arguments: ["color/grey.png", "color/squares.png"])
    func `A palette that pixels do not use does not matter`(name: String) throws {
        var file = PNGFile(try Fixture.image(name))
        let expected = try produce(file.bytes).body
        file.insert("PLTE", [0, 0, 0, 128, 128, 128], before: "IDAT")
        #expect(PNGContainer.readable(file.bytes) == file.bytes)
        #expect(try produce(file.bytes).body == expected)
    }

    @Test func `A profile counts behind the chunk that states sRGB, too`() throws {
        var file = PNGFile(try Fixture.image("color/icc-swap.png"))
        let expected = try produce(file.bytes).body
        file.insert("sRGB", [0], before: "iCCP")
        #expect(try produce(file.bytes).body == expected)
    }

    @Test func `A header with a wrong checksum is corrupt before any pixel is decoded`() throws {
        let file = try withWrongChecksum(of: "IHDR", in: Fixture.image("color/palette.png"))
        #expect(throws: ImageProcessingError.self) { try SourceHeader(of: file) }
    }

    @Test func `A wrong checksum of a text does not matter`() throws {
        let text = try chunk("tEXt", Array("Title".utf8) + [0] + Array("a".utf8))
        var file = try Fixture.image("color/palette.png")
        var rest = ByteBuffer(buffer: file)
        var longer = rest.readSlice(length: 33) ?? ByteBuffer()
        longer.writeBytes(text)
        longer.writeBuffer(&rest)
        file = longer
        let damaged = try withWrongChecksum(of: "tEXt", in: file)
        #expect(try produce(damaged).size == produce(file).size)
    }

    private func chunk(_ type: String, _ content: [UInt8]) throws -> [UInt8] {
        let body = Array(type.utf8) + content
        let checksum = body.withUnsafeBytes { Checksum.crc32($0) }
        return bigEndian(UInt32(content.count)) + body + bigEndian(checksum)
    }

    private func bigEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// The file with one bit of the checksum of the first chunk of that type flipped.
    private func withWrongChecksum(of type: String, in file: ByteBuffer) throws -> ByteBuffer {
        var bytes = Array(file.readableBytesView)
        var start = 8
        while start + 12 <= bytes.count {
            let length = bytes[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) }
            if bytes[(start + 4)..<(start + 8)].elementsEqual(type.utf8) {
                bytes[start + 8 + length] ^= 1
                return ByteBuffer(bytes: bytes)
            }
            start += 12 + length
        }
        throw ImageProcessingError.corrupt("no chunk \(type)")
    }
}
