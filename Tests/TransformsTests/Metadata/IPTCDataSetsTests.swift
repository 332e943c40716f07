import NIOCore
import Testing

@testable import DarkroomTransforms

/// IPTC data as editors write it, and as hostile files do.
struct IPTCDataSetsTests {
    private static func dataSet(_ number: UInt8, _ value: [UInt8], record: UInt8 = 2) -> [UInt8] {
        [0x1C, record, number, UInt8(value.count >> 8), UInt8(value.count & 0xFF)] + value
    }

    private static func dataSet(_ number: UInt8, _ text: String, record: UInt8 = 2) -> [UInt8] {
        dataSet(number, Array(text.utf8), record: record)
    }

    private static func block(_ id: UInt16, _ data: [UInt8], name: String = "") -> [UInt8] {
        var block = Array("8BIM".utf8) + [UInt8(id >> 8), UInt8(id & 0xFF), UInt8(name.utf8.count)] + Array(name.utf8)
        if name.utf8.count % 2 == 0 { block.append(0) }
        block += [0, 0, UInt8(data.count >> 8), UInt8(data.count & 0xFF)] + data
        return data.count % 2 == 0 ? block : block + [0]
    }

    private static let signature = Array("Photoshop 3.0\0".utf8)
    private static let notice = dataSet(116, "© Zoë")

    private func read(_ bytes: [UInt8]) -> IPTCDataSets { IPTCDataSets(ByteBuffer(bytes: bytes)) }

    @Test(arguments: [
        signature + block(0x0404, notice), block(0x0404, notice), notice,
        signature + block(0x03ED, [0x1C, 2, 116, 0, 1, 0x41], name: "thumb") + block(0x0404, notice, name: "even"),
        signature + block(0x0404, dataSet(0, [0, 4]) + dataSet(80, "Ann") + notice + [0, 0]),
        signature + block(0x0404, dataSet(90, [0x1B, 0x25, 0x47], record: 1) + notice),
        signature + Array(block(0x0404, notice + [0]).dropLast()),
    ])
    func `A data set is found in a JPEG segment, in resource blocks, and bare`(bytes: [UInt8]) {
        #expect(read(bytes)[116] == "© Zoë")
    }

    @Test func `A marker byte within a value or another resource is no data set`() {
        let hidden = Self.dataSet(116, "not a notice")
        #expect(read(Self.dataSet(120, hidden))[116] == nil)
        #expect(read(Self.signature + Self.block(0x0404, Self.dataSet(120, hidden)))[116] == nil)
        #expect(read(Self.signature + Self.block(0x040C, hidden))[116] == nil)
        #expect(read([0, 1, 2] + hidden)[116] == nil)
        #expect(read(Self.dataSet(5, "a") + [0xFF] + hidden)[116] == nil)
        #expect(read(Self.dataSet(120, hidden) + Self.notice)[116] == "© Zoë")
    }

    @Test func `Only the application record counts, and the first of repeated data sets`() {
        #expect(read(Self.dataSet(116, "other", record: 3) + Self.notice)[116] == "© Zoë")
        let repeated = read(Self.dataSet(80, "Ann") + Self.dataSet(80, "Bob"))
        #expect(repeated[80] == "Ann")
        #expect(repeated[116] == nil)
    }

    @Test func `A value that is not valid UTF-8 is ISO 8859-1`() {
        #expect(read(Self.dataSet(80, [0x5A, 0x6F, 0xEB]))[80] == "Zoë")
    }

    @Test func `An extended length is read, and an absurd one is not`() {
        let text = Array("long".utf8)
        #expect(read([0x1C, 2, 120, 0x80, 4, 0, 0, 0, 4] + text)[120] == "long")
        #expect(read([0x1C, 2, 120, 0x80, 5, 0, 0, 0, 0, 4] + text)[120] == nil)
        #expect(read([0x1C, 2, 120, 0x80, 4, 0xFF, 0xFF, 0xFF, 0xFF] + text)[120] == nil)
        #expect(read([0x1C, 2, 120, 0xFF, 0xFF] + text)[120] == nil)
    }

    @Test func `A long value is cut between two characters`() {
        for text in ["ë", "aë"] {
            let bytes = Array(String(repeating: text, count: 40_000).utf8)
            let length = [UInt8(bytes.count >> 16), UInt8(bytes.count >> 8 & 0xFF), UInt8(bytes.count & 0xFF)]
            let found = Array((read([0x1C, 2, 120, 0x80, 4, 0] + length + bytes)[120] ?? "").utf8)
            #expect(found.count > 65_530 && bytes.starts(with: found))
        }
    }

    @Test func `Truncated bytes give no partial value`() {
        let bytes = Self.signature + Self.block(0x0404, Self.dataSet(80, "Ann") + Self.notice)
        for length in 0..<(bytes.count - 1) { #expect(read(Array(bytes.prefix(length)))[116] == nil) }
    }

    @Test func `Random bytes with many markers are read safely`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let noise = (0..<200).map { _ in
                Bool.random(using: &generator) ? 0x1C : UInt8.random(in: 0...255, using: &generator)
            }
            _ = read(noise)[116]
            _ = read(Self.signature + Self.block(0x0404, noise))[116]
            #expect(read([0x00] + noise)[116] == nil)
        }
    }
}
