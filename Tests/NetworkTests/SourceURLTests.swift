import Testing

@testable import DarkroomNetwork

struct SourceURLTests {
    @Test(
        "one canonical spelling for all of a URL",
        arguments: [
            ("http://example.com", "http://example.com/"),
            ("  HTTP://Example.COM:80/a?b#c \n", "http://example.com/a?b"),
            ("https://user:pa%20ss@example.com:443/", "https://example.com/"),
            ("https://example.com:8443/", "https://example.com:8443/"),
            ("https://example.com:/", "https://example.com/"),
            ("http://example.com:00080/", "http://example.com/"),
            ("http:\\\\example.com\\a\\b?c\\d", "http://example.com/a/b?c\\d"),
            ("http:example.com", "http://example.com/"),
            ("http:////example.com//a", "http://example.com//a"),
            ("http://ex\tample.com/a\nb", "http://example.com/ab"),
            ("http://example.com?x", "http://example.com/?x"),
            ("http://example.com/?", "http://example.com/?"),
            ("http://a@b@c:80@d/", "http://d/"), ("http://c\\@d/", "http://c/@d/"),
            ("http://example.com./", "http://example.com./"),
            ("http://127.1/", "http://127.0.0.1/"),
            ("http://0x7f000001/", "http://127.0.0.1/"),
            ("http://017700000001/", "http://127.0.0.1/"),
            ("http://2130706433/", "http://127.0.0.1/"),
            ("http://1.2.3.4./", "http://1.2.3.4/"),
            ("http://[0:0::1]:80/", "http://[::1]/"),
            ("http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/"),
            ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
            ("http://faß.example/", "http://xn--fa-hia.example/"),
            ("http://ⓔⓧample。com/", "http://example.com/"),
            ("http://①②⑦.①/", "http://127.0.0.1/"),
            ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"),
            ("local:///a/b c.jpg", "local:///a/b%20c.jpg"),
            ("LOCAL:///a.jpg?v=2#x", "local:///a.jpg?v=2"),
            ("color:///FF8800", "color:///ff8800"), ("color:///ff8800FF", "color:///ff8800"),
            ("color:///ff880080", "color:///ff880080"),
            ("color:///FF8800,0044CCff,090", "color:///ff8800,0044cc,90"),
            ("color:///ff8800,0044cc80,180", "color:///ff8800,0044cc80"),
            ("color:///ff8800,0600x0040", "color:///ff8800,600x40"), ("color:///ff8800,1x1", "color:///ff8800"),
            ("color:///ff8800,0044CC,180,1x9999", "color:///ff8800,0044cc,1x9999"),
            ("color:///ff8800ff,0044cc,0", "color:///ff8800,0044cc,0"),
            ("color:///ff8800,FF8800ff,45", "color:///ff8800"),
        ])
    func canonical(text: String, expected: String) throws {
        #expect(try SourceURL(parsing: text).canonical == expected)
        #expect(try SourceURL(parsing: expected).canonical == expected)
    }

    @Test(
        "paths and queries are normalized and encoded as browsers do",
        arguments: [
            ("/a/./b/../c", "/a/c"), ("/../../x", "/x"), ("/a/b/..", "/a/"), ("/a/.", "/a/"), ("/a//../b", "/a/b"),
            ("/%2e%2E/x", "/x"), ("/a/.%2e", "/"), ("/%2e.jpg", "/%2e.jpg"), ("/...", "/..."),
            ("/a b\"<>^`{}|[]", "/a%20b%22%3C%3E%5E%60%7B%7D|[]"), ("/%41%zz%", "/%41%zz%"),
            ("/\u{0}\u{7f}", "/%00%7F"), ("/x?a b'\"<>[]|\\^`{}", "/x?a%20b%27%22%3C%3E[]|\\^`{}"),
            ("/x?ü=%C3%bc&%", "/x?%C3%BC=%C3%bc&%"), ("/x?a?b/../c", "/x?a?b/../c"),
            ("/Gr%FC%DFe.jpg?%b0%a1", "/Gr%FC%DFe.jpg?%b0%a1"), ("/it's[1]", "/it's[1]"),
            ("/;a=1,b@:!$&'()*+~", "/;a=1,b@:!$&'()*+~"), ("/a//b/", "/a//b/"), ("/a/.b/c..", "/a/.b/c.."),
            ("/a\\..\\b", "/b"), ("/a/b\tc", "/a/bc"), ("", "/"),
        ])
    func requestTarget(text: String, expected: String) throws {
        #expect(try SourceURL(parsing: "http://h" + text).requestTarget == expected)
    }

