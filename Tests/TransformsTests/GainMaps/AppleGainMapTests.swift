import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

struct AppleGainMapTests {
    /// The map of a fixture in which a part is replaced by another of the same length.
    private static func map(
        in name: String, replacing part: String = "", with other: String = ""
    ) throws -> AppleGainMap? {
        let source = try Fixture.image("hdr/\(name).jpg")
        let text = String(decoding: source.readableBytesView.map { UInt16($0) }, as: UTF16.self)
        let bytes = text.replacing(part, with: other).utf16.map { UInt8(truncatingIfNeeded: $0) }
        #expect(bytes.count == source.readableBytes)
        let file = ByteBuffer(bytes: bytes)
        return MultiPictureIndex.furtherImages(in: file).first.flatMap { AppleGainMap(of: $0, in: file) }
    }

    @Test(arguments: [
        ("apple-headroom", ">4<", ">1<"), ("apple-headroom", ">4<", ">0<"),
        ("apple-headroom", "aux:hdrgainmap", "aux:depthimage"), ("apple-headroom", "MapVersion>", "MapVariety>"),
        ("apple-headroom", "HDRGainMap/1.0", "HDRGainMap/9.0"), ("apple-gain-map", "Apple iOS", "Other iOS"),
        ("apple-gain-map", "\0\u{1}MM", "\0\u{1}II"), ("apple-gain-map", "\0\u{21}\0\u{A}", "\0\u{21}\0\u{5}"),
        ("apple-gain-map", "\u{92}\u{7C}", "\u{92}\u{7D}"),
        // A denominator of 0, an offset beyond the notes, and a headroom of 1.
        ("apple-gain-map", "\u{5}\u{DC}\0\0\u{3}\u{E8}", "\u{5}\u{DC}\0\0\0\0"),
        ("apple-gain-map", "\0\0\0\u{1}\0\0\0\u{2C}", "\0\0\0\u{1}\0\0\u{FF}\u{FF}"),
        ("apple-gain-map", "\0\0\0\0\0\0\u{3}\u{E8}", "\0\0\0\u{2B}\0\0\0\u{3}"),
    ])
    func `Without a kind, a version or a headroom there is no map of Apple's`(
        _ name: String, _ part: String, _ other: String
    ) throws {
        #expect(try Self.map(in: name) != nil)
        #expect(try Self.map(in: name, replacing: part, with: other) == nil)
    }

    @Test func `The headroom follows from two numbers, of which the second may be missing`() throws {
        #expect(try Self.map(in: "apple-gain-map")?.metadata == GainMapMetadata(most: 3))
        #expect(try Self.map(in: "apple-headroom")?.metadata == GainMapMetadata(most: 2))
        let unreadable = try Self.map(in: "apple-headroom", replacing: ">4<", with: ">x<")
        #expect(unreadable?.metadata == GainMapMetadata(most: 3))
        let changes: [(String, String, Double)] = [
            ("\0\0\u{5}\u{DC}\0\0\u{3}\u{E8}", "\0\0\0\u{1}\0\0\0\u{2}", 1.8),
            ("\0\0\0\0\0\0\u{3}\u{E8}", "\0\0\0\u{1}\0\0\0\u{1}", 2),
            ("\0\u{30}\0\u{A}", "\0\u{31}\0\u{A}", 3),
        ]
        for (part, other, stops) in changes {
            let metadata = try Self.map(in: "apple-gain-map", replacing: part, with: other)?.metadata
            #expect(metadata == GainMapMetadata(most: stops), "\(stops)")
        }
    }

    @Test func `The table maps no gain and all of it to themselves, and keeps the order`() throws {
        for name in ["apple-gain-map", "apple-headroom"] {
            let table = try #require(try Self.map(in: name)).table
            #expect(table.first == 0 && table.last == 255 && table == table.sorted())
        }
    }
}
