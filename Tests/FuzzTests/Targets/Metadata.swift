import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

extension FuzzTests {
    private static let packet = XMPPacket.make(
        Dictionary(uniqueKeysWithValues: XMPProperty.allCases.map { ($0, "https://a.example/\($0)?a&b") }))

    @Test func `A damaged packet of XMP is read within its bytes, and a new packet of its texts says the same`() {
        let words =
            XMPProperty.Schema.allCases.flatMap { ["xmlns:\($0.prefix)='\($0.rawValue)'", "\($0.prefix):"] }
            + XMPProperty.allCases.map(\.rawValue) + [
                "<rdf:Description ", "<rdf:li>", "rdf:resource='u'", "<plus:Licensor>", "</", "/>", "<!--", "<![CDATA[",
                "<!DOCTYPE a [<!ENTITY b 'c'>]>", "&b;", "&#x26;", "&amp;", "\u{FEFF}", "<a><a><a><a>",
            ]
        fuzzer.run("xmp", bytes: [Array(Self.packet.readableBytesView)], words: words) { input in
            let packet = XMPPacket(input)
            var texts: [XMPProperty: String] = [:]
            for property in XMPProperty.allCases {
                let text = packet[property]
                try hold(text?.utf8.count ?? 0 <= 4 * input.count, "\(text?.utf8.count ?? 0) bytes")
                texts[property] = text.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(1000))) }
                    .flatMap { $0.contains { !$0.isWhitespace } ? $0 : nil }
            }
            let again = XMPPacket(XMPPacket.make(texts).readableBytesView)
            for property in XMPProperty.allCases { try hold(again[property] == texts[property], "\(property)") }
        }
    }

    @Test func `Damaged IPTC data is read within its bytes`() {
        let sets: [UInt8] = [0x1C, 2, 80, 0, 3, 65, 110, 110, 0x1C, 2, 116, 0x80, 4, 0, 0, 0, 2, 65, 66]
        let segment = Array("Photoshop 3.0\08BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, UInt8(sets.count)] + sets
        fuzzer.run("iptc", bytes: [sets, segment], words: ["8BIM", "\u{1C}\u{2}P", "\0\0\0\0", "\u{FF}"]) { input in
            let read = IPTCDataSets(ByteBuffer(bytes: input))
            // A byte of ISO 8859-1 has at most two in UTF-8.
            let count = (UInt8.min...UInt8.max).reduce(0) { $0 + (read[$1]?.utf8.count ?? 0) }
            try hold(count <= 2 * input.count, "\(count) bytes")
        }
    }

    @Test func `A packet that a damaged file gets changes nothing else in it`() {
        let seeds = Pictures.whole(named: ["jpg", "png", "webp", "gif", "jxl", "avif", "tiff"])
            .filter { $0.count <= Mutator.maxBytes }
        let words = [
            "VP8X", "VP8L", "VP8 ", "C2PA", "caBX", "iTXt", "IDAT", "GIF89a", "XMP DataXMP", "C2PA_GIF", "JXL ", "ftyp",
            "xml ", "jumb", "jumd", "c2pa", "uuid", ";", "\u{FF}", "\0\0\0\0",
        ]
        fuzzer.run("packets", bytes: seeds, words: words) { input in
            let file = ByteBuffer(bytes: input)
            for format in SourceFormat.allCases { _ = C2PAManifest.isPresent(in: file, format) }
            let most = max(
                GIFContainer.xmp(of: file)?.readableBytes ?? 0, JPEGXLContainer.xmp(of: file)?.readableBytes ?? 0)
            try hold(most <= input.count, "\(most) bytes")
            for format in OutputFormat.images {
                guard let whole = format.row.addingXMP?(Self.packet, file) else { continue }
                let added = whole.readableBytes - input.count
                try hold((0...Self.packet.readableBytes + 300).contains(added), "\(format) grows by \(added) bytes")
                guard let bare = format.row.stripped?(file) else { continue }
                try hold(format.row.stripped?(whole) == bare, "\(format) is another image")
            }
        }
    }
}
