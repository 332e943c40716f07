import DarkroomNetwork
import DarkroomPipeline
import DarkroomRequests
import Foundation
import Testing

@testable import DarkroomQuery

struct MarkQueryTests {
    private let grammar = ImageQueryGrammar()

    private func names() throws -> SourceMap {
        var names = SourceMap()
        try names.add("brand", "https://static.example.com/brand/")
        try names.addMark("logo", "brand:logo.png")
        try names.addMark("seal", "local:///seal.svg")
        return names
    }

    private func key(hosts: [String]) throws -> SigningKey {
        try SigningKey(id: "k1", secret: "0123456789abcdef0123456789abcdef", hosts: hosts)
    }

    @Test(arguments: [
        ("mark:l:t", Place(.start), Place(.start), Mark()),
        (
            "mark:r-20:c5p:50p:-:40:screen", Place(.end, distance: .pixels(-20)), Place(.center, distance: .percent(5)),
            Mark(width: .percent(50), opacity: 40, blend: .screen)
        ),
        ("mark:tile:b:-:9", nil, Place(.end), Mark(height: .pixels(9))), ("mark:tile:tile", nil, nil, Mark()),
    ])
    func `A step draws the mark at a place of its own, as often as it is listed`(
        step: String, x: Place?, y: Place?, mark: Mark
    ) throws {
        let query = try grammar.parse("url=x&mark=a&steps=\(step),\(step)")
        var mark = mark
        mark.placement = Mark.Placement(x: x, y: y)
        #expect(query.recipe.steps == [.drawing(mark), .drawing(mark)])
        #expect(throws: InvalidParameter.self) { try grammar.parse("url=x&steps=\(step)") }
        let written = CanonicalQuery(query, limits: QueryLimits()).text
        #expect(try grammar.parse(written).recipe.steps == query.recipe.steps)
    }

    @Test(arguments: [
        "mark:l", "mark:l:l", "mark:t:l", "mark:l:t:0", "mark:l:t:-:101p", "mark:l:t:-:-:0", "mark:l:t:-:-:9:add",
        "mark:l:t:9:9:9:over:outside",
        "mark:l1000000:t", "mark::t",
    ])
    func `A step of the mark with other values is refused`(step: String) {
        #expect(throws: InvalidParameter.self) { try grammar.parse("url=x&mark=a&steps=\(step)") }
    }

    @Test(arguments: [
        ("mark=a", Mark()),
        (
            "mark=a&markw=25p&markh=12.5%25&marka=top&markx=-3&marky=-1.5p&markalpha=40&markblend=screen",
            Mark(
                width: .percent(25), height: .percent(12.5), anchor: .top, x: .pixels(-3), y: .percent(-1.5),
                opacity: 40, blend: .screen)
        ),
        (
            "mark=a&markw=25&markx=3&marky=10p&dpr=2",
            Mark(width: .pixels(50), x: .pixels(6), y: .percent(10))
        ),
        ("mark=a&markw=8000&markx=-8000&dpr=2", Mark(width: .pixels(8192), x: .pixels(-8192))),
        ("mark=a&markx=0p&marky=-0", Mark()), ("mark=a&marka=tile&markx=4", Mark(anchor: nil, x: .pixels(4))),
    ])
    func `The parameters of a mark mean this`(text: String, mark: Mark) throws {
        let query = try grammar.parse("url=x&\(text)")
        #expect(query.mark == "a" && query.recipe.mark == mark)
        let canonical = CanonicalQuery(query, limits: grammar.limits).text
        #expect(try grammar.parse(canonical) == query, "\(canonical)")
    }

    @Test(arguments: [
        ("markw=5", "mark"), ("marka=tile", "mark"), ("mark=a&marka=tile&markx=-1", "markx"),
        ("mark=a&marka=tile&marky=-1p", "marky"), ("mark=a&markw=0", "markw"),
    ])
    func `What says nothing or contradicts itself is refused`(text: String, parameter: String) {
        let error = #expect(throws: InvalidParameter.self) { try grammar.parse("url=x&\(text)") }
        #expect(error?.parameter == parameter)
    }

