import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// What results keep of the metadata of their source, read from their bytes.
struct ResultMetadataTests {
    static let formats: [OutputFormat] = [.jpeg, .webp, .png, .avif, .jxl, .gif, .tiff]

    private static let rights: ImageRights = {
        var rights = ImageRights()
        (rights.creator, rights.copyright, rights.credit) = ("Zoë; Bob", "© Zoë <2026> & \"Co\"", "Zoë/Agency")
        (rights.usageTerms, rights.webStatement) = ("Ask first", "https://a.example/rights?a=1&b=2")
        rights.licensorURL = "https://a.example/buy"
        rights.digitalSourceType = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
        return rights
    }()

    /// As Adobe's programs write it.
    private static let packet = """
        <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
         xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/"
         xmlns:plus="http://ns.useplus.org/ldf/xmp/1.0/" xmlns:exif="http://ns.adobe.com/exif/1.0/"
         xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
         photoshop:Credit="Zoë/Agency" exif:GPSLatitude="48,8.5N"
         xmpRights:WebStatement="https://a.example/rights?a=1&amp;b=2"
         Iptc4xmpExt:DigitalSourceType="http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia">
        <dc:creator><rdf:Seq><rdf:li>Zoë</rdf:li><rdf:li>Bob</rdf:li></rdf:Seq></dc:creator>
        <dc:rights><rdf:Alt><rdf:li xml:lang="x-default">© Zoë &lt;2026&gt; &amp; "Co"</rdf:li></rdf:Alt></dc:rights>
        <dc:description><rdf:Alt><rdf:li xml:lang="x-default">A lake</rdf:li></rdf:Alt></dc:description>
        <xmpRights:UsageTerms><rdf:Alt><rdf:li xml:lang="x-default">Ask first</rdf:li></rdf:Alt></xmpRights:UsageTerms>
        <plus:Licensor><rdf:Seq><rdf:li rdf:parseType="Resource"><plus:LicensorName>Zoë</plus:LicensorName>
        <plus:LicensorURL>https://a.example/buy</plus:LicensorURL></rdf:li></rdf:Seq></plus:Licensor>
        </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>
        """

    /// A JPEG with a packet. Its sides are odd, and its colors are few enough for a palette.
    private static func source(_ packet: String = packet) throws -> ByteBuffer {
        var file = JPEGFile(try Drawing.flat(37, 21, Drawing.red).jpeg())
        file.insert(0xE1, Array("http://ns.adobe.com/xap/1.0/\0\(packet)".utf8))
        return file.bytes
    }

    private func rights(_ file: ByteBuffer) throws -> ImageRights {
        try SourceHeader(of: file).withFields(of: file) { ImageRights(of: $0) }
    }

    private func fields(_ file: ByteBuffer) throws -> [String: String] {
        try SourceHeader(of: file).withFields(of: file) { image in
            Dictionary(uniqueKeysWithValues: image.fields.map { ($0, image.text($0) ?? "") })
        }
    }

    @Test(arguments: [OutputFormat.jpeg, .webp, .png, .avif])
    func `The copyright is kept and the position is stripped`(_ format: OutputFormat) throws {
        let source = try Fixture.image("sample.jpg")
        let before = try fields(source)
        #expect(before.keys.contains { $0.hasPrefix("exif-ifd3-GPS") })
        let notice = try #require(before["exif-ifd0-Copyright"])
        let after = try fields(produce(source, .box(200), output: OutputOptions(format: format)).body)
        // Loaders count the comments of a PNG in different orders.
        let kept = after.first { $0.key.hasSuffix("-Copyright") && $0.key.hasPrefix(format == .png ? "png-" : "exif-") }
        #expect(kept?.value.prefix(36) == notice.prefix(36))
        let leaks = after.keys.filter { $0.contains("GPS") || $0.contains("Model") || $0.contains("DateTimeOriginal") }
        #expect(leaks.isEmpty)
    }

    @Test(arguments: formats)
    func `Every right is kept in every format, and from there in every other`(_ format: OutputFormat) throws {
        let file = try produce(Self.source(), output: OutputOptions(format: format)).body
        #expect(try rights(file) == Self.rights)
        #expect(!file.contains("GPSLatitude") && !file.contains("A lake"))
        for other in Self.formats {
            #expect(try rights(produce(file, output: OutputOptions(format: other)).body) == Self.rights, "\(other)")
        }
    }

