import NIOCore

/// The chunks of a WebP file (RFC 9649 §2), as far as needed to leave some out.
enum WebPContainer {
    /// The file without its `EXIF` chunk: libvips 8.14 adds a chunk of 186 bytes or more to every image, even with the
    /// option to strip metadata. A header of extended features that is then unnecessary is removed too.
    ///
    /// Returns the file unchanged if it has no such chunk, or does not have the expected form.
    static func removingEXIF(from file: ByteBuffer) -> ByteBuffer {
        guard let content = content(of: file, mayEndEarly: false), let chunks = chunks(of: content) else { return file }
        let kept = chunks.filter { $0.name != "EXIF" }
        return kept.count < chunks.count ? self.file(of: kept, features: ~Features.exif) ?? file : file
    }

    /// The file with only pixels and the timing of an animation. Color profile, EXIF, XMP, chunks of other kinds, also
    /// inside of frames, and bytes after the file are removed.
    ///
    /// Returns nil for a file that is not exactly one image or animation, or ends early.
    static func stripped(_ file: ByteBuffer) -> ByteBuffer? {
        guard let content = content(of: file, mayEndEarly: true), var chunks = chunks(of: content) else { return nil }
        chunks.removeAll { !drawing.contains($0.name) }
        switch chunks.map(\.name) {
        case ["VP8 "], ["VP8L"], ["VP8X", "VP8 "], ["VP8X", "VP8L"], ["VP8X", "ALPH", "VP8 "]: break
        case let names where names.count > 2 && names == ["VP8X", "ANIM"] + names.dropFirst(2).map({ _ in "ANMF" }):
            let frames = chunks.dropFirst(2).compactMap(strippedFrame)
            guard frames.count == names.count - 2 else { return nil }
            chunks = chunks.prefix(2) + frames
        default: return nil
        }
        return self.file(of: chunks, features: Features.alpha | Features.animation)
    }

    /// The file with an XMP packet as its last chunk; nil if it does not have the expected form.
    static func adding(xmp: ByteBuffer, to file: ByteBuffer) -> ByteBuffer? {
        extended(file, by: Features.xmp) { $0.append(chunk("XMP ", xmp)) }
    }

    /// The file with an ICC profile in front of its pixels; nil if it does not have the expected form.
    static func adding(profile: ByteBuffer, to file: ByteBuffer) -> ByteBuffer? {
        extended(file, by: Features.profile) { $0.insert(chunk("ICCP", profile), at: 1) }
    }

    /// The file with another chunk, which its header of extended features states.
    private static func extended(
        _ file: ByteBuffer, by feature: UInt8, _ change: (inout [Chunk]) -> Void
    ) -> ByteBuffer? {
        guard let content = content(of: file, mayEndEarly: false), var chunks = chunks(of: content),
            let first = chunks.first
        else { return nil }
        if first.name != "VP8X" {
            guard let features = features(of: first) else { return nil }
            chunks.insert(features, at: 0)
        }
        let place = chunks[0].bytes.readerIndex + chunkHeaderLength
        guard let flags: UInt8 = chunks[0].bytes.getInteger(at: place) else { return nil }
        chunks[0].bytes.setInteger(flags | feature, at: place)
        change(&chunks)
        return self.file(of: chunks, features: .max)
    }

    /// Whether there is a C2PA manifest.
    static func hasManifest(_ file: ByteBuffer) -> Bool {
        content(of: file, mayEndEarly: true).flatMap { chunks(of: $0) }?.contains { $0.name == "C2PA" } ?? false
    }

