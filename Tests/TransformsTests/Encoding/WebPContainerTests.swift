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
}
