import Testing

@testable import DarkroomHTTPCaching

struct CacheDirectivesTests {
    private typealias Stated = CacheDirectives.Seconds

    @Test(arguments: [
        ("max-age=60", 60), ("MAX-Age=60", 60), ("public,max-age=60,x", 60), ("\t, ,max-age=60 ,", 60),
        (#"max-age="60""#, 60), (#"max-age="6\0" "#, 60), ("max-age=0060", 60), ("max-age=0", 0),
        ("max-age=60, max-age=1", 60), ("max-age=1, max-age=60", 1), (#"ext="max-age=1", max-age=60"#, 60),
        (#"ext="a\", max-age=1", max-age=60"#, 60), ("ext=max-age=1, max-age=60", 60),
        ("max-age=2147483648", 2_147_483_648), ("max-age=2147483649", 2_147_483_648),
        ("max-age=99999999999999999999999999", 2_147_483_648),
    ])
    func `max-age is the first number of that name, in any case, quoted or not`(text: String, seconds: Int) {
        #expect(CacheDirectives(parsing: text).maxAge == .seconds(.seconds(seconds)))
    }

    @Test(arguments: [
        "max-age", "max-age=", "max-age=-1", "max-age=+1", "max-age=1.0", "max-age=1e3", "max-age=1s", "max-age=s1",
        "max-age='60'", "max-age =60", "max-age= 60", "max-age=6 0", "max-age=\"60", "max-age=\"60\"1",
        "max-age;60", "max-age 60", "max-age=\"\"", "max-age=\" 60\"", "max-age=٦", "max-age=x, max-age=60",
    ])
    func `What is no number is invalid rather than absent`(text: String) {
        #expect(CacheDirectives(parsing: text).maxAge == .invalid)
    }

    @Test(arguments: ["", "maxage=60", "x-max-age=60", #"ext="max-age=60""#, "s-maxage=60", "=60", "\"max-age=60\""])
    func `What has another name is not max-age`(text: String) {
        #expect(CacheDirectives(parsing: text).maxAge == nil)
    }

    @Test(arguments: [
        "no-store", "No-StOrE", "max-age=60, no-store", "no-store=1", "no-store; x", "no-store =x", "no-store\t",
        "ext=\"open, no-store", "no-store\"", #"ext="\", no-store"#,
    ])
    func `A slip of the pen does not hide a restriction`(text: String) {
        #expect(CacheDirectives(parsing: text).noStore)
    }

    @Test(arguments: [#"ext="no-store""#, #"ext="a, no-store""#, "x-no-store", "no-stores", "ext=no-store", "nostore"])
    func `Inside a quoted string or another word it is no restriction`(text: String) {
        #expect(!CacheDirectives(parsing: text).noStore)
    }

    @Test func `Each directive is known, and restrictions that name fields count as a whole`() {
        let directives = CacheDirectives(
            parsing: "private=\"set-cookie, x\", no-cache=x, must-revalidate, proxy-revalidate, must-understand,"
                + "immutable, s-maxage=1, stale-while-revalidate=2, stale-if-error=3")
        var expected = CacheDirectives()
        expected.isPrivate = true
        expected.noCache = true
        expected.mustRevalidate = true
        expected.proxyRevalidate = true
        expected.mustUnderstand = true
        expected.isImmutable = true
        expected.sharedMaxAge = .seconds(.seconds(1))
        expected.staleWhileRevalidate = .seconds(.seconds(2))
        expected.staleIfError = .seconds(.seconds(3))
        #expect(directives == expected)
    }

    @Test(arguments: ["public; max-age=600", "max-age=600; public", "max-age=600;public", "a=b;max-age=600 ; c"])
    func `A semicolon separates like a comma`(text: String) {
        #expect(CacheDirectives(parsing: text).maxAge == .seconds(.seconds(600)))
    }

    @Test(arguments: ["must-understand=1, immutable=1", "must-understand; immutable", "immutable x"])
    func `A malformed directive loosens nothing`(text: String) {
        let directives = CacheDirectives(parsing: text)
        #expect(!directives.mustUnderstand && !directives.isImmutable)
    }

    @Test func `Any bytes at all can be read`() {
        var numbers = SystemRandomNumberGenerator()
        let alphabet = Array("\",=; \t\\\0a09-\u{e9}".utf8) + Array("max-age=,no-store".utf8)
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &numbers)).map { _ in
                Bool.random(using: &numbers) ? alphabet.randomElement(using: &numbers) ?? 0 : UInt8.random(in: 0...255)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            // Every member takes a byte at least, so that the list ends.
            #expect(DirectiveList(text).reduce(0) { count, _ in count + 1 } <= text.utf8.count)
            _ = CacheDirectives(parsing: text)
            _ = CacheDirectives(targeted: text)
            _ = RequestPriority(parsing: text)
            _ = HTTPDate(parsing: text)
            _ = EntityTag(parsing: text)
        }
    }
}

struct TargetedDirectivesTests {
    @Test func `A dictionary says what Cache-Control would`() throws {
        let directives = try #require(
            CacheDirectives(
                targeted: "max-age=60, s-maxage=50;x=1, no-store, private=\"a\", no-cache=?0, must-revalidate,"
                    + "  stale-while-revalidate=5, other=(1 2);y, stale-if-error=6"))
        var expected = CacheDirectives()
        expected.maxAge = .seconds(.seconds(60))
        expected.sharedMaxAge = .seconds(.seconds(50))
        expected.noStore = true
        expected.isPrivate = true
        expected.mustRevalidate = true
        expected.staleWhileRevalidate = .seconds(.seconds(5))
        expected.staleIfError = .seconds(.seconds(6))
        #expect(directives == expected)
    }

    @Test(arguments: [
        "", " ", "max-age=60, &&&&", "max-age=\"60\"", "max-age=60.0", "max-age=a", "max-age", "max-age =60",
        "max-age= 60", "max-age=60,", "MAX-AGE=60", "max-age=?1", "max-age=(60)", "no-store=1", "no-store=\"a\"",
        "private=1", "max-age=9999999999999999",
    ])
    func `What is no such dictionary is ignored as a whole`(text: String) {
        #expect(CacheDirectives(targeted: text) == nil)
    }

    @Test func `A field that is too long to be read forbids to keep the response`() {
        let text = "max-age=60, " + String(repeating: "a, ", count: 700) + "a"
        #expect(CacheDirectives(targeted: text)?.forbidStoring == true)
    }

    @Test(arguments: [
        ("max-age=1, max-age=60", 60), ("max-age=99999999999", 2_147_483_648), ("foobar, max-age=0", 0),
    ])
    func `The last number of a name counts, and large ones are capped`(text: String, seconds: Int) {
        #expect(CacheDirectives(targeted: text)?.maxAge == .seconds(.seconds(seconds)))
    }

    @Test func `A negative number is stale, not ignored`() {
        #expect(CacheDirectives(targeted: "max-age=-1")?.maxAge == .invalid)
    }
}
