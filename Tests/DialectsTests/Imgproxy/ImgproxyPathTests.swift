import DarkroomNetwork
import DarkroomQuery
import Foundation
import Testing

@testable import DarkroomDialects

/// Sources, extensions, presets and what is refused.
struct ImgproxyPathTests {
    private let bench: ImgproxyBench
    private static let url = "https://example.com/images/a b.jpg?x=1&y=@2"
    private static let encoded = "aHR0cHM6Ly9leGFtcGxlLmNvbS9pbWFnZXMvYSBiLmpwZz94PTEmeT1AMg"

    init() throws { bench = try ImgproxyBench() }

    @Test(arguments: [
        "/_/plain/https://example.com/images/a%20b.jpg%3Fx=1&y=%402", "/_/\(encoded)", "/_/\(encoded)==",
        "/_/w:5/\(encoded.prefix(20))/\(encoded.dropFirst(20))",
        "/_/w:5/plain/https:/example.com/images/a%20b.jpg%3Fx=1&y=%402",
        "/_/plain/https://example.com/images/a%20b.jpg%3Fx=1&y=%402?ignored=1",
        "/_/w%3A5/plain/https://example.com/images/a%20b.jpg%3Fx=1&y=%402@",
    ])
    func `A source is plain or in base64, split anywhere`(target: String) throws {
        #expect(try bench.parameters(of: target)["url"] == Self.url)
    }

    @Test func `Colons of options are restored if all of them are encoded`() throws {
        #expect(try bench.parameters(of: "/_/rs%3Afill%3A30%3A40/plain/https://a.org/b")["w"] == "30")
        #expect(bench.refusal("/_/w%3A5/h:5/plain/https://a.org/b") != nil)
    }

    @Test func `A source is decoded once`() throws {
        #expect(try bench.parameters(of: "/_/plain/https://a.org/%252F..%2Fb")["url"] == "https://a.org/%2F../b")
    }

    @Test func `Local and s3 sources work as they are`() throws {
        #expect(try bench.parameters(of: "/_/plain/local:///a/b.png")["url"] == "local:///a/b.png")
        #expect(try bench.parameters(of: "/_/plain/local:/a/b.png")["url"] == "local:///a/b.png")
        #expect(try bench.parameters(of: "/_/plain/s3://media/a/b.png")["url"] == "s3://media/a/b.png")
    }

    @Test(arguments: [
        ("/_/plain/https://a.org/b.jpg@png", "png"), ("/_/plain/https://a.org/b.jpg@jpeg", "jpg"),
        ("/_/f:gif/plain/https://a.org/b.jpg@webp", "webp"), ("/_/f:gif/plain/https://a.org/b.jpg", "gif"),
        ("/_/aHR0cHM6Ly9hLm9yZy9i.avif", "avif"), ("/_/aHR0cHM6Ly9hLm9yZy9i", nil),
    ])
    func `An extension names the format, after all options`(target: String, format: String?) throws {
        let parameters = try bench.parameters(of: target)
        #expect(parameters["output"] == format && parameters["formats"] == (format == nil ? "none" : nil))
    }

    @Test func `A base URL precedes the sources that lack it`() throws {
        let bench = try ImgproxyBench { $0.base = SourcePrefix("https://img.example.com/") }
        #expect(try bench.parameters(of: "/_/plain/a/b.jpg")["url"] == "https://img.example.com/a/b.jpg")
        let whole = "/_/plain/https://img.example.com/a/b.jpg"
        #expect(try bench.parameters(of: whole)["url"] == "https://img.example.com/a/b.jpg")
    }

    @Test(arguments: [
        ("%40evil.example/a.jpg", "https://img.example.com/@evil.example/a.jpg"),
        (".evil.example/a.jpg", "https://img.example.com/.evil.example/a.jpg"),
        ("/a.jpg", "https://img.example.com/a.jpg"), (":80/a.jpg", "https://img.example.com/:80/a.jpg"),
        ("https://img.example.com/a.jpg%3Fb", "https://img.example.com/a.jpg?b"),
        ("https://img.example.com.evil.example/a", "https://img.example.com/https://img.example.com.evil.example/a"),
        ("https://img.example.com%40evil.example/a", "https://img.example.com/https://img.example.com@evil.example/a"),
    ])
    func `A source without the base URL is a path behind it`(source: String, url: String) throws {
        let bench = try ImgproxyBench { $0.base = SourcePrefix("https://img.example.com/") }
        #expect(try bench.parameters(of: "/_/plain/\(source)")["url"] == url)
    }

    @Test(arguments: [
        "../secret/a.jpg", "a/../../secret/a.jpg", "%2e%2e/a.jpg", "%252e%252e/a.jpg", "%25252e./a.jpg", "..%5Ca.jpg",
        "..;/a.jpg", ".%09./secret/a.jpg", "https://img.example.com/media/../secret/a.jpg", "%5C%5Cevil.example/a.jpg",
    ])
    func `No source leads out of a base URL, whatever decodes its path`(source: String) throws {
        let bench = try ImgproxyBench { $0.base = SourcePrefix("https://img.example.com/media/") }
        #expect(bench.refusal("/_/plain/\(source)") != nil)
    }

