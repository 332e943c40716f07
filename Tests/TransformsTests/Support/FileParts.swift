import NIOCore

/// A JPEG as its segments up to the first scan, and the rest.
struct JPEGFile {
    struct Segment: Equatable {
        var marker: UInt8
        var content: [UInt8]
    }

    var segments: [Segment] = []
    /// From the marker of the first scan on.
    var scans: [UInt8]

    init(_ file: ByteBuffer) {
        var rest = Array(file.readableBytesView.dropFirst(2))
        while rest.count > 4, rest[1] != 0xDA {
            let length = Int(rest[2]) << 8 | Int(rest[3])
            segments.append(Segment(marker: rest[1], content: Array(rest[4..<(2 + length)])))
            rest.removeFirst(2 + length)
        }
        scans = rest
    }

    var bytes: ByteBuffer {
        ByteBuffer(bytes: [0xFF, 0xD8] + segments.flatMap { Self.segment($0.marker, $0.content) } + scans)
    }

    mutating func insert(_ marker: UInt8, _ content: [UInt8], at index: Int = 0) {
        segments.insert(Segment(marker: marker, content: content), at: index)
    }

    static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + content
    }
}

/// A PNG as its chunks; what follows the last whole one is lost.
struct PNGFile {
    struct Chunk: Equatable {
        var type: String
        var content: [UInt8]
    }

    var chunks: [Chunk] = []

    init(_ file: ByteBuffer) {
        var rest = file
        rest.moveReaderIndex(forwardBy: 8)
        while let length = rest.readInteger(as: UInt32.self), let type = rest.readString(length: 4),
            let content = rest.readBytes(length: Int(length)), rest.readSlice(length: 4) != nil
        {
            chunks.append(Chunk(type: type, content: content))
        }
    }

    /// With right checksums.
    var bytes: ByteBuffer {
        var file = ByteBuffer(bytes: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        for chunk in chunks {
            let named = Array(chunk.type.utf8) + chunk.content
            file.writeInteger(UInt32(chunk.content.count))
            file.writeBytes(named)
            file.writeInteger(Self.checksum(named))
        }
        return file
    }

    mutating func insert(_ type: String, _ content: [UInt8] = [], before other: String) {
        let index = chunks.firstIndex { $0.type == other } ?? chunks.endIndex
        chunks.insert(Chunk(type: type, content: content), at: index)
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var remainder: UInt32 = ~0
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ 0xEDB8_8320 }
        }
        return ~remainder
    }
}

/// A WebP as its chunks.
struct WebPFile {
    struct Chunk: Equatable {
        var name: String
        var content: [UInt8]

        var bytes: [UInt8] {
            let length = (0..<4).map { UInt8(truncatingIfNeeded: content.count >> ($0 * 8)) }
            return Array(name.utf8) + length + content + (content.count % 2 == 0 ? [] : [0])
        }
    }

    var chunks: [Chunk]

    init(_ file: ByteBuffer) { chunks = Self.chunks(Array(file.readableBytesView.dropFirst(12))) }

    var bytes: ByteBuffer {
        let content = Array("WEBP".utf8) + chunks.flatMap(\.bytes)
        return ByteBuffer(bytes: WebPFile.Chunk(name: "RIFF", content: content).bytes)
    }

    static func chunks(_ bytes: [UInt8]) -> [Chunk] {
        var rest = ByteBuffer(bytes: bytes)
        var chunks: [Chunk] = []
        while let name = rest.readString(length: 4),
            let length = rest.readInteger(endianness: .little, as: UInt32.self),
            let content = rest.readBytes(length: Int(length)), length % 2 == 0 || rest.readSlice(length: 1) != nil
        {
            chunks.append(Chunk(name: name, content: content))
        }
        return chunks
    }
}

extension ByteBuffer {
    /// Whether these letters are anywhere in the bytes.
    func contains(_ text: String) -> Bool {
        let (bytes, searched) = (Array(readableBytesView), Array(text.utf8))
        return bytes.indices.contains { bytes[$0...].starts(with: searched) }
    }

    func followed(by bytes: [UInt8]) -> ByteBuffer {
        var all = self
        all.writeBytes(bytes)
        return all
    }
}
