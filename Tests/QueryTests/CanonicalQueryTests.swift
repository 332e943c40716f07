import DarkroomRequests
import DarkroomTransforms
import Testing

@testable import DarkroomQuery

/// One meaning, one text.
struct CanonicalQueryTests {
    private static let limits = QueryLimits()
    private let grammar = ImageQueryGrammar(limits: limits)

    private func canonical(_ query: String) throws -> String {
        CanonicalQuery(try grammar.parse(query), limits: Self.limits).text
    }

    @Test(arguments: [
        ("url=x", "url=x"),
        ("w=400&url=https://example.com/photo.jpg", "url=https%3A%2F%2Fexample.com%2Fphoto.jpg&w=400"),
        ("url=https://a.org/%25c3?q=1%262,~-._+é", "url=https%3A%2F%2Fa.org%2F%25c3%3Fq%3D1%262%2C~-._%2B%C3%A9"),
        ("url=x&w=400&h=300&dpr=1.5&fit=cover&a=c", "url=x&w=600&h=450&fit=cover"),
        ("url=x&w=9&h=9&fit=cover&a=tl&enlarge", "url=x&w=9&h=9&fit=cover&enlarge=true&a=top-left"),
        ("url=x&w=9&h=9&fit=cover&a=focal&fpy=0.250", "url=x&w=9&h=9&fit=cover&a=focal&fpy=0.25"),
        ("url=x&w=9&h=9&fit=contain&a=focal&fpx=0.00001", "url=x&w=9&h=9&fit=contain&a=focal&fpx=0.00001"),
        ("url=x&w=9&h=9&fit=contain&a=focal&fpx=1&fpy=0", "url=x&w=9&h=9&fit=contain&a=top-right"),
        ("url=x&blur&sharp=1.50&trim&gam&sat=2.0", "url=x&trim=10&sat=2&gam=2.2&blur=&sharp=1.5"),
        ("url=x&w=50%25&h=12.50p", "url=x&w=50p&h=12.5p"), ("url=x&w=32&ar=16:9", "url=x&w=32&h=18&fit=cover"),
        ("url=x&ar=3.2:1.8", "url=x&fit=cover&ar=16%3A9"), ("url=x&h=9p&ar=2:1", "url=x&h=9p&fit=cover&ar=2%3A1"),
        ("url=x&ar=9999.99:1&fit=contain", "url=x&fit=contain&ar=9999.99%3A1"),
        ("url=x&w=20&dpr=1.5&min-w=10&min-h=7", "url=x&w=30&min-w=15&min-h=11"),
        ("url=x&crop=10%25,0,50p,9", "url=x&crop=10p%2C0%2C50p%2C9"),
        ("url=x&duotone=navy,fff&pixelate=5.00p", "url=x&duotone=000080ff%2Cffffffff&pixelate=5p"),
        ("url=x&bg=red&tint=00F8", "url=x&bg=ff0000ff&tint=0000ffff"),
        ("url=x&flop=1&flip&ro=90", "url=x&ro=90&flip=true&flop=true"),
        ("url=x&output=jpeg&q=80&il", "url=x&output=jpg&il=true"), ("url=x&q=75&ll=false", "url=x&q=75"),
        ("url=x&q=auto&target=medium", "url=x&q=auto"),
        (
            "url=x&maxbytes=900&slow_q=40&q=auto&target=low",
            "url=x&q=auto&target=low&slow_q=40&max_bytes=900"
        ), ("url=x&output=png&q=auto&target=high", "url=x&output=png"),
        ("url=x&nl&ll&q=60&output=webp", "url=x&output=webp&nl=true"),
        ("url=x&chroma=444&output=webp&ll", "url=x&output=webp&ll=true"),
        ("url=x&chroma=420&output=png", "url=x&output=png"),
        ("url=x&palette&output=webp", "url=x&output=webp"), ("url=x&l=9&af&output=webp", "url=x&output=webp"),
        ("url=x&page=SMALLEST&af&l=09", "url=x&l=9&af=true&page=smallest"), ("url=x&page=Primary", "url=x"),
        (
            "digest=md5:9E107D9D372BB6826BD81D3542A419D6&url=x", "url=x&digest=md5%3A9e107d9d372bb6826bd81d3542a419d6"
        ), ("url=x&page=01", "url=x&page=1"), ("url=x&page=UpTo:07", "url=x&page=upto%3A7"),
        ("url=x&pick=even&n=5", "url=x&n=5&pick=even"), ("url=x&pick=even&n=1", "url=x&n=1"),
        ("url=x&passthrough=Auto&q=70", "url=x&q=70&passthrough=auto"), ("url=x&passthrough=off", "url=x"),
        ("url=x&passthrough=auto&output=avif", "url=x&output=avif"),
        ("url=x&metadata=rights", "url=x"), ("url=x&metadata=None&q=70", "url=x&q=70&metadata=none"),
        ("url=x&metadata=all&output=blurhash", "url=x&output=blurhash"),
        ("url=x&hdr=Drop", "url=x&hdr=drop"), ("url=x&hdr=keep&output=webp", "url=x&output=webp"),
        ("url=x&gamut=sRGB", "url=x"), ("url=x&gamut=Source&q=70", "url=x&q=70&gamut=source"),
        ("url=x&gamut=p3&output=gif", "url=x&output=gif"), ("url=x&gamut=p3&output=color", "url=x&output=color"),
        ("url=x&depth=8", "url=x"), ("url=x&depth=Source&q=70", "url=x&q=70&depth=source"),
        ("url=x&depth=source&output=webp", "url=x&output=webp"),
        ("url=x&depth=source&output=avif&ll", "url=x&output=avif&ll=true"),
        ("url=x&passthrough=auto&il", "url=x&il=true"), ("url=x&passthrough=auto&palette", "url=x&palette=true"),
        ("url=x&output=json&fields=lqip,color,lqip", "url=x&output=json&fields=color%2Clqip"),
        ("url=x&placeholder=lqip,blurhash", "url=x&placeholder=blurhash%2Clqip"),
        ("url=x&pad=5,6,5,6&border=03,000&radius=1,50%25,1,50%25", "url=x&border=3&radius=1%2C50p&pad=5%2C6"),
        ("url=x&bg=ff00&pad=5", "url=x&bg=00000000&pad=5"), ("url=x&bg=ff00&pad=0", "url=x"),
        ("url=x&bg=blur&w=9&h=9&fit=contain", "url=x&w=9&h=9&fit=contain&bg=blur"),
        ("url=x&bg=blur", "url=x"), ("url=x&bg=blur&w=9&h=9&fit=cover", "url=x&w=9&h=9&fit=cover"),
        ("url=x&text=a+b%20%26&textcolor=white&texta=bottom", "url=x&text=a%2Bb%20%26"),
        ("url=x&textsize=09&texta=top&text=%C3%A9", "url=x&text=%C3%A9&textsize=9&texta=top"),
        ("url=x&pad=0,0&border=0,red&radius=0%25", "url=x"), ("url=x&pad=1,2,3,2", "url=x&pad=1%2C2%2C3"),
        ("url=x&mbg=0000&mtrim&mask=ellipse", "url=x&mask=ellipse"),
        ("url=x&mtrim&mask=star&mbg=red", "url=x&mask=star&mbg=ff0000ff&mtrim=true"),
        ("url=x&orient=1&page=02&n=3", "url=x&orient=none&n=3&page=2"),
        (
            "url=x&maxage=1h&store=none&wait=stored&priority=low",
            "url=x&store=none&wait=stored&priority=low&maxage=3600s"
        ),
        (
            "url=x&cache=force-cache&filename=a.jpg&default=y&scaledown&resample=linear&w=1",
            "url=x&default=y&w=1&scaledown=true&resample=linear&cache=force-cache&filename=a.jpg"
        ),
    ])
    func `A query has one spelling, in the documentation's order`(query: String, text: String) throws {
        #expect(try canonical(query) == text)
        #expect(try canonical(text) == text)
    }

