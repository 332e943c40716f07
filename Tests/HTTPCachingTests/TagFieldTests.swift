import HTTPTypes
import Testing

@testable import DarkroomHTTPCaching

/// The fields with purge tags, by the documented limits of their CDNs.
struct TagFieldTests {
    static let all: [TagField] = [.cloudflare, .fastly, .akamai, .bunny, .xkey]

    @Test(arguments: [
        (TagField.cloudflare, "Cache-Tag", "a,b"), (.fastly, "Surrogate-Key", "a b"),
        (.akamai, "Edge-Cache-Tag", "a,b"), (.bunny, "CDN-Tag", "a,b"), (.xkey, "xkey", "a b"),
    ])
    func `Each field has its name and separator`(field: TagField, name: String, text: String) {
        #expect(field.name.rawName == name)
        #expect(field.value(of: ["a", "b"]).text == text)
        #expect(field.value(of: []).text == nil)
    }

    @Test(arguments: all)
    func `A tag that would break a field is left out, and the others stay`(field: TagField) {
        let bad = ["", "a b", "a\tb", "a\r\nX: y", "\u{0}", "é", "\u{7f}", String(repeating: "a", count: 2_000)]
        let (text, leftOut) = field.value(of: ["s-0123"] + bad + ["h-example.com"])
        #expect(text == "s-0123\(field.separator)h-example.com")
        #expect(leftOut == bad)
    }

    @Test(
        arguments: [
            (TagField.cloudflare, "a:b;c", true), (.cloudflare, "a,b", false), (.fastly, "a,b", true),
            (.akamai, "a:b", false), (.akamai, "a*", false), (.akamai, "a!#$%&'+.^_`|~-9", true), (.bunny, "a*", false),
            (.bunny, "a:b", true), (.xkey, "a,b", false), (.xkey, "a:b", true),
        ] as [(TagField, String, Bool)])
    func `A tag may have the characters that the CDN takes`(field: TagField, tag: String, isAccepted: Bool) {
        #expect(field.accepts(tag) == isAccepted)
    }

    @Test(arguments: all)
    func `Five thousand tags make a field within its limits, the first of them`(field: TagField) {
        let tags = (0..<5_000).map { "tag-\($0)" }
        let (text, leftOut) = field.value(of: tags)
        let kept = text?.split(separator: field.separator).map(String.init) ?? []
        #expect((text?.utf8.count ?? 0) <= field.maxFieldBytes)
        #expect(kept.count <= field.maxTags && kept.count > 80)
        #expect(kept + leftOut == tags)
    }

    @Test func `Longest tags have the documented lengths`() {
        for (field, bytes) in [(TagField.cloudflare, 1_024), (.fastly, 1_024), (.akamai, 128)] {
            #expect(field.accepts(String(repeating: "a", count: bytes)))
            #expect(!field.accepts(String(repeating: "a", count: bytes + 1)))
        }
    }
}
