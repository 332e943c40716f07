import DarkroomRequests
import Testing

@testable import DarkroomQuery

/// What a query of wsrv.nl means in Darkroom's parameters.
struct WsrvTableTests {
    private let grammar = ImageQueryGrammar(dialect: .wsrv)

    /// The canonical query, without what every translation has.
    private func meaning(_ query: String) throws -> String {
        let query = try Dialect.parameters(of: query.isEmpty ? "url=x.org" : "url=x.org&\(query)", standard: .wsrv)
        let canonical = CanonicalQuery(try grammar.parse(query), limits: grammar.limits)
        return canonical.parameters.filter {
            !["url", "rules"].contains($0.name) && $0 != .init(name: "formats", value: "none")
                && $0 != .init(name: "n", value: "1")
        }.map { $0.value.isEmpty ? $0.name : "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    private func ignored(_ query: String) throws -> [String] {
        let query = try Dialect.parameters(of: "url=x.org&\(query)", standard: .wsrv)
        return try grammar.translation(of: query)?.ignored.map(\.name) ?? []
    }

    @Test(arguments: [
        ("x.org/a.jpg", "http://x.org/a.jpg"), ("//x.org/a.jpg", "https://x.org/a.jpg"),
        ("ssl:x.org/a.jpg", "https://x.org/a.jpg"), ("SSL://x.org/a.jpg", "https://x.org/a.jpg"),
        ("https://x.org/a.jpg", "https://x.org/a.jpg"), ("HTTP://x.org/a.jpg", "HTTP://x.org/a.jpg"),
        ("x.org:8080/a.jpg", "http://x.org:8080/a.jpg"), ("x.org:8080", "http://x.org:8080"),
        ("/x.org/a.jpg", "http://x.org/a.jpg"), ("s3://media/a.jpg", "s3://media/a.jpg"),
        ("local:///a.jpg", "local:///a.jpg"), ("shop:a/1.jpg", "shop:a/1.jpg"),
    ])
    func `A source needs no scheme`(given: String, url: String) throws {
        let query = QueryString(pairs: [.init(name: "url", value: given)])
        #expect(try grammar.parse(query).url == url)
    }

    @Test(arguments: [
        ("w=300", "w=300&enlarge=true"), ("width=300&height=200", "w=300&h=200&enlarge=true"),
        ("w=300&we", "w=300"), ("w=300&we=0", "w=300&enlarge=true"), ("w=300&we=false", "w=300&enlarge=true"),
        ("w=50%", "w=50p&enlarge=true"), ("w=50%25", "w=50p&enlarge=true"), ("w=33.337%", "w=33.34p&enlarge=true"),
        ("w=101%", ""), ("w=-1", ""), ("w=0", ""), ("w=abc", ""), ("w=", ""), ("w", ""),
        ("w=300px", "w=300&enlarge=true"),
        ("w=12.7", "w=12&enlarge=true"), ("w=100000000", ""), ("w=160&h=120&dpr=2", "w=320&h=240&enlarge=true"),
        ("w=15&dpr=1.5", "w=23&enlarge=true"), ("w=100&dpr=0.5", "w=50&enlarge=true"),
        ("w=100&dpr=9", "w=100&enlarge=true"),
        ("w=50%&dpr=2", "w=100p&enlarge=true"), ("w=9&dpr=0", ""),
        ("w=300&h=10000", "w=300&h=8192&enlarge=true"), ("w=10000&we", "w=8192"),
        ("w=30&w=40", "w=30&enlarge=true"), ("width=30&w=40", "w=30&enlarge=true"),
    ])
    func `Sides are read as wsrv.nl reads them, and enlarge`(query: String, meaning: String) throws {
        #expect(try self.meaning(query) == meaning)
    }

    @Test(arguments: [
        ("w=3&h=2&fit=cover", "w=3&h=2&fit=cover&enlarge=true"),
        ("w=3&h=2&fit=outside", "w=3&h=2&fit=outside&enlarge=true"),
        ("w=3&h=2&fit=contain", "w=3&h=2&fit=contain&enlarge=true&cbg=00000000"),
        ("w=3&h=2&fit=fill", "w=3&h=2&fit=fill&enlarge=true"), ("w=3&fit=fill", "w=3&h=100p&fit=fill&enlarge=true"),
        ("h=3&fit=fill&we", "w=100p&h=3&fit=fill"), ("w=3&h=2&fit=stretch", "w=3&h=2&enlarge=true"),
        ("w=3&h=2&fit=Cover", "w=3&h=2&enlarge=true"),
        ("w=3&h=2&t=fit", "w=3&h=2"), ("w=3&h=2&t=fitup", "w=3&h=2&enlarge=true"),
        ("w=3&h=2&t=square", "w=3&h=2&fit=cover&enlarge=true"), ("w=3&h=2&t=squaredown", "w=3&h=2&fit=cover"),
        ("w=3&h=2&t=absolute", "w=3&h=2&fit=fill&enlarge=true"),
        ("w=3&h=2&t=letterbox&cbg=f00", "w=3&h=2&fit=contain&enlarge=true&cbg=ff0000ff"),
        ("w=3&h=2&t=fit&we=0", "w=3&h=2"), ("fit=cover", ""),
        ("w=3&h=2&fit=cover&a=top", "w=3&h=2&fit=cover&enlarge=true&a=top"),
        ("w=3&h=2&fit=cover&a=t", "w=3&h=2&fit=cover&enlarge=true&a=top"),
        ("w=3&h=2&fit=cover&align=attention", "w=3&h=2&fit=cover&enlarge=true&a=attention"),
        ("w=3&h=2&fit=cover&a=middle", "w=3&h=2&fit=cover&enlarge=true"),
        ("w=3&h=2&fit=cover&a=focal&fpx=0.2", "w=3&h=2&fit=cover&enlarge=true&a=focal&fpx=0.2"),
        ("w=3&h=2&fit=cover&a=focal&fpx=2&fpy=1", "w=3&h=2&fit=cover&enlarge=true&a=focal&fpy=1"),
        ("w=3&h=2&fit=cover&a=focal-20-100", "w=3&h=2&fit=cover&enlarge=true&a=focal&fpx=0.2&fpy=1"),
        ("w=3&h=2&fit=cover&a=crop-20", "w=3&h=2&fit=cover&enlarge=true&a=focal&fpx=0.2"),
        ("w=3&fsol=0", "w=3&enlarge=true&resample=accurate"), ("w=3&fsol", "w=3&enlarge=true"),
    ])
    func `Fits have today's names and the names before version 5`(query: String, meaning: String) throws {
        #expect(try self.meaning(query) == meaning)
    }

    @Test(arguments: [
        ("cx=10&cy=20&cw=30&ch=40", "cut=10,20,30,40"), ("crop=30,40,10,20", "cut=10,20,30,40"), ("crop=1,2,3", ""),
        ("cw=50%&ch=100%25", "cut=0,0,50p,100p"), ("cx=10&cw=-5", "cut=10,0,100p,100p"), ("cx=-5", "cut=0,0,100p,100p"),
        ("cw=5&precrop", "crop=0,0,5,100p"), ("precrop", "crop=0,0,100p,100p"), ("cw=200%&ch=", "cut=0,0,100p,100p"),
        ("trim=25", "trim=25"), ("trim", "trim=10"), ("trim=0", ""), ("trim=255", ""),
        ("trim=9&tbg=FFF", "trim=9&tbg=ffffffff"),
        ("tbg=fff", ""), ("mask=circle", "mask=circle"),
        ("shape=star&strim&mbg=8f00", "mask=star&mbg=ff000088&mtrim=true"),
        ("mask=none", ""), ("mtrim", ""), ("mbg=red", ""),
        ("ro=90", "ro=90"), ("or=-450", "ro=270"), ("ro=-3690", "ro=270"), ("ro=720", ""),
        ("ro=30&rbg=80FF0000", "ro=30&rbg=ff000080"),
        ("ro=90&rbg=red", "ro=90"), ("flip&flop", "flip=true&flop=true"), ("flip=0&flop=false", ""),
    ])
    func `Crops, turns and masks`(query: String, meaning: String) throws {
        #expect(try self.meaning(query) == meaning)
    }

    @Test(arguments: [
        ("bg=f00", "bg=ff0000ff"), ("bg=8f00", "bg=ff000088"), ("bg=80FF6600", "bg=ff660080"),
        ("bg=%23336699", "bg=336699ff"),
        ("bg=%2523336699", "bg=336699ff"), ("bg=Black", "bg=000000ff"), ("bg=zzz", ""), ("bg=0f00", ""),
        ("bg=12345", ""),
        ("bg=1234567", "bg=234567f1"), ("cbg=red", ""),
        ("bri=25", "bri=25"), ("bri=101", ""), ("mod=0.5", "mod=0.5"), ("mod=1.2,0.5,-90", "mod=1.2&sat=0.5&hue=270"),
        ("mod=2,,30", "mod=2&sat=10"), ("sat=0.5", "sat=0.5"), ("sat=100", "sat=10"), ("sat=-1", ""),
        ("hue=400", "hue=40"), ("hue=-30", "hue=330"), ("hue", ""), ("con=25", "con=75"), ("con=-100", "con=-300"),
        ("con=101", ""), ("gam=1.6", "gam=0.625"), ("gam", "gam=0.4545"), ("gam=9", "gam=0.4545"),
        ("gam=0", ""), ("filt=greyscale&bg=darkorange", "bg=9a9a9aff&filt=greyscale"),
        ("filt=sepia&bg=darkorange", "bg=ff8c00ff&filt=sepia"),
        ("tint=red", "tint=ff0000ff"), ("tint=no", ""), ("filt=sepia", "filt=sepia"), ("filt=none", ""),
        ("filt=duotone", "duotone=c83658ff,d8e74fff"), ("filt=duotone&start=000&stop=fff", "duotone=000000ff,ffffffff"),
        ("blur", "blur"), ("blur=5", "blur=5"), ("blur=0", ""), ("blur=0.1", "blur"), ("blur=5000", "blur"),
        ("sharp", "sharp"), ("sharp=5", "sharp=5&sharpf=1&sharpj=2"), ("sharp=11", "sharp"), ("sharp=0", ""),
        ("sharp=3,4,5", "sharp=5&sharpf=3&sharpj=4"), ("sharp=5&sharpf=2&sharpj=6", "sharp=5&sharpf=2&sharpj=6"),
        ("sharp=1e-6", "sharp=0.000001&sharpf=1&sharpj=2"), ("sharpf=3", ""),
    ])
    func `Colors are ARGB, and effects have the ranges of weserv`(query: String, meaning: String) throws {
        #expect(try self.meaning(query) == meaning)
    }

    @Test(arguments: [
        ("output=webp", "output=webp"), ("output=av1", "output=avif"), ("output=tif", "output=tiff"),
        ("output=JPG", ""),
        ("output=pdf", ""), ("output=origin", "output=origin"), ("output=json", "output=json&fields=wsrv"),
        ("q=75", "q=75"), ("quality=75", "q=75"), ("q=0", ""), ("q=101", ""), ("il", "il=true"),
        ("ll&output=webp", "output=webp&ll=true"), ("n=3", "n=3"), ("pages=2", "n=2"), ("n=0", ""),
        ("n=999999", "n=100000&pick=even"),
        ("page=1", "page=2"), ("page=0", "page=1"), ("page=-5", ""), ("encoding=base64", "encoding=base64"),
        ("encoding=hex", ""), ("maxage=31d", "maxage=2678400s"), ("maxage=1M", "maxage=2592000s"), ("maxage=1h", ""),
        ("maxage=2y", ""), ("filename=photo", "filename=photo.*"), ("filename=a.jpg", ""), ("filename=", ""),
        ("default=x.org/b.png", "default=http://x.org/b.png"),
        ("errorredirect=ssl:x.org/b.png", "default=https://x.org/b.png"),
        ("default=1", "default=1"), ("v=7", "v=7"), ("_=170", "_=170"),
    ])
    func `Outputs, pages and responses`(query: String, meaning: String) throws {
        #expect(try self.meaning(query) == meaning)
    }

    @Test func `Without n one frame is kept, and with -1 all are`() throws {
        #expect(try grammar.parse("url=x.org").pages == PageSelection(count: 1))
        #expect(try grammar.parse("url=x.org&n=-1").pages == PageSelection())
    }

    @Test func `The format is the source's, as far as Accept covers it`() throws {
        let query = try grammar.parse("url=x.org")
        #expect(NegotiationPolicy().vary(of: query) == "Accept")
        #expect(query.formats?.isEmpty == true)
        #expect(query.output(for: ClientPreferences()).format == nil)
    }

    @Test(arguments: [
        ("cachebuster=9&w=3", ["cachebuster"]), ("l=10&delay=9&loop=0&w=3", ["l", "delay", "loop"]), ("w=3&w=4", []),
        ("w=abc&q=900", ["w", "q"]), ("page=-3", ["page"]), ("width=3&w=4", ["w"]),
    ])
    func `What changes nothing is told, and not refused`(query: String, names: [String]) throws {
        #expect(try ignored(query) == names)
    }

    @Test func `A query is Darkroom's where it says so, or has a preset`() throws {
        let own = ImageQueryGrammar()
        #expect(try own.parse("url=x&w=3") == grammar.parse("url=x&w=3&compat=darkroom"))
        #expect(try own.parse("url=x&w=3&compat=WSRV") == grammar.parse("url=x&w=3"))
        #expect(try own.parse("url=x&w=3&compat=wsrv") != own.parse("url=x&w=3"))
        #expect(throws: InvalidParameter.self) { try own.parse("url=x&compat=imgix") }
        #expect(throws: InvalidParameter.self) { try own.parse("url=x&compat=wsrv&preset=avatar") }
        #expect(Dialect.of(try QueryString(parsing: "url=x&preset=a"), standard: .wsrv) == .darkroom)
        #expect(throws: InvalidParameter.self) { try SrcsetGrammar().parse(QueryString(parsing: "url=x&compat=wsrv")) }
        #expect(throws: InvalidParameter.self) { try ImageQueryGrammar.info().parse("url=x&compat=wsrv") }
    }

    @Test func `Explanations have their own parameter besides`() throws {
        let grammar = ExplainGrammar(limits: QueryLimits())
        let (image, fetch) = try grammar.parse(QueryString(parsing: "url=x&w=3&compat=wsrv&fetch=true"))
        #expect(fetch)
        #expect(image == (try self.grammar.parse("url=x&w=3")))
        let query = try QueryString(parsing: "url=x&compat=wsrv&fetch=true")
        #expect(try grammar.translation(of: query)?.ignored == [])
    }

    @Test func `Ten thousand random queries are never refused, except by a side that is too large`() throws {
        var numbers = SystemRandomNumberGenerator()
        let values = [
            "", "1", "-1", "0", "50%", "abc", "1,2,3,4", "red", "80ff0000", "9999999999", "1e9", "%", ".", "-", ",,,",
        ]
        for _ in 0..<10_000 {
            let names = WsrvTable.names.filter { $0 != "url" }.shuffled(using: &numbers).prefix(6)
            let query = names.map { "\($0)=\(values.randomElement(using: &numbers) ?? "")" }.joined(separator: "&")
            let parameters = try Dialect.parameters(of: "url=x.org&\(query)", standard: .wsrv)
            do {
                let parsed = try grammar.parse(parameters)
                let text = CanonicalQuery(parsed, limits: grammar.limits).text
                #expect(try ImageQueryGrammar().parse(text) == parsed, "\(query)")
            } catch {
                #expect(["w", "h"].contains(error.parameter), "\(query): \(error.detail)")
            }
        }
    }
}
