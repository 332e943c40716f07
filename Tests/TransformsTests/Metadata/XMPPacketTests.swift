import NIOCore
import Testing

@testable import DarkroomTransforms

/// XMP packets in every form that editors write, and in forms that hostile files have.
struct XMPPacketTests {
    private static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    private static let dublinCore = "http://purl.org/dc/elements/1.1/"

    /// A packet around the content of one description.
    private static func packet(_ content: String, attributes: String = "", before: String = "") -> String {
        """
        <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>\(before)<x:xmpmeta xmlns:x="adobe:ns:meta/">
        <rdf:RDF xmlns:rdf="\(rdf)"><rdf:Description rdf:about="" xmlns:dc="\(dublinCore)" \(attributes)>
        \(content)
        </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>
        """
    }

    private func rights(_ packet: String) -> String? { XMPPacket(packet.utf8)[.rights] }

    @Test(arguments: [
        packet("<dc:rights>© Zoë</dc:rights>"),
        packet(
            "<dc:rights><rdf:Alt><rdf:li xml:lang=\"x-default\">© Zoë</rdf:li><rdf:li>B</rdf:li></rdf:Alt></dc:rights>"),
        packet("<dc:rights ><rdf:Bag>\n <rdf:li/>\n <rdf:li>© Zoë</rdf:li></rdf:Bag></dc:rights >"),
        packet("", attributes: "dc:rights=\"© Zoë\""),
        packet("", attributes: "dc:rights = '© Zoë'"),
        packet("<dc:rights>&#xA9; Zo&#235;</dc:rights>"),
        packet("<dc:rights><![CDATA[© Zoë]]></dc:rights>"),
        packet("<dc:rights>© <!-- </dc:rights> -->Zoë</dc:rights>"),
        packet("<d:rights xmlns:d=\"\(dublinCore)\">© Zoë</d:rights>"),
        packet("<rights xmlns='\(dublinCore)'>© Zoë</rights>"),
        packet("<dc:title>T</dc:title><dc:rights>© Zoë</dc:rights>", before: "<!-- <dc:rights>no</dc:rights> -->"),
        "<r:RDF xmlns:r='\(rdf)'><r:Description xmlns:q='\(dublinCore)' q:rights='© Zoë'/></r:RDF>",
    ])
    func `A property is found in attribute and element form, under any prefix`(packet: String) {
        #expect(rights(packet) == "© Zoë")
    }

    @Test(arguments: [
        packet("<dc:rights xmlns:dc=\"http://example.com/\">other</dc:rights>"),
        packet("<dc:rightsHolder>other</dc:rightsHolder>"),
        packet(
            "<my:thing xmlns:my='m'><rdf:Description dc:rights='nested'><dc:rights>nested</dc:rights></rdf:Description></my:thing>"
        ),
        packet("<rights>no namespace</rights>", attributes: "rights='no namespace'"),
        packet("<my:thing xmlns:my='m'><dc:rights>too deep</dc:rights></my:thing>"),
        "<dc:rights xmlns:dc='\(dublinCore)'>outside of a description</dc:rights>",
        "<rdf:RDF xmlns:rdf='r'><rdf:Description xmlns:dc='\(dublinCore)' dc:rights='wrong RDF'/></rdf:RDF>",
        "text <dc:rights>plain</dc:rights>", "", "<", "<a", "<!", "</a>", "&",
    ])
    func `Another namespace, another place or no XML is no property`(packet: String) {
        #expect(rights(packet) == nil)
    }

    @Test(arguments: [
        packet("<dc:rights>&copyright;</dc:rights>"),
        packet("<dc:rights>a & b</dc:rights>"),
        packet("<dc:rights>&#0;</dc:rights>"), packet("<dc:rights>&#x110000;</dc:rights>"),
        packet("<dc:rights>&#+65;</dc:rights>"), packet("<dc:rights>&#;</dc:rights>"),
        packet("<dc:rights>text</dc:title>"), packet("<dc:rights>text"),
        packet("<dc:title a=b/><dc:rights>text</dc:rights>"), packet("<dc:title a='<'/><dc:rights>text</dc:rights>"),
        packet("<dc:title a='1'b='2'/><dc:rights>text</dc:rights>"),
        packet("<dc:rights>text</dc:rights>", before: "<!DOCTYPE x [<!ENTITY a \"b\">]>"),
    ])
    func `Reading ends at entities, declarations and markup errors`(packet: String) {
        #expect(rights(packet) == nil)
    }