    /// The header of extended features for a plain image, whose header has the size (RFC 6386 §9.1, RFC 9649 §3.4).
    private static func features(of image: Chunk) -> Chunk? {
        var fields = image.bytes
        fields.moveReaderIndex(forwardBy: chunkHeaderLength)
        // Behind the frame tag and a start code, or behind a signature.
        guard fields.readSlice(length: image.name == "VP8L" ? 1 : 6) != nil,
            let bits = fields.readInteger(endianness: .little, as: UInt32.self)
        else { return nil }
        let (sides, hasAlpha): ([UInt32], Bool)
        switch image.name {
        // 14 bits of each side, with two bits for a scale.
        case "VP8 ": (sides, hasAlpha) = ([bits & 0x3FFF, bits >> 16 & 0x3FFF], false)
        case "VP8L": (sides, hasAlpha) = ([(bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1], bits >> 28 & 1 != 0)
        default: return nil
        }
        guard !sides.contains(0) else { return nil }
        var content = ByteBuffer()
        content.writeInteger(hasAlpha ? UInt32(Features.alpha) : 0, endianness: .little)
        for side in sides {
            content.writeInteger(UInt16(side - 1), endianness: .little)
            content.writeInteger(UInt8(0))
        }
        return chunk("VP8X", content)
    }

    private static func chunk(_ name: String, _ content: ByteBuffer) -> Chunk {
        var bytes = ByteBuffer(string: name)
        bytes.writeInteger(UInt32(content.readableBytes), endianness: .little)
        bytes.writeImmutableBuffer(content)
        if content.readableBytes % 2 == 1 { bytes.writeInteger(UInt8(0)) }
        return Chunk(name: name, bytes: bytes)
    }

    /// The file of an animation, with the flag that it has alpha. libwebp leaves the flag out if frames are opaque and
    /// only the areas that they clear are transparent, which some viewers then show in black.
    static func statingAlpha(of file: ByteBuffer) -> ByteBuffer {
        let place = file.readerIndex + 12
        guard file.getString(at: place, length: 4) == "VP8X",
            let flags: UInt8 = file.getInteger(at: place + chunkHeaderLength), flags & Features.animation != 0
        else { return file }
        var file = file
        file.setInteger(flags | Features.alpha, at: place + chunkHeaderLength)
        return file
    }

    /// The file with the length that its chunks have; nil if its header states it, if an image is not whole, or if
    /// there is none.
    ///
    /// libwebp refuses a file that is shorter than it states, or that states less than its image.
    static func withWholeLength(_ file: ByteBuffer) -> ByteBuffer? {
        var rest = file
        guard rest.readString(length: 4) == "RIFF",
            let stated = rest.readInteger(endianness: .little, as: UInt32.self),
            rest.readableBytes != stated, rest.readString(length: 4) == "WEBP"
        else { return nil }
        let start = file.readerIndex + chunkHeaderLength
        var hasImage = false
        // Whether the stated end is behind a chunk.
        var isBoundary = false
        var end = rest.readerIndex
        while let name = rest.readString(length: 4),
            let length = rest.readInteger(endianness: .little, as: UInt32.self)
        {
            guard rest.readSlice(length: Int(length)) != nil else {
                if imageNames.contains(name) { return nil }
                break
            }
            hasImage = hasImage || imageNames.contains(name)
            end = rest.readerIndex
            if length % 2 == 1 {
                end += 1
                rest.moveReaderIndex(forwardBy: min(1, rest.readableBytes))
            }
            if hasImage, end - start == stated { isBoundary = true }
        }
        guard hasImage, stated > end - start || !isBoundary || end > file.writerIndex,
            let length = UInt32(exactly: end - start)
        else { return nil }
        let copied = min(end, file.writerIndex)
        var whole = ByteBuffer()
        whole.reserveCapacity(end - file.readerIndex)
        whole.writeImmutableBuffer(file.getSlice(at: file.readerIndex, length: copied - file.readerIndex) ?? file)
        whole.writeRepeatingByte(0, count: end - copied)
        whole.setInteger(length, at: 4, endianness: .little)
        return whole
    }

    /// The chunks with pixels.
    private static let imageNames: Set = ["VP8 ", "VP8L", "ANMF"]

    private struct Chunk {
        let name: String
        /// With name and length in front of it, and padded to an even number of bytes.
        var bytes: ByteBuffer
    }

    /// The flags of a `VP8X` chunk (RFC 9649 §2.7).
    private enum Features {
        static let profile: UInt8 = 0x20
        static let exif: UInt8 = 0x08
        static let xmp: UInt8 = 0x04
        static let alpha: UInt8 = 0x10
        static let animation: UInt8 = 0x02
    }

    private static let drawing: Set = ["VP8X", "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF"]
    /// `ANMF`.
    private static let frameName: UInt32 = 0x414E_4D46
    private static let chunkHeaderLength = 8
    /// Position, size, duration and flags of an animation's frame.
    private static let frameHeaderLength = 16
    /// The maximum number of chunks of a file that is read; each frame is a chunk.
    private static let maxChunks = 65_536

    /// The chunks of the file.
    ///
    /// - Parameter mayEndEarly: whether more may follow than the file's header says.
    private static func content(of file: ByteBuffer, mayEndEarly: Bool) -> ByteBuffer? {
        var rest = file
        guard rest.readString(length: 4) == "RIFF",
            let length = rest.readInteger(endianness: .little, as: UInt32.self), length >= 4,
            length <= rest.readableBytes, mayEndEarly || length == rest.readableBytes,
            rest.readString(length: 4) == "WEBP"
        else { return nil }
        return rest.readSlice(length: Int(length) - 4)
    }

    /// All chunks in order; nil unless they fill the content.
    private static func chunks(of content: ByteBuffer) -> [Chunk]? {
        var rest = content
        var chunks: [Chunk] = []
        while rest.readableBytes > 0 {
            let start = rest.readerIndex
            guard chunks.count < maxChunks, let name = rest.getString(at: start, length: 4),
                let length: UInt32 = rest.getInteger(at: start + 4, endianness: .little),
                let bytes = rest.readSlice(length: chunkHeaderLength + Int(length) + Int(length % 2))
            else { return nil }
            chunks.append(Chunk(name: name, bytes: bytes))
        }
        return chunks
    }

    /// A frame with only its pixels.
    private static func strippedFrame(_ frame: Chunk) -> Chunk? {
        var content = frame.bytes
        guard content.readSlice(length: chunkHeaderLength) != nil,
            let header = content.readSlice(length: frameHeaderLength), var chunks = chunks(of: content)
        else { return nil }
        chunks.removeAll { !drawing.contains($0.name) }
        guard [["VP8 "], ["VP8L"], ["ALPH", "VP8 "]].contains(chunks.map(\.name)) else { return nil }
        var bytes = ByteBuffer()
        bytes.writeString(frame.name)
        bytes.writeInteger(
            UInt32(frameHeaderLength + chunks.reduce(0) { $0 + $1.bytes.readableBytes }), endianness: .little)
        bytes.writeImmutableBuffer(header)
        for chunk in chunks { bytes.writeImmutableBuffer(chunk.bytes) }
        return Chunk(name: frame.name, bytes: bytes)
    }

    /// The frames of an animation, counted up to `limit` + 1.
    ///
    /// Chunks inside of a frame are walked like chunks of the file, as libwebp does: a frame within a frame counts.
    static func frames(in file: ByteBuffer, atMost limit: Int) -> Int {
        var rest = file
        var frames = 0
        guard rest.readSlice(length: 12) != nil else { return 0 }
        while frames <= limit, let name: UInt32 = rest.readInteger(),
            let length: UInt32 = rest.readInteger(endianness: .little)
        {
            let isFrame = name == frameName
            if isFrame { frames += 1 }
            let skipped = isFrame ? frameHeaderLength : Int(length) + Int(length % 2)
            guard skipped <= rest.readableBytes else { break }
            rest.moveReaderIndex(forwardBy: skipped)
        }
        return frames
    }

    /// Whether the first image or frame is stored with loss. Its alpha may be lossless.
    static func isLossy(_ file: ByteBuffer) -> Bool {
        var rest = file
        guard rest.readSlice(length: 12) != nil else { return false }
        while let name = rest.readString(length: 4), let length: UInt32 = rest.readInteger(endianness: .little) {
            if name == "VP8 " || name == "VP8L" { return name == "VP8 " }
            let skipped = name == "ANMF" ? frameHeaderLength : Int(length) + Int(length % 2)
            guard rest.readSlice(length: skipped) != nil else { break }
        }
        return false
    }

    /// A file of these chunks with no other features than these. A header of extended features is left out where a
    /// plain image follows it.
    private static func file(of chunks: [Chunk], features: UInt8) -> ByteBuffer? {
        let isSimple = chunks.count == 2 && chunks[0].name == "VP8X" && chunks[1].name.hasPrefix("VP8")
        let chunks = isSimple ? chunks[1...] : chunks[...]
        guard let length = UInt32(exactly: chunks.reduce(4) { $0 + $1.bytes.readableBytes }) else { return nil }
        var file = ByteBuffer()
        file.reserveCapacity(Int(length) + chunkHeaderLength)
        file.writeString("RIFF")
        file.writeInteger(length, endianness: .little)
        file.writeString("WEBP")
        for var chunk in chunks {
            let flags = chunk.bytes.readerIndex + chunkHeaderLength
            if chunk.name == "VP8X", let stated: UInt8 = chunk.bytes.getInteger(at: flags) {
                chunk.bytes.setInteger(stated & features, at: flags)
            }
            file.writeImmutableBuffer(chunk.bytes)
        }
        return file
    }
}
