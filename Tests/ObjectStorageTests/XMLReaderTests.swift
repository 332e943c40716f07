import Testing

@testable import DarkroomObjectStorage

struct XMLReaderTests {
    private func root(_ text: String) throws -> XMLElement { try XMLReader.root(of: Array(text.utf8)) }

    @Test func `Reads elements text and references`() throws {
        let root = try root(
            """
            \u{feff}<?xml version="1.0" encoding="UTF-8"?>
            <!-- a page --><s3:List xmlns:s3="http://s3.amazonaws.com/doc/2006-03-01/" a='>'>
              <Key>a&amp;b&lt;&gt;&quot;&apos;&#233;&#xe9;</Key ><Key><![CDATA[<&amp;]]>x<!-- no text --></Key><Empty/>
            </s3:List>
            """)
        #expect(root.name == "List")
        #expect(root.children.map(\.name) == ["Key", "Key", "Empty"])
        #expect(root.children.map(\.text) == ["a&b<>\"'éé", "<&amp;x", ""])
    }

    @Test(arguments: [
        "", "text", "<a>", "<a></b>", "<a", "<a/><b/>", "<a>&unknown;</a>", "<a>&#0;</a>", "<a>&#xd800;</a>",
        "<a>&#+65;</a>", "<a>&amp</a>", "<a b></a>", "<a b=c></a>", "<a><![CDATA[</a>", "<a><!--</a>", "<1/>",
        "<?xml?><?target?><a/>", "<!DOCTYPE html><html></html>", "<html><body><p>unclosed</body></html>",
        "<a b=\"1\"c=\"2\"/>",
    ])
    func `Other text is refused`(text: String) {
        #expect(throws: XMLFault.self) { try root(text) }
    }

    @Test func `Bytes that are not UTF 8 are refused`() {
        #expect(throws: XMLFault.self) { try XMLReader.root(of: Array("<a>".utf8) + [0xff] + Array("</a>".utf8)) }
    }

    @Test func `Entities of the document are not expanded`() {
        let bomb = #"<!DOCTYPE a [<!ENTITY b "xxxxxxxxxx"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>"#
        #expect(throws: XMLFault.self) { try root(bomb) }
    }

    @Test func `Depth is limited`() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(throws: XMLFault(offset: 48)) { try root(deep) }
    }

    @Test func `The number of elements is limited`() throws {
        let many = { "<a>" + String(repeating: "<b/>", count: $0) + "</a>" }
        #expect(try root(many(32_767)).children.count == 32_767)
        #expect(throws: XMLFault.self) { try root(many(32_768)) }
    }

    @Test(arguments: [
        ("a&<>b", "a&amp;&lt;&gt;b"), ("\r\n\t", "&#13;&#10;&#9;"), ("é😀", "é😀"),
    ])
    func `Text is escaped`(text: String, escaped: String) throws {
        #expect(XMLText.escaped(text) == escaped)
        #expect(try root("<a>\(escaped)</a>").text == text)
    }

    @Test(arguments: ["\u{1}", "a\u{1f}", "\u{ffff}", "\u{fffe}"])
    func `Text that XML cannot contain is not escaped`(text: String) {
        #expect(XMLText.escaped(text) == nil)
    }
}