    @Test(arguments: formats)
    func `A packet changes no pixel, animation or alpha channel`(_ format: OutputFormat) throws {
        let animation = try VipsSaver.webp.encode(
            VipsImage.stacked([Drawing.flat(9, 5, [200, 30, 30, 255]), Drawing.flat(9, 5, [30, 60, 200, 90])])
                .setting(ints: ["page-height": 5], arrays: ["delay": [50, 70]], blobs: ["xmp-data": Self.bytes]),
            ["lossless": true])
        for (lossless, interlaced) in [(true, false), (false, true)] {
            let kept = OutputOptions(format: format, lossless: lossless, interlaced: interlaced)
            var none = kept
            none.metadata = .none
            let (file, bare) = try (produce(animation, output: kept), produce(animation, output: none))
            #expect(try rights(file.body) == Self.rights && rights(bare.body) == ImageRights())
            #expect(file.frames == bare.frames && bare.body.readableBytes < file.body.readableBytes)
            for frame in 0..<file.frames {
                #expect(try Pixels(file.body, frame: frame).samples == Pixels(bare.body, frame: frame).samples)
            }
        }
    }

    private static let bytes = ByteBuffer(string: packet)

    @Test(arguments: formats)
    func `Nothing is kept where nothing is to be kept`(_ format: OutputFormat) throws {
        let output = OutputOptions(format: format, metadata: .none)
        for source in [try Self.source(), try Fixture.image("sample.jpg")] {
            let file = try produce(source, .box(200), output: output).body
            #expect(try rights(file) == ImageRights())
            let kept = try fields(file).keys.filter { $0.hasPrefix("exif-ifd0") || $0.hasPrefix("png-comment") }
            #expect(kept.isEmpty && !file.contains("xmpmeta"))
        }
    }

    @Test func `Without rights, no metadata is kept`() throws {
        let after = try fields(produce(Fixture.image("formats/photo.jpg"), output: OutputOptions(format: .jpeg)).body)
        #expect(!after.keys.contains { $0.hasPrefix("exif") || $0.hasPrefix("xmp") || $0.hasPrefix("iptc") })
    }

    @Test func `A copyright alone takes no packet where EXIF holds it`() throws {
        let drawing = try Drawing.flat(20, 20, [9, 9, 9])
        let owned = try drawing.setting(texts: ["exif-ifd0-Copyright": "Zoe (ASCII)"]).jpeg()
        for format in Self.formats {
            let fields = try fields(produce(owned, output: OutputOptions(format: format)).body)
            #expect((fields["xmp-data"] == nil) == [.jpeg, .webp, .avif].contains(format), "\(format)")
        }
    }

    @Test(arguments: [OutputFormat.jpeg, .webp, .avif])
    func `EXIF is kept by request, without position, thumbnail and orientation`(_ format: OutputFormat) throws {
        let thumbnail = try Drawing.flat(20, 20, Drawing.red).jpeg()
        let source = try VipsLoader.jpeg.withImage(of: Fixture.image("sample.jpg")) { image throws(VipsError) in
            try VipsSaver.jpeg.encode(image.setting(blobs: ["jpeg-thumbnail-data": thumbnail]))
        }
        #expect(try self.fields(source)["jpeg-thumbnail-data"] != nil)
        let file = try produce(source, .box(200), output: OutputOptions(format: format, metadata: .all)).body
        let fields = try fields(file)
        #expect(fields["exif-ifd0-ImageDescription"]?.hasPrefix("A lake at dusk, drawn by a program") == true)
        #expect(try rights(file) == rights(source))
        let leaks = fields.keys.filter { $0.contains("GPS") || $0.hasPrefix("exif-ifd1") || $0.contains("thumbnail") }
        #expect(leaks.isEmpty)
        #expect(try SourceHeader(of: file).orientation == 1)
    }

    @Test func `A PNG has no EXIF of the source, which libvips writes twice`() throws {
        let source = try Fixture.image("sample.jpg")
        let file = try produce(source, .box(200), output: OutputOptions(format: .png, metadata: .all)).body
        // From libvips 8.16 on, the creator and the copyright are EXIF too.
        #expect(PNGFile(file).chunks.filter { $0.type == "eXIf" }.count <= 1 && file.contains("A lake at dusk"))
        #expect(try !fields(file).keys.contains { $0.contains("GPS") || $0.hasSuffix("-ImageDescription") })
    }

