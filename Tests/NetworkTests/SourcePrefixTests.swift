import Testing

@testable import DarkroomNetwork

/// The check that short names and the base URLs of other services share; ``SourceMapTests`` has more ways out.
struct SourcePrefixTests {
    @Test(arguments: [
        "https://a.example", "https://a.example/b", "https://a.example/?b/", "https://a.example/#/",
        "https://me:secret@a.example/", "https://a.example\\", "s3://media", "ftp://a.example/", "a.example/", "/", "",
    ])
    func `A text that cannot precede paths is no prefix`(text: String) {
        #expect(SourcePrefix(text) == nil)
    }

    @Test(arguments: [
        ("https://A.example:443/b/", "c d.jpg?e#f", "https://a.example/b/c%20d.jpg?e"),
        ("https://a.example/", "@evil.example/c", "https://a.example/@evil.example/c"),
        ("https://a.example/", ".evil.example/c", "https://a.example/.evil.example/c"),
        ("https://a.example/", " c", "https://a.example/%20c"),
        ("s3://media/b/", "c", "s3://media/b/c"), ("local:///", "b/c", "local:///b/c"),
    ])
    func `A source begins with its prefix, canonically spelled`(prefix: String, path: String, url: String) throws {
        let prefix = try #require(SourcePrefix(prefix))
        let source = try prefix.source(at: path)
        #expect(source.canonical == url)
        #expect(prefix.contains(source))
    }

    @Test(arguments: ["", "/c", "\\c", "../b2/c", "%2e%2e/c", "%252e%252e/c", "..;/c", ".\t./c", "..%5cc", "?c"])
    func `No path leads out of a prefix`(path: String) throws {
        for text in ["https://a.example/b/", "s3://media/b/", "local:///b/"] {
            let prefix = try #require(SourcePrefix(text))
            #expect(throws: SourceURLError.invalidRelativePath) { try prefix.source(at: path) }
        }
    }

    @Test(arguments: [
        ("https://a.example/b/c", true), ("https://a.example/b/d/../c", true), ("https://a.example/b/../c", false),
        ("https://a.example/b/..%2fc", false), ("https://a.example.evil.example/b/c", false),
        ("https://a.example@evil.example/b/c", false), ("http://a.example/b/c", false), ("https://a.example/b", false),
        ("https://a.example:8443/b/c", false),
    ])
    func `A prefix contains the URLs below it, once they are normalized`(url: String, isContained: Bool) throws {
        let prefix = try #require(SourcePrefix("https://a.example/b/"))
        #expect(try prefix.contains(SourceURL(parsing: url)) == isContained)
    }
}
