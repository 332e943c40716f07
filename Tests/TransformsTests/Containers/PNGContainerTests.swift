import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

struct PNGContainerTests {
    private static let drawing: Set = ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]

    @Test(arguments: [
        "color/palette.png", "color/palette-alpha.png", "color/color-key.png", "formats/alpha.png",
        "formats/interlaced.png", "color/icc-swap.png",
    ])
    func `Chunks that draw nothing are left out wherever they are`(_ name: String) throws {
        let file = PNGFile(try Fixture.image(name))
        var bare = file
        bare.chunks.removeAll { !Self.drawing.contains($0.type) }
        var full = file
        for type in ["eXIf", "tEXt", "zTXt", "iTXt", "tIME", "pHYs", "gAMA", "cHRM", "cICP", "priV", "acTL", "fcTL"] {
            full.insert(type, Array("Private".utf8), before: "IDAT")
        }
        full.insert("fdAT", Array("Private".utf8), before: "IEND")
        full.insert("tEXt", Array("Private".utf8), before: "IEND")
        let stripped = try #require(PNGContainer.stripped(full.bytes.followed(by: Array("Private".utf8))))
        #expect(stripped == bare.bytes && !stripped.contains("Private"))
        #expect(PNGContainer.stripped(stripped) == stripped)
    }

    @Test(arguments: [1, 2])
    func `A palette ends with its last whole color`(more: Int) throws {
        let whole = try Fixture.image("color/palette.png")
        var file = PNGFile(whole)
        let index = try #require(file.chunks.firstIndex { $0.type == "PLTE" })
        file.chunks[index].content += Array(repeating: 9, count: more)
        #expect(try produce(file.bytes).body == produce(whole).body)
        var damaged = file.bytes
        let place = try #require(damaged.readableBytesView.firstRange(of: "PLTE".utf8)).lowerBound
        damaged.setInteger(UInt8(0xAB), at: place + 5)
        let error = #expect(throws: ImageProcessingError.self) { try produce(damaged) }
        guard case .corrupt = error else { return #expect(error == nil) }
    }

    @Test func `A profile with a wrong checksum is not used`() throws {
        let file = try Fixture.image("color/icc-swap.png")
        var plain = PNGFile(file)
        let index = try #require(plain.chunks.firstIndex { $0.type == "iCCP" })
        // Signature, chunks in front, and the profile up to its checksum.
        let end = plain.chunks[0...index].reduce(8) { $0 + 12 + $1.content.count }
        var damaged = file
        damaged.setInteger(UInt32(0), at: damaged.readerIndex + end - 4)
        plain.chunks.remove(at: index)
        let expected = try produce(plain.bytes).body
        #expect(try produce(damaged).body == expected)
        #expect(try produce(file).body != expected)
    }

    @Test func `Chunks that are damaged, unknown but critical, or out of order are refused`() throws {
        let good = PNGFile(try Fixture.image("color/palette-alpha.png"))
        #expect(PNGContainer.stripped(good.bytes) != nil)
        let header = try #require(good.chunks.first)
        let changes: [(inout PNGFile) -> Void] = [
            { $0.insert("CgBI", before: "IHDR") }, { $0.insert("PRIV", before: "IDAT") },
            { $0.insert("tEXt", before: "IHDR") }, { $0.insert("t1Xt", before: "IDAT") },
            { $0.insert("IHDR", header.content, before: "IDAT") }, { $0.chunks[0].content.append(0) },
            { $0.insert("PLTE", [0, 0, 0], before: "IDAT") }, { $0.insert("tRNS", [0], before: "IDAT") },
            { $0.insert("tRNS", [0], before: "PLTE") }, { $0.insert("PLTE", [0, 0, 0], before: "IEND") },
            {
                $0.insert("tEXt", before: "IEND")
                $0.insert("IDAT", [0], before: "IEND")
            },
            { $0.chunks.removeAll { $0.type == "IDAT" } }, { $0.chunks.removeLast() }, { $0.chunks.removeFirst() },
            { $0.chunks = [] },
        ]
        for (index, change) in changes.enumerated() {
            var file = good
            change(&file)
            #expect(PNGContainer.stripped(file.bytes) == nil, "change \(index)")
        }
        for byte in good.bytes.readableBytesView.indices {
            var damaged = good.bytes
            damaged.setInteger(~damaged.readableBytesView[byte], at: byte)
            guard let stripped = PNGContainer.stripped(damaged) else { continue }
            // Only where the damage was is left out.
            #expect(stripped == PNGContainer.stripped(good.bytes), "byte \(byte)")
        }
        for length in 0..<good.bytes.readableBytes {
            #expect(PNGContainer.stripped(ByteBuffer(bytes: good.bytes.readableBytesView.prefix(length))) == nil)
        }
    }
}