    @Test func `A property before an error counts`() {
        #expect(rights(Self.packet("<dc:rights>text</dc:rights><dc:title>&bomb;</dc:title>")) == "text")
    }

    @Test func `An entity bomb is never expanded`() {
        let bomb = """
            <!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>
            """
        #expect(rights(Self.packet("<dc:rights>&b;&c;</dc:rights>", before: bomb)) == nil)
    }

    @Test func `Deep nesting, many attributes and huge packets end the reading`() {
        let deep = String(repeating: "<a>", count: 5_000) + String(repeating: "</a>", count: 5_000)
        #expect(rights(Self.packet("\(deep)<dc:rights>text</dc:rights>")) == nil)
        let wide = (0..<5_000).map { "a\($0)='1'" }.joined(separator: " ")
        #expect(rights(Self.packet("<b \(wide)/><dc:rights>text</dc:rights>")) == nil)
        let long = String(repeating: " ", count: 300_000)
        #expect(rights(Self.packet("\(long)<dc:rights>text</dc:rights>")) == nil)
        #expect(rights(Self.packet("<dc:rights>text</dc:rights>\(long)")) == "text")
    }

    @Test func `A truncated packet gives no partial value`() {
        let packet = Array(Self.packet("<dc:rights><rdf:Alt><rdf:li>All of it</rdf:li></rdf:Alt></dc:rights>").utf8)
        for length in packet.indices {
            let found = XMPPacket(packet.prefix(length))[.rights]
            #expect(found == nil || found == "All of it")
        }
    }

    @Test func `Each property has its own text`() {
        let packet = XMPPacket(
            Self.packet(
                "<dc:creator><rdf:Seq><rdf:li>Ann</rdf:li><rdf:li>Bob</rdf:li></rdf:Seq></dc:creator>"
                    + "<dc:description>Lake</dc:description>", attributes: "dc:rights='Zoë'"
            ).utf8)
        #expect(packet[.creator] == "Ann; Bob" && packet[.description] == "Lake" && packet[.rights] == "Zoë")
    }

    @Test(arguments: [
        "<p:Licensor><rdf:Bag><rdf:li p:LicensorURL='https://a'/></rdf:Bag></p:Licensor>",
        "<p:Licensor rdf:parseType='Resource'><p:LicensorURL>https://a</p:LicensorURL></p:Licensor>",
        "<p:Licensor><rdf:Seq><rdf:li><rdf:Description p:LicensorURL='https://a'/></rdf:li></rdf:Seq></p:Licensor>",
        "<p:Licensor><rdf:Description><p:LicensorURL rdf:resource='https://a'/></rdf:Description></p:Licensor>",
        "<p:Licensor p:LicensorURL='https://a'/>",
    ])
    func `A licensor's URL is found in each form of a structure`(licensor: String) {
        let attributes = "xmlns:p=\"http://ns.useplus.org/ldf/xmp/1.0/\""
        #expect(XMPPacket(Self.packet(licensor, attributes: attributes).utf8)[.licensorURL] == "https://a")
        let elsewhere = Self.packet("<p:LicensorURL>https://a</p:LicensorURL>", attributes: attributes)
        #expect(XMPPacket(elsewhere.utf8)[.licensorURL] == nil)
    }

    @Test func `A URI is found as text, attribute and resource`() {
        let attributes = "xmlns:e=\"http://iptc.org/std/Iptc4xmpExt/2008-02-29/\""
        for (content, more) in [
            ("<e:DigitalSourceType>u:a</e:DigitalSourceType>", ""), ("", " e:DigitalSourceType='u:a'"),
            ("<e:DigitalSourceType rdf:resource='u:a'/>", ""),
        ] {
            let packet = Self.packet(content, attributes: attributes + more)
            #expect(XMPPacket(packet.utf8)[.digitalSourceType] == "u:a", "\(content)")
        }
    }

    @Test func `A packet that is made says what it is made of`() {
        let texts = Dictionary(uniqueKeysWithValues: XMPProperty.allCases.map { ($0, "<\($0)> & \"'\u{301}© ") })
        let packet = XMPPacket(XMPPacket.make(texts).readableBytesView)
        for property in XMPProperty.allCases { #expect(packet[property] == texts[property]) }
        #expect(XMPProperty.allCases.allSatisfy { XMPPacket(XMPPacket.make([:]).readableBytesView)[$0] == nil })
    }
}
