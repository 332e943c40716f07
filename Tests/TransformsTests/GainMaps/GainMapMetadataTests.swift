import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

struct GainMapMetadataTests {
    private static let packet =
        "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
        + "<rdf:Description xmlns:h='http://ns.adobe.com/hdr-gain-map/1.0/' h:Version='1.0' h:GainMapMin='-0.5' "
        + "h:GainMapMax='3' h:HDRCapacityMax='2.5'>CONTENT</rdf:Description></rdf:RDF></x:xmpmeta>"

    private static func read(_ packet: String) -> GainMapMetadata? { GainMapMetadata(xmp: Array(packet.utf8)) }

    @Test func `Properties are attributes or lists for each channel, and missing ones have defaults`() throws {
        let list = "<h:Gamma><rdf:Seq>\n<rdf:li>0.5</rdf:li>\n<rdf:li>1</rdf:li> <rdf:li>2</rdf:li></rdf:Seq></h:Gamma>"
        let metadata = try #require(Self.read(Self.packet.replacingContent(with: list)))
        #expect(metadata.least == [-0.5] && metadata.most == [3] && metadata.gamma == [0.5, 1, 2])
        #expect(metadata.baseOffset == [1 / 64] && metadata.alternateOffset == [1 / 64])
        #expect(metadata.leastHeadroom == 0 && metadata.mostHeadroom == 2.5)
        let again = GainMapMetadata(xmp: metadata.packet.readableBytesView)
        #expect(again == metadata)
    }

    @Test(arguments: [
        ("1.0", "2.0"), ("'3'", "'x'"), ("'3'", "'nan'"), ("'3'", "'1e99'"), ("'2.5'", "'0'"),
        ("h:GainMapMax", "h:Most"),
        ("h:GainMapMin='-0.5'", "h:BaseRenditionIsHDR='True'"), ("h:GainMapMin='-0.5'", "h:Gamma='0'"),
        ("CONTENT", "<h:Gamma><rdf:Seq><rdf:li>1</rdf:li><rdf:li>1</rdf:li></rdf:Seq></h:Gamma>"),
        ("hdr-gain-map", "other"), ("<x:xmpmeta", "<!DOCTYPE a [<!ENTITY b '3'>]><x:xmpmeta"), ("'3'", "'&b;'"),
    ])
    func `Metadata that is missing, impossible or no XML is none`(_ part: String, _ other: String) {
        #expect(Self.read(Self.packet) != nil)
        #expect(Self.read(Self.packet.replacing(part, with: other)) == nil)
    }

    @Test func `A packet longer than a segment is not read`() {
        #expect(Self.read(Self.packet + String(repeating: " ", count: 10 << 20)) == nil)
    }

    @Test func `Fractions may share a denominator, and a map that darkens an HDR image is none`() {
        func read(_ flags: UInt8, _ numbers: [Int32]) -> GainMapMetadata? {
            var bytes = ByteBuffer(bytes: [0, 0, 0, 0, flags])
            for number in numbers { bytes.writeInteger(number) }
            return GainMapMetadata(iso: &bytes)
        }
        let shared = read(0x48, [100, 0, 200, -50, 300, 100, 1, 2])
        #expect(shared?.least == [-0.5] && shared?.most == [3] && shared?.gamma == [1])
        #expect(shared?.mostHeadroom == 2 && shared?.baseOffset == [0.01] && shared?.alternateOffset == [0.02])
        #expect(read(0x48, [100, 200, 0, -50, 300, 100, 1, 2]) == nil)
        #expect(read(0x48, [0, 0, 200, -50, 300, 100, 1, 2]) == nil)
        #expect(read(0x48, [100, 0, 200, -50, 300, 100, 1]) == nil)
        #expect(read(0xC8, [100, 0, 200, -50, 300, 100, 1, 2]) == nil)
        #expect(
            read(0x40, [0, 1, 2, 1, -1, 2, 3, 1, 1, 1, 1, 64, 1, 64]) == read(0x48, [64, 0, 128, -32, 192, 64, 1, 1]))
    }

    @Test func `A packet has the directory beside the rights`() {
        let packet = XMPPacket.make([.credit: "A & B"], and: GainMapMetadata.directory(mapBytes: 99))
        #expect(XMPPacket(packet.readableBytesView)[.credit] == "A & B")
        #expect(packet.contains("Item:Length=\"99\"") && packet.contains("hdrgm:Version=\"1.0\""))
    }
}

extension String {
    fileprivate func replacingContent(with content: String) -> String { replacing("CONTENT", with: content) }
}