    @Test func `Presets expand where they stand, and default before everything`() throws {
        let presets = ["default=q:50/w:10", "wide=w:20/h:30", "both=pr:wide/h:40", "loop=pr:loop/w:60"]
        let bench = try ImgproxyBench(presets: presets)
        #expect(try bench.parameters("") == ["w": "10", "q": "50"])
        #expect(try bench.parameters("pr:wide/w:5") == ["w": "5", "h": "30", "q": "50"])
        #expect(try bench.parameters("w:5/pr:both") == ["w": "20", "h": "40", "q": "50"])
        #expect(try bench.parameters("preset:wide:loop") == ["w": "60", "h": "30", "q": "50"])
        #expect(bench.refusal("/_/pr:wade/plain/https://a.org")?.contains("Did you mean 'wide'?") == true)
    }

    @Test func `With presets only, the first segment has names`() throws {
        let bench = try ImgproxyBench(presets: ["a=w:10", "b=h:20"]) { $0.onlyPresets = true }
        let translation = try bench.translation("/_/a:b/plain/https://a.org/x@png")
        #expect(translation.hasOnlyPresets && translation.query.text.contains("w=10&h=20"))
        #expect(bench.refusal("/_/w:5/plain/https://a.org/x")?.contains("no imgproxy preset 'w'") == true)
    }

    @Test func `A path counts as presets only if it has no other option`() throws {
        let bench = try ImgproxyBench(presets: ["a=w:10"])
        #expect(try bench.translation("/_/pr:a/plain/https://a.org/x").hasOnlyPresets)
        #expect(try !bench.translation("/_/pr:a/w:5/plain/https://a.org/x").hasOnlyPresets)
        #expect(try !bench.translation("/_/plain/https://a.org/x").hasOnlyPresets)
    }

    @Test(arguments: ["x", "=w:5", "a=", "a=w:5/5", "a=w:x", "a=nope:1"])
    func `A preset that is not one stops the start`(definition: String) {
        #expect(throws: ImgproxyPresets.Flaw.self) { try ImgproxyBench(presets: [definition]) }
    }

    @Test func `Expiry is a time, and 0 is never`() throws {
        #expect(
            try bench.translation("/_/exp:1700000000/plain/https://a.org").expires
                == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(try bench.translation("/_/exp:0/plain/https://a.org").expires == nil)
    }

    @Test(arguments: [
        ("/", "must be /signature"), ("/_", "must be /signature"), ("/_/", "must be /signature"),
        ("/_/w:5", "no source"), ("/_/plain/", "no source"), ("/_/plain/a@b@c", "more than one extension"),
        ("/_/YQ.png.jpg", "more than one extension"), ("/_/Y", "not UTF-8"), ("/_/_w", "not UTF-8"),
        ("/_/a+b", "not UTF-8"),
        ("/_/plain/https://a.org/%zz", "percent-encoded"), ("/_/plain/https://a.org/%ff", "percent-encoded"),
        ("/_/plain/https://a.org/%00", "NUL"), ("/_/YQBi", "NUL"), ("/_/enc/abc", "Encrypted"),
        ("/_/w:5/-/w:6/plain/https://a.org", "Chained"), ("/_/nope:1/plain/https://a.org", "no option 'nope'"),
        ("/_/f:bmp/plain/https://a.org", "not made here"), ("/_/plain/https://a.org@xyz", "not a format"),
        ("/_/blur_areas:1/plain/https://a.org", "not supported"), ("/_/rs:crop:5:5/plain/https://a.org", "one of fit"),
        ("/_/w:-1/plain/https://a.org", "number of pixels"), ("/_/dpr:0/plain/https://a.org", "factor"),
        ("/_/dpr:nan/plain/https://a.org", "factor"), ("/_/dpr:0x1p4/plain/https://a.org", "factor"),
        ("/_/rot:45/plain/https://a.org", "multiple of 90"), ("/_/g:obj:cat/plain/https://a.org", "obj:face"),
        ("/_/bd:10:cat/plain/https://a.org", "only faces"),
        ("/_/g:fp:2:0/plain/https://a.org", "0 to 1"), ("/_/g:sm:1:1/plain/https://a.org", "offsets"),
        ("/_/ex:1:sm/plain/https://a.org", "gravity"), ("/_/fq:png/plain/https://a.org", "pairs"),
    ])
    func `What cannot be read is refused with a sentence`(target: String, part: String) throws {
        let detail = try #require(bench.refusal(target), "\(target)")
        #expect(detail.contains(part), "\(detail)")
    }

    @Test func `Refusals of options name the option, and no file that a client does not have`() throws {
        for (name, value) in [("w", "x"), ("nope", "1"), ("ba", "1"), ("f", "bmp")] {
            let refusal = try #require(bench.refusal("/_/\(name):\(value)/plain/https://a.org"))
            #expect(refusal.contains("ption '\(name)'") && !refusal.contains("docs/"))
        }
    }

    @Test func `Hundreds of thousands of options and megabytes are refused at once`() {
        let many = "/_/" + String(repeating: "w:1/", count: 100_000) + "plain/https://a.org"
        #expect(bench.refusal(many)?.contains("too long") == true)
        #expect(
            bench.refusal("/_/" + String(repeating: "w:1/", count: 501) + "plain/https://a.org")?.contains(
                "500 options") == true)
        #expect(bench.refusal("/_/" + String(repeating: "a", count: 2 << 20))?.contains("too long") == true)
    }

    @Test func `Presets within presets cannot multiply the options without end`() throws {
        let presets = ["a=w:1/w:2/w:3/w:4", "b=pr:a:a:a:a", "c=pr:b:b:b:b", "d=pr:c:c:c:c:c:c:c:c"]
        #expect(throws: ImgproxyPresets.Flaw.self) { try ImgproxyBench(presets: presets) }
    }
}