    @Test(
        "an invalid source URL is refused, with the reason",
        arguments: [
            ("", .missingScheme), ("example.com/a", .missingScheme), ("//example.com", .missingScheme),
            ("localhost:9000/a.jpg", .missingScheme), ("Example.com:80", .missingScheme),
            ("a.b:8080?x", .missingScheme),
            ("localhost:x", .unsupportedScheme("localhost")), ("a.b:80x", .unsupportedScheme("a.b")),
            ("shop:12/a", .unsupportedScheme("shop")),
            ("1http://a", .missingScheme), ("ftp://a/", .unsupportedScheme("ftp")),
            ("File:///etc/passwd", .unsupportedScheme("file")), ("data:,x", .unsupportedScheme("data")),
            ("http://", .emptyHost), ("http://?x", .emptyHost), ("http://:80/", .emptyHost), ("http://a@/", .emptyHost),
            ("http://a b/", .invalidHost), ("http://a%00b/", .invalidHost), ("http://a%2fb/", .invalidHost),
            ("http://％００/", .invalidHost), ("http://256.1.1.1/", .invalidHost), ("http://1.2.3.4.5/", .invalidHost),
            ("http://0x1g.1/", .invalidHost), ("http://08.1/", .invalidHost), ("http://4294967296/", .invalidHost),
            ("http://[::1/", .invalidHost), ("http://[fe80::1%25eth0]/", .invalidHost),
            ("http://[1:2:3]/", .invalidHost),
            ("http://[::1]x/", .invalidHost), ("http://\u{ad}/", .invalidHost), ("http://a*b/", .invalidHost),
            ("http://%ff/", .invalidHost), ("http://a:b/", .invalidPort), ("http://a:65536/", .invalidPort),
            ("http://a:+1/", .invalidPort), ("http://a:80:80/", .invalidPort), ("http://[::1]:x/", .invalidPort),
            ("local://host/a", .invalidLocalForm), ("local:/a", .invalidLocalForm), ("local:a", .invalidLocalForm),
            ("local:////a", .invalidLocalForm),
            ("color:red", .invalidColorForm), ("color:///red", .invalidColorForm),
            ("color:////ff8800", .invalidColorForm), ("color:///ff880", .invalidColorForm),
            ("color:///ff8800#", .invalidColorForm), ("color:///ff8800?a", .invalidColorForm),
            ("color:///ffé800", .invalidColorForm), ("color:///ff8800,", .invalidColorForm),
            ("color:///ff8800,45", .invalidColorForm), ("color:///ff8800,0044cc,360", .invalidColorForm),
            ("color:///ff8800,0044cc,-1", .invalidColorForm), ("color:///ff8800,0044cc,", .invalidColorForm),
            ("color:///ff8800,0044cc,1.5", .invalidColorForm), ("color:///ff8800,0044cc,1,2", .invalidColorForm),
            ("color:///600x400", .invalidColorForm), ("color:///ff8800,0x400", .invalidColorForm),
            ("color:///ff8800,600x400,0044cc", .invalidColorForm), ("color:///ff8800,600x10000", .invalidColorForm),
            ("color:///ff8800,600x", .invalidColorForm), ("color:///ff8800,1x2x3", .invalidColorForm),
            ("color:///,ff8800", .invalidColorForm), ("color:///ff8800,0044cc,0090", .invalidColorForm),
            ("s3:media/a", .invalidS3Form), ("s3:/media/a", .invalidS3Form), ("s3:///a", .invalidS3Form),
            ("s3://me@media/a", .invalidS3Form), ("s3://media:9000/a", .invalidS3Form),
            ("s3://-media/a", .invalidS3Form), ("s3://mé/a", .invalidS3Form), ("s3://[::1]/a", .invalidS3Form),
            ("s3:\\\\media\\a", .invalidS3Form), ("s3://media/a?x", .invalidS3Form),
            ("s3://media/a#x", .invalidS3Form), ("s3://\(String(repeating: "a", count: 64))/a", .invalidS3Form),
            ("s3://media", .invalidObjectKey), ("s3://media/", .invalidObjectKey),
            ("s3://media/a%00b", .invalidObjectKey), ("s3://media/%ff", .invalidObjectKey),
            ("s3://media/..", .invalidObjectKey), ("s3://media/a/../b", .invalidObjectKey),
            ("s3://media/a/%2e%2E/b", .invalidObjectKey), ("s3://media/a%2f..%2fb", .invalidObjectKey),
            ("s3://media/./b", .invalidObjectKey), ("s3://media/a/.", .invalidObjectKey),
            ("s3://media/" + String(repeating: "x", count: 1025), .invalidObjectKey),
            ("s3://media/" + String(repeating: "é", count: 513), .invalidObjectKey),
            ("http://a/" + String(repeating: "x", count: 9000), .tooLong(limitBytes: 8192)),
            ("http://a/" + String(repeating: "é", count: 3000), .tooLong(limitBytes: 8192)),
        ] as [(String, SourceURLError)])
    func refused(text: String, expected: SourceURLError) {
        #expect(throws: expected) { try SourceURL(parsing: text) }
    }

