import DarkroomNetwork
import DarkroomOrigin
import Testing

@testable import DarkroomPipeline

struct CacheKeyFilterTests {
    @Test(arguments: [
        ("HTTP://Example.COM:80/a.jpg#top", "http://example.com/a.jpg"),
        ("https://example.com:443/a.jpg?x=1", "https://example.com/a.jpg?x=1"),
        ("http://example.com:8080/A.jpg", "http://example.com:8080/A.jpg"),
    ])
    func `The default identity is the canonical address`(url: String, identity: String) throws {
        #expect(CanonicalURLFilter().identity(of: try SourceURL(parsing: url)) == identity)
    }

    @Test(arguments: [
        ("http://cdn.example.com/a.jpg?utm_source=x&id=7&utm_medium=y", "http://cdn.example.com/a.jpg?id=7"),
        ("http://cdn.example.com/a.jpg?token=secret", "http://cdn.example.com/a.jpg"),
        ("http://other.org/a.jpg?utm_source=x", "http://other.org/a.jpg?utm_source=x"),
        ("http://static.net/a.jpg?anything=1&at=all", "http://static.net/a.jpg"),
        ("http://static.net./a.jpg?anything=1", "http://static.net./a.jpg"),
        ("http://cdn.example.com/a.jpg", "http://cdn.example.com/a.jpg"),
    ])
    func `Listed query parameters are dropped for the hosts of a rule`(url: String, identity: String) throws {
        let filter = QueryDroppingFilter(rules: [
            .init(hostPattern: "*.example.com", parameterPatterns: ["utm_*", "token"]),
            .init(hostPattern: "static.net", parameterPatterns: ["*"]),
        ])
        #expect(filter.identity(of: try SourceURL(parsing: url)) == identity)
    }
}