    @Test(arguments: [
        ("logo", "https://static.example.com/brand/logo.png", "logo", true),
        ("seal", "local:///seal.svg", "seal", true),
        ("brand:logo.png", "https://static.example.com/brand/logo.png", "brand:logo.png", false),
        ("https://a.org/b.png", "https://a.org/b.png", "https://a.org/b.png", false),
    ])
    func `A name without a colon is a mark of the server, and anything else a URL`(
        text: String, url: String, spelling: String, isNamed: Bool
    ) throws {
        let query = try grammar.parse("url=https://a.org/x&mark=\(text)")
        let mark = try names().mark(#require(query.mark), givenAs: "mark")
        #expect(mark.url.canonical == url && mark.spelling == spelling && mark.isNamed == isNamed)
        let request = try query.sourceRequest(names())
        #expect(request.mark?.canonical == url && request.parts.map(\.isTrusted) == [isNamed])
    }

    @Test(arguments: [
        ("lgo", "There is no mark 'lgo' on this server. Did you mean 'logo'?"),
        ("Logo", "There is no mark 'Logo' on this server. Did you mean 'logo'?"), ("brand:../x", nil),
        ("ftp://a/b", nil),
    ])
    func `What names no mark is refused`(text: String, detail: String?) throws {
        let query = try grammar.parse("url=https://a.org/x&mark=\(text)")
        let names = try names()
        let error = #expect(throws: InvalidSourceURL.self) { try query.sourceRequest(names) }
        #expect(error?.parameter == "mark")
        if let detail { #expect(error?.detail == detail) }
    }

    @Test func `A name of the setting is a name once, for a URL`() throws {
        var names = try names()
        for (name, url) in [
            ("logo", "https://a.org/x"), ("a.b", "https://a.org/x"), ("", "https://a.org/x"), ("a", "b"),
        ] {
            #expect(throws: SourceMap.Flaw.self) { try names.addMark(name, url) }
        }
        #expect(names.contains(try SourceURL(parsing: "local:///seal.svg")))
        #expect(try !names.contains(SourceURL(parsing: "local:///seal.png")))
    }

    @Test func `A key's hosts restrict the marks of clients, not the server's own`() throws {
        let authorization = Authorization(key: try key(hosts: ["a.org"]))
        for (mark, isAllowed) in [
            ("logo", true), ("https://a.org/b", true), ("https://b.org/b", false), ("brand:x", false),
        ] {
            let request = try grammar.parse("url=https://a.org/x&mark=\(mark)").sourceRequest(names())
            #expect(((try? authorization.requireSources(of: request)) != nil) == isAllowed, "\(mark)")
        }
    }

    @Test func `A preset names marks that the server has`() throws {
        var presets = Presets()
        try presets.add("a", "mark=logo&markw=9p", limits: QueryLimits(), sources: names())
        let names = try names()
        let flaw = #expect(throws: Presets.Flaw.self) {
            try presets.add("b", "mark=lgo", limits: QueryLimits(), sources: names)
        }
        #expect(flaw?.description.contains("Did you mean 'logo'?") == true)
    }

    @Test func `Prefetched images have their mark`() throws {
        let body = try PrefetchBody(
            parsing: .init(#"{"urls": ["https://a.org/x"], "queries": ["mark=logo", "w=5"]}"#.utf8))
        let items = try PrefetchGrammar(sourceMap: names()).images(of: body, accept: nil)
        #expect(items.map { $0.request.mark?.canonical } == ["https://static.example.com/brand/logo.png", nil])
        let unknown = try PrefetchBody(parsing: .init(#"{"urls": ["https://a.org/x"], "queries": ["mark=x"]}"#.utf8))
        let error = #expect(throws: InvalidBody.self) {
            try PrefetchGrammar().images(of: unknown, accept: nil)
        }
        #expect(error?.member == "queries[0]")
    }

    @Test func `A file takes no mark`() {
        #expect(throws: InvalidParameter.self) { try FileQuery([("mark", "logo")]) }
    }
}
