import NIOCore
import Testing

@testable import DarkroomVips

struct GzipTests {
    /// `printf 'hello hello hello' | gzip -n`
    static let hello: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40,
        0x90, 0x00, 0x80, 0x88, 0xF9, 0xE5, 0x11, 0x00, 0x00, 0x00,
    ]

    @Test func `A member is decompressed completely`() throws {
        let source = ByteBuffer(bytes: Self.hello)
        #expect(Gzip.isGzip(source))
        let inflated = try Gzip.inflate(source, maxBytes: 100)
        #expect(String(buffer: inflated.plain) == "hello hello hello")
        #expect(inflated.isWhole)
    }

    @Test func `Output is limited`() throws {
        let inflated = try Gzip.inflate(ByteBuffer(bytes: Self.hello), maxBytes: 5)
        #expect(String(buffer: inflated.plain) == "hello")
        #expect(!inflated.isWhole)
    }

    @Test func `A bomb of a million zeros stops at the limit`() throws {
        let bomb = ByteBuffer(bytes: Self.bomb)
        let inflated = try Gzip.inflate(bomb, maxBytes: 100_000)
        #expect(inflated.plain.readableBytes == 100_000)
        #expect(!inflated.isWhole)
    }

    @Test func `Corrupt and truncated data are errors`() {
        let cut = ByteBuffer(bytes: Self.hello.dropLast(9))
        let damaged = ByteBuffer(bytes: Self.hello.prefix(10) + [0xFF, 0xFF] + Self.hello.dropFirst(12))
        for source in [cut, damaged, ByteBuffer(), ByteBuffer(string: "hello")] {
            #expect(throws: VipsError.self) { try Gzip.inflate(source, maxBytes: 100) }
        }
        #expect(!Gzip.isGzip(ByteBuffer(string: "hello")))
    }

    /// A million zero bytes, without the trailing checksum, which is never reached.
    static let bomb: [UInt8] =
        [
            0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 2, 3, 0xED, 0xC1, 1, 1, 0, 0, 0, 0x82, 0x20, 0xFF, 0xAF, 0x6E, 0x48, 0x40,
            1,
        ] + Array(repeating: 0, count: 969)
}