    @Test(arguments: ImageParametersTests.rows)
    func `Each value of each parameter means the same when it is written down`(row: ImageParametersTests.Row) throws {
        for value in row.good {
            for rest in ["", "&w=30&h=20&fit=cover", "&w=30&h=20&fit=contain", "&output=webp"] {
                let pair = row.name + (value.map { "=\($0)" } ?? "")
                guard let query = try? grammar.parse("url=x\(row.beside)&\(pair)\(rest)") else { continue }
                #expect(try grammar.parse(CanonicalQuery(query, limits: Self.limits).text) == query, "\(pair)\(rest)")
            }
        }
    }

    @Test func `Ten thousand random queries mean the same when they are written down`() throws {
        var numbers = SystemRandomNumberGenerator()
        var parsed = 0
        for _ in 0..<10_000 {
            var pairs = ["url=https://example.com/a.jpg?b=1"]
            for row in ImageParametersTests.rows where Int.random(in: 0..<6, using: &numbers) == 0 {
                let value = row.good.randomElement(using: &numbers) ?? nil
                pairs.append(row.name + (value.map { "=\($0)" } ?? ""))
            }
            if Bool.random(using: &numbers) {
                pairs += ["w=\(Int.random(in: 1...900, using: &numbers))", "h=77", "fit=contain"]
            }
            // Some contradict themselves.
            guard let query = try? grammar.parse(pairs.shuffled(using: &numbers).joined(separator: "&")) else {
                continue
            }
            parsed += 1
            let text = CanonicalQuery(query, limits: Self.limits).text
            #expect(try grammar.parse(text) == query, "\(pairs) \(text)")
            #expect(try canonical(text) == text)
        }
        #expect(parsed > 500)
    }

    @Test func `What a server takes as given is left out there, and said elsewhere`() throws {
        let showing = QueryLimits(defaultDamaged: .show)
        for (given, here, there) in [
            ("url=x", "url=x", "url=x&damaged=show"), ("url=x&damaged=refuse", "url=x&damaged=refuse", "url=x"),
        ] {
            let query = try ImageQueryGrammar(limits: showing).parse(given)
            #expect(CanonicalQuery(query, limits: showing).text == here)
            #expect(CanonicalQuery(query, limits: Self.limits).text == there)
        }
    }
}
