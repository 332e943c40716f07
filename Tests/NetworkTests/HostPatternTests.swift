import Testing

@testable import DarkroomNetwork

struct HostPatternTests {
    @Test(
        "a pattern has the spelling in which hosts are compared",
        arguments: [
            ("example.com", "example.com"), ("EXAMPLE.com.", "example.com"), ("*", "*"),
            ("*.Example.com", "*.example.com"),
            ("cdn?.x.org", "cdn?.x.org"), ("a_b.*", "a_b.*"), ("*-cdn.example.com", "*-cdn.example.com"),
            ("127.*", "127.*"), ("127.1", "127.0.0.1"), ("192.0.2.7", "192.0.2.7"), ("localhost", "localhost"),
            ("bücher.de", "xn--bcher-kva.de"), ("*.bücher.de", "*.xn--bcher-kva.de"), ("xn--*.de", "xn--*.de"),
            ("[::1]", "::1"), ("::1", "::1"), ("[2001:DB8:0::1]", "2001:db8::1"), ("[2001:DB8::*]", "2001:db8::*"),
            ("::ffff:192.0.2.7", "::ffff:c000:207"),
        ])
    func spelling(text: String, expected: String) throws {
        let pattern = try HostPattern(parsing: text)
        #expect(pattern.text == expected)
        #expect(try HostPattern(parsing: pattern.text) == pattern)
    }

    @Test(
        "a text that matches no host is refused with the pattern that was meant",
        arguments: [
            ("https://example.com/", "example.com"), ("http://example.com:8080/a?b=c", "example.com"),
            ("HTTPS://user:word@*.example.com", "*.example.com"), ("//example.com/a", "example.com"),
            ("example.com:8080", "example.com"), ("*:8080", "*"), ("[::1]:8080", "::1"), ("https://[::1]/", "::1"),
            (".example.com", "*.example.com"), ("https://.example.com/", "*.example.com"), ("a/b", "a"),
            ("example.com/images/*", "example.com"), ("s3://media", nil), ("local:///", nil), ("a..b", nil), ("", nil),
            (".", nil), ("exa mple.com", nil), ("bü*.de", nil), ("*.bü*.de", nil), ("a:b:c", nil), ("[*]", nil),
            ("[example.com]", nil), ("fe80::1%eth0", nil), ("10.0.0.300", nil),
        ] as [(String, String?)])
    func suggestion(text: String, expected: String?) {
        #expect(throws: HostPattern.Flaw.matchesNothing(suggestion: expected)) { try HostPattern(parsing: text) }
    }

    @Test func `A policy takes patterns in any letter case, also later`() {
        var policy = HostPolicy(allowHosts: ["A.org"])
        #expect(policy.permits(host: .name("a.org")))
        policy.allowHosts = ["*.B.org"]
        #expect(policy.permits(host: .name("x.b.org")) && !policy.permits(host: .name("a.org")))
    }

    @Test(arguments: ["10.0.0.0/8", "192.0.2.7/32", "fd00::/8"])
    func `A network is no pattern of hosts`(text: String) {
        #expect(throws: HostPattern.Flaw.network) { try HostPattern(parsing: text) }
    }

    @Test(arguments: [
        ("https://BÜCHER.de/a", "bücher.de"), ("http://[0:0::1]:80/", "[::1]"), ("http://127.1/", "127.1"),
        ("http://a.b.example.com./", "*.EXAMPLE.com."), ("http://[2001:db8::7]/", "[2001:db8::*]"),
    ])
    func `A host matches the pattern that spells it as its URL does`(url: String, pattern: String) throws {
        let policy = HostPolicy(allowHosts: [try HostPattern(parsing: pattern).text])
        #expect(policy.permits(host: try #require(SourceURL(parsing: url).host)))
    }
}