    @Test func `All metadata has the description in every format, and never a packet as it was`() throws {
        for format in Self.formats {
            let file = try produce(Self.source(), output: OutputOptions(format: format, metadata: .all)).body
            let description = try SourceHeader(of: file).withFields(of: file) {
                EmbeddedMetadata(of: $0, maxLength: 99).description
            }
            #expect(description == "A lake" && !file.contains("GPSLatitude"))
            #expect(try rights(file) == Self.rights)
        }
    }

    @Test func `Names with parentheses or outside of ASCII are kept whole`() throws {
        let drawing = try Drawing.flat(20, 20, [9, 9, 9])
        for name in ["Zoe (Studio) 2024", "A (text, ASCII, 3 components, 3 bytes)", "plain"] {
            let source = try drawing.setting(texts: ["exif-ifd0-Copyright": "\(name) (ASCII)"]).jpeg()
            #expect(try rights(produce(source, output: OutputOptions(format: .jpeg)).body).copyright == name)
        }
        let packet = Self.packet.replacing("photoshop:Credit=\"Zoë/Agency\"", with: "")
        let file = try produce(Self.source(packet), output: OutputOptions(format: .webp)).body
        #expect(file.contains("© Zoë &lt;2026&gt;"))
    }

    @Test func `IPTC counts before XMP, and has the credit line`() throws {
        func dataSet(_ number: UInt8, _ text: String) -> [UInt8] {
            [0x1C, 2, number, 0, UInt8(text.utf8.count)] + Array(text.utf8)
        }
        let sets = dataSet(80, "Ann") + dataSet(110, "Ann/Press") + dataSet(116, "Ann 2026")
        var file = JPEGFile(try Self.source())
        file.insert(
            0xED, Array("Photoshop 3.0\08BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, UInt8(sets.count)] + sets)
        let kept = try rights(produce(file.bytes, output: OutputOptions(format: .webp)).body)
        #expect(kept.creator == "Ann" && kept.credit == "Ann/Press" && kept.copyright == "Ann 2026")
        #expect(kept.licensorURL == Self.rights.licensorURL)
    }

    @Test func `Hostile metadata costs only itself`() throws {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\"><!ENTITY d SYSTEM \"file:///etc/passwd\">]>"
        let entity = Self.packet.replacing("Ask first", with: "&c;&d;")
        for packet in [bomb + Self.packet, entity, "\0", String(Self.packet.prefix(700)), "<a", "&amp;"] {
            for format in [OutputFormat.jpeg, .png, .jxl] {
                let file = try produce(Self.source(packet), output: OutputOptions(format: format)).body
                #expect(!file.contains("ENTITY") && !file.contains("passwd") && !file.contains("Ask first"))
            }
        }
        // A packet of 10 MB, of which the first 256 KiB are read.
        let long = Self.packet.replacing("<dc:rights>", with: String(repeating: " ", count: 10 << 20) + "<dc:rights>")
        let source = try VipsSaver.webp.encode(
            Drawing.flat(37, 21, Drawing.red).setting(blobs: ["xmp-data": ByteBuffer(string: long)]))
        #expect(source.readableBytes > 10 << 20)
        let result = try produce(source, output: OutputOptions(format: .webp))
        #expect(try rights(result.body).credit == "Zoë/Agency" && rights(result.body).copyright == nil)
        #expect(result.body.readableBytes < 2000)
    }

    @Test func `A packet has no character that XML excludes`() throws {
        let packet = Self.packet.replacing("Ask first", with: "Ask\u{FFFE}\u{FFFF} first")
        #expect(try rights(produce(Self.source(packet), output: OutputOptions(format: .jxl)).body) == Self.rights)
    }

    @Test func `Long texts are cut, and long URLs left out`() throws {
        let packet = Self.packet.replacing("Ask first", with: String(repeating: "é&amp;", count: 8_000))
            .replacing("a.example/buy", with: String(repeating: "b", count: 2_000))
        let file = try produce(Self.source(packet), output: OutputOptions(format: .jpeg)).body
        let kept = try rights(file)
        #expect(kept.usageTerms == String(repeating: "é&", count: 500) && kept.licensorURL == nil)
    }
}
