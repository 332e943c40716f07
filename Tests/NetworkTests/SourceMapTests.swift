import Testing

@testable import DarkroomNetwork

struct SourceMapTests {
    private let map: SourceMap

    init() throws {
        var map = SourceMap()
        try map.add("shop", "s3://media/products/")
        try map.add("CDN", "https://img.example.com:8443/a/b/")
        try map.add("pics", "local:///photos/")
        try map.add("all", "s3://media/")
        try map.add("root", "http://10.0.0.5/")
        self.map = map
    }

    @Test(arguments: [
        ("shop:shoes/1.jpg", "s3://media/products/shoes/1.jpg", "shop:shoes/1.jpg"),
        ("SHOP:a b%2Fc", "s3://media/products/a%20b/c", "shop:a%20b/c"),
        (" shop:a\t\n", "s3://media/products/a", "shop:a"), ("all:x", "s3://media/x", "all:x"),
        ("cdn:x.jpg?w=1#f", "https://img.example.com:8443/a/b/x.jpg?w=1", "cdn:x.jpg?w=1"),
        ("cdn:x\\y", "https://img.example.com:8443/a/b/x/y", "cdn:x/y"),
        (
            "cdn:http://evil.example/", "https://img.example.com:8443/a/b/http://evil.example/",
            "cdn:http://evil.example/"
        ),
        ("root:@evil.example/x", "http://10.0.0.5/@evil.example/x", "root:@evil.example/x"),
        ("root::80/x", "http://10.0.0.5/:80/x", "root::80/x"),
        ("cdn:...", "https://img.example.com:8443/a/b/...", "cdn:..."),
        ("pics:a.jpg#f", "local:///photos/a.jpg", "pics:a.jpg"),
        // What is not a name is a URL.
        ("https://other.example/x", "https://other.example/x", "https://other.example/x"),
        ("s3://media/other", "s3://media/other", "s3://media/other"),
    ])
    func `A name stands for the beginning of a URL`(text: String, canonical: String, spelling: String) throws {
        let source = try map.source(text)
        #expect(source.url.canonical == canonical)
        #expect(source.spelling == spelling)
        #expect(try map.source(spelling) == source)
    }

    @Test(arguments: [
        "", "/x", "//evil.example/x", "\\x", "\\\\evil.example", "../x", "..", ".", "./x", "a/../../x", "a/..",
        "a/../x",
        "%2e%2e/x", "%2E./x", ".%2e%2fx", "a%2f..%2f..%2fx", "..%2fx", "..%5cx", "..\\x", "a\\..\\x", "%252e%252e/x",
        "..%252fx", "%25252e%25252e%25252fx", "..;/x", "..;a=b/x", "%2e%2e%3b/x", "%25252525252e", "?x", "#x", "..%3fx",
        "%2f", "%2fx", "%5Cx", "%252fx", "\r\n%2f", "\t../x", ".\t./x", ".\n.\\x",
    ])
    func `A path that might lead out of its target is refused, whatever decodes it`(path: String) {
        for name in ["shop", "cdn", "pics", "root", "all"] {
            #expect(throws: SourceURLError.invalidRelativePath) { try map.source("\(name):\(path)") }
        }
    }

    @Test func `Only sources of web servers have a query`() {
        for text in ["shop:a?x", "shop:a#x", "pics:a?x"] {
            #expect(throws: SourceURLError.invalidRelativePath) { try map.source(text) }
        }
    }

    @Test func `An error reveals nothing about the target`() {
        let long = String(repeating: "x", count: 2000)
        for text in ["shop:\(long)", "shop:%ff", "shop:%00", "cdn:../x", "shop:\(long)\(long)\(long)\(long)\(long)"] {
            do throws(SourceURLError) {
                _ = try map.source(text)
                Issue.record("\(text.prefix(20)) is a source")
            } catch {
                let sentence = error.description
                #expect(
                    !["s3", "S3", "media", "img", "object", "products"].contains(where: sentence.contains),
                    "\(sentence)")
            }
        }
        #expect(throws: SourceURLError.unsupportedScheme("shoe")) { try map.source("shoe:x") }
    }

    @Test(arguments: [
        ("s3", "https://a.example/"), ("HTTP", "https://a.example/"), ("data", "https://a.example/"),
        ("file", "s3://m/"),
        ("local", "s3://m/"), ("https", "s3://m/"), ("", "s3://m/"), ("1a", "s3://m/"), ("a_b", "s3://m/"),
        ("a b", "s3://m/"),
        ("a:b", "s3://m/"), ("abcdefghijklmnopqrstuvwxyz0123456", "s3://m/"), ("Shop", "s3://m/"),
        ("x", "https://a.example"), ("x", "https://a.example/b"), ("x", "https://a.example/?b/"),
        ("x", "https://a.example/#/"), ("x", "https://me:secret@a.example/"), ("x", "s3://media"),
        ("x", "s3://media/../"),
        ("x", "shop:a/"), ("x", "ftp://a.example/"), ("x", "/a/"), ("x", ""), ("x", "https://a.example\\"),
        ("x", "https://a.example/b\\"),
    ])
    func `A name or target that is not valid is refused without repeating the target`(name: String, target: String) {
        var map = map
        do throws(SourceMap.Flaw) {
            try map.add(name, target)
            Issue.record("\(name)=\(target) is accepted")
        } catch {
            #expect(!error.description.contains("secret") && error.description.hasSuffix("."))
        }
    }

    @Test func `A prefix may begin with a name`() throws {
        #expect(try map.prefix("shop:shoes/") == "s3://media/products/shoes/")
        #expect(try map.prefix("shop:") == "s3://media/products/")
        #expect(try map.prefix("https://a.example/") == "https://a.example/")
        #expect(throws: SourceURLError.unsupportedScheme("shoe")) { try map.prefix("shoe:a") }
        #expect(throws: SourceURLError.unsupportedScheme("http")) { try map.prefix("http:a") }
    }

    @Test(arguments: [
        ("https://img.example.com:8443/a/b/c?d", true), ("https://img.example.com:8443/a/c", false),
        ("https://img.example.com:8443/a/b/..%2f..%2fc", false), ("http://img.example.com:8443/a/b/c", false),
        ("https://img.example.com/a/b/c", false), ("http://10.0.0.5/x", true), ("http://10.0.0.6/x", false),
    ])
    func `A URL below a target is known`(text: String, isContained: Bool) throws {
        #expect(try map.contains(SourceURL(parsing: text)) == isContained)
    }
}
