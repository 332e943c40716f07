import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

struct WebPContainerTests {
    /// The names of a file's chunks, which fill it exactly.
    private func chunks(_ file: ByteBuffer) -> [String] {
        var file = file
        let (riff, size) = (file.readString(length: 4), file.readInteger(endianness: .little, as: UInt32.self))
        #expect(riff == "RIFF" && size.map(Int.init) == file.readableBytes)
        let form = file.readString(length: 4)
        #expect(form == "WEBP")
        var names: [String] = []
        while let name = file.readString(length: 4) {
            names.append(name)
            let length = file.readInteger(endianness: .little, as: UInt32.self).map { Int($0 + $0 % 2) }
            let content = length.flatMap { file.readSlice(length: $0) }
            #expect(content != nil)
        }
        #expect(file.readableBytes == 0)
        return names
    }

    private func produced(_ name: String, lossless: Bool = false) throws -> ByteBuffer {
        try produce(Fixture.image(name), output: OutputOptions(format: .webp, lossless: lossless)).body
    }

    @Test func `An image without an owner has no EXIF, and no header of extended features that it does not need`()
        throws
    {
        #expect(chunks(try produced("formats/alpha.png", lossless: true)) == ["VP8L"])
        #expect(chunks(try produced("formats/lzw.tiff")) == ["VP8 "])
        let transparent = try produced("formats/alpha.png")
        #expect(chunks(transparent) == ["VP8X", "ALPH", "VP8 "])
        #expect(try #require(transparent.getInteger(at: 20, as: UInt8.self)) & 0x08 == 0)
        let animated = chunks(try produced("animation/disposal.gif"))
        #expect(animated.prefix(2) == ["VP8X", "ANIM"] && !animated.contains("EXIF"))
    }

    @Test func `An owner's notice keeps its EXIF`() throws {
        #expect(chunks(try produced("sample.jpg")).contains("EXIF"))
    }

    @Test func `Bytes of another form stay as they are`() {
        for text in ["", "RIFF", "RIFF\u{4}\0\0\0WEBP", "RIFF\u{9}\0\0\0WEBPEXIF\u{64}\0\0\0a", "RIFX\0\0\0\0WEBPEXIF"]
        {
            let file = ByteBuffer(string: text)
            #expect(WebPContainer.removingEXIF(from: file) == file)
        }
    }

    @Test(arguments: [
        ("formats/photo.webp", ["VP8 "]), ("formats/lossless.webp", ["VP8L"]), ("color/icc-swap.webp", nil),
        ("formats/alpha-lossy.webp", ["VP8X", "ALPH", "VP8 "]), ("animation/disposal.webp", nil),
    ])
    func `Chunks that draw nothing are left out wherever they are`(_ name: String, expected: [String]?) throws {
        let bare = try #require(WebPContainer.stripped(Fixture.image(name)))
        if let expected { #expect(chunks(bare) == expected) }
        #expect(Set(chunks(bare)).isSubset(of: ["VP8X", "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF"]))
        #expect(try SourceHeader(of: bare).size == SourceHeader(of: Fixture.image(name)).size)

        var file = WebPFile(bare)
        let secret = Array("Private".utf8)
        for frame in file.chunks.indices where file.chunks[frame].name == "ANMF" {
            file.chunks[frame].content += WebPFile.Chunk(name: "priv", content: secret).bytes
        }
        if file.chunks[0].name == "VP8X" { file.chunks[0].content[0] |= 0x2C }
        for name in ["ICCP", "EXIF", "XMP ", "priv"] {
            file.chunks.insert(WebPFile.Chunk(name: name, content: secret), at: 1)
            file.chunks.append(WebPFile.Chunk(name: name, content: secret))
        }
        #expect(WebPContainer.stripped(file.bytes.followed(by: secret)) == bare)
    }

    @Test func `A file that is not one whole image or animation is refused`() throws {
        let animation = WebPFile(try #require(WebPContainer.stripped(Fixture.image("animation/disposal.webp"))))
        let changes: [(inout WebPFile) -> Void] = [
            { $0.chunks = [] }, { $0.chunks.removeLast($0.chunks.count - 2) }, { $0.chunks.remove(at: 1) },
            { $0.chunks.remove(at: 0) }, { $0.chunks.swapAt(1, 2) }, { $0.chunks.append($0.chunks[0]) },
            { $0.chunks[2].content.removeLast($0.chunks[2].content.count - 9) },
            { $0.chunks[2].content.removeLast($0.chunks[2].content.count - 16) },
            { $0.chunks[2].content += WebPFile.Chunk(name: "VP8L", content: [1, 2]).bytes },
            { $0.chunks[2].content += [1] }, { $0.chunks[2].content[20] = 255 },
        ]
        for (index, change) in changes.enumerated() {
            var file = animation
            change(&file)
            #expect(WebPContainer.stripped(file.bytes) == nil, "change \(index)")
        }
        let photo = try Fixture.image("formats/photo.webp")
        for length in [0, 3, 11, 12, 19, 30, photo.readableBytes - 1] {
            #expect(WebPContainer.stripped(ByteBuffer(bytes: photo.readableBytesView.prefix(length))) == nil)
        }
        for text in ["RIFF\u{4}\0\0\0WEBP", "RIFF\u{3}\0\0\0WEBPVP8 ", "RIFF\u{D}\0\0\0WEBPVP8 \u{2}\0\0\0a"] {
            #expect(WebPContainer.stripped(ByteBuffer(string: text)) == nil)
        }
    }

    @Test(arguments: ["formats/photo.webp", "formats/alpha.webp", "formats/lossless.webp", "animation/disposal.webp"])
    func `A file whose header states another length is shown if its chunks are whole`(_ name: String) throws {
        let whole = try Fixture.image(name)
        #expect(WebPContainer.withWholeLength(whole) == nil)
        #expect(WebPContainer.withWholeLength(whole.followed(by: Array("junkjunkjunk".utf8))) == nil)
        let length = UInt32(whole.readableBytes - 8)
        let expected = try produce(whole).body
        for stated in [0, 4, length / 2, length - 2, length + 1, length + 2, length + 1000, .max] {
            var damaged = whole
            damaged.setInteger(stated, at: 4, endianness: .little)
            #expect(WebPContainer.withWholeLength(damaged) == whole, "\(stated)")
            #expect(try produce(damaged).body == expected, "\(stated)")
            let cut = damaged.getSlice(at: 0, length: damaged.readableBytes - 10) ?? damaged
            #expect(throws: ImageProcessingError.self, "\(stated)") { try produce(cut) }
        }
    }

    @Test func `The padding of the last chunk may be missing`() throws {
        var file = WebPFile(try Fixture.image("formats/photo.webp"))
        file.chunks.append(WebPFile.Chunk(name: "XMP ", content: [1]))
        let whole = file.bytes
        let cut = whole.getSlice(at: 0, length: whole.readableBytes - 1) ?? whole
        #expect(WebPContainer.withWholeLength(cut) == whole)
    }
}