    @Test(arguments: [
        ("s3://Media/Shoes/1.jpg", "Shoes/1.jpg", "s3://media/Shoes/1.jpg"),
        ("S3://m.e_d-ia/a b", "a b", "s3://m.e_d-ia/a%20b"),
        // Decoded exactly once.
        ("s3://media/a%2Fb", "a/b", "s3://media/a/b"), ("s3://media/a%252Fb", "a%2Fb", "s3://media/a%252Fb"),
        ("s3://media/%252e%252e", "%2e%2e", "s3://media/%252e%252e"),
        ("s3://media/a%3Fb%23c", "a?b#c", "s3://media/a%3Fb%23c"), ("s3://media/100%", "100%", "s3://media/100%25"),
        ("s3://media//a//b/", "/a//b/", "s3://media//a//b/"),
        ("s3://media/a\\..\\b", "a\\..\\b", "s3://media/a%5C..%5Cb"),
        ("s3://media/...", "...", "s3://media/..."), ("s3://media/ü+&=", "ü+&=", "s3://media/%C3%BC%2B%26%3D"),
        (
            "s3://media/" + String(repeating: "é", count: 512), String(repeating: "é", count: 512),
            "s3://media/" + String(repeating: "%C3%A9", count: 512)
        ),
    ])
    func `The key of an object is decoded once and has one spelling`(
        text: String, key: String, canonical: String
    ) throws {
        let url = try SourceURL(parsing: text)
        #expect(url.objectKey == key)
        #expect(url.canonical == canonical)
        #expect(try SourceURL(parsing: canonical) == url)
        #expect(!url.scheme.isWeb && url.port == nil && url.query == nil)
    }

    @Test(
        "redirects resolve against the URL they come from",
        arguments: [
            ("https://other.example/x", "https://other.example/x"), ("//other.example/x", "https://other.example/x"),
            ("\\\\other.example\\x", "https://other.example/x"), ("/x?y", "https://h.example:8443/x?y"),
            ("x", "https://h.example:8443/a/x"), ("./x", "https://h.example:8443/a/x"),
            ("../x", "https://h.example:8443/x"), ("../../../x", "https://h.example:8443/x"),
            ("?y", "https://h.example:8443/a/b?y"), ("", "https://h.example:8443/a/b?q"),
            ("#frag", "https://h.example:8443/a/b?q"), ("x#frag", "https://h.example:8443/a/x"),
            ("https:x", "https://h.example:8443/a/x"), ("https:/x", "https://h.example:8443/x"),
            ("http:x", "http://x/"), (" /bild ü.jpg ", "https://h.example:8443/bild%20%C3%BC.jpg"),
            ("x:y", nil), ("local:///etc/passwd", "local:///etc/passwd"), ("https://a b/", nil),
        ])
    func redirect(location: String, expected: String?) throws {
        let base = try SourceURL(parsing: "https://u:p@h.example:8443/a/b?q#f")
        #expect((try? base.resolving(redirect: location))?.canonical == expected)
    }

    @Test func `A color has four channels, and no other URL has any`() throws {
        #expect(try SourceURL(parsing: "color:///0180ff").gradient?.start == [1, 128, 255, 255])
        #expect(try SourceURL(parsing: "color:///0180ff0a").gradient?.start == [1, 128, 255, 10])
        #expect(try SourceURL(parsing: "local:///0180ff").gradient == nil)
    }

    @Test func `A gradient leads from one color to another, by default downward`() throws {
        let gradient = try #require(SourceURL(parsing: "color:///0180ff,0203040a,7").gradient)
        #expect(gradient.start == [1, 128, 255, 255] && gradient.end == [2, 3, 4, 10] && gradient.angle == 7)
        #expect(try SourceURL(parsing: "color:///0180ff,020304").gradient?.angle == 180)
        let sized = try #require(SourceURL(parsing: "color:///0180ff,020304,600x40").gradient)
        #expect(sized.angle == 180 && sized.width == 600 && sized.height == 40)
    }

    @Test func `What logs show leaves out the query`() throws {
        #expect(try SourceURL(parsing: "https://u:secret@h/a?token=1").description == "https://h/a?…")
    }

    @Test func `Errors name the scheme and what is allowed`() {
        #expect(
            "\(SourceURLError.unsupportedScheme("ftp"))"
                == "The scheme 'ftp' is not supported; use http, https, s3 or local.")
    }
}
