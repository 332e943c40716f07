import DarkroomRequests
import Foundation
import Testing

@testable import DarkroomHTTPServer
@testable import DarkroomQuery
@testable import DarkroomWeb

extension FuzzTests {
    @Test func `A query has one canonical text, which means the same`() {
        let limits = QueryLimits()
        let grammar = ImageQueryGrammar(limits: limits)
        fuzzer.run("query", seeds: Self.queries, words: grammar.table.parameters.map { "&\($0.name)=" }) { input in
            let text = String(decoding: input, as: UTF8.self)
            guard let query = try? grammar.parse(text) else { return }
            let canonical = CanonicalQuery(query, limits: limits)
            guard let again = try? grammar.parse(canonical.text) else {
                throw Unheld(reason: "can't read '\(canonical.text)'")
            }
            try hold(CanonicalQuery(again, limits: limits) == canonical, "'\(canonical.text)' is another query")
            try hold(again.recipe == query.recipe, "'\(canonical.text)' has another recipe")
        }
    }

    @Test func `A query of wsrv.nl has one canonical text in Darkroom's parameters`() {
        let limits = QueryLimits()
        let wsrv = ImageQueryGrammar(limits: limits, dialect: .wsrv)
        let own = ImageQueryGrammar(limits: limits)
        fuzzer.run("wsrv-query", seeds: Self.wsrvQueries, words: WsrvTable.names.map { "&\($0)=" }) { input in
            let text = String(decoding: input, as: UTF8.self)
            guard let parameters = try? Dialect.parameters(of: text, standard: .wsrv),
                let query = try? wsrv.parse(parameters)
            else { return }
            let canonical = CanonicalQuery(query, limits: limits).text
            guard let again = try? own.parse(canonical) else { throw Unheld(reason: "can't read '\(canonical)'") }
            try hold(again == query, "'\(canonical)' is another query")
        }
    }

    private static let wsrvQueries = [
        "url=x.org/a.jpg&w=50%&h=3e2&dpr=1.5&fit=contain&cbg=8f00&a=focal-20-30&we",
        "url=ssl:x.org&crop=1,2,3,4&precrop&trim&tbg=fff&mask=star&mbg=red&ro=-450&rbg=%2523123&flip",
        "url=x&mod=1.2,.5,-30&sharp=1e-6,2,3&blur=0&gam=9&con=-100&filt=duotone&start=000&n=-1&page=3&maxage=1M",
    ]

    @Test func `A query of info is read or refused`() {
        let grammar = ImageQueryGrammar.info()
        fuzzer.run("info-query", seeds: ["url=x&fields=all&gps=true", "url=https://a.org/&page=2&fields=color,exif"]) {
            input in
            _ = try? grammar.parse(String(decoding: input, as: UTF8.self))
        }
    }

    @Test func `The body of a prefetching job is read or refused`() {
        let seeds = [
            #"{"urls": ["https://a.org/b.jpg"], "widths": [320, 640], "queries": ["w=9&output=webp"]}"#,
            #"{"urls": ["\ud83e\udd8a\u0000"], "widths": [1e3, -0]}"#, String(repeating: "[", count: 2000),
        ]
        fuzzer.run("prefetch-body", seeds: seeds, words: ["{", "[", "\"urls\":", "\\u", "1e400"]) { input in
            _ = try? PrefetchBody(parsing: Data(input))
        }
    }

    @Test func `A rate is read or refused`() {
        fuzzer.run("rate", seeds: ["20/s", "600/m", "1000/h"]) { input in
            guard let rate = Rate(String(decoding: input, as: UTF8.self)) else { return }
            try hold((1...1_000_000).contains(rate.requests) && rate.period > .zero, "\(rate)")
        }
    }

    private static let queries = [
        "url=x", "w=400&url=https://example.com/photo.jpg", "url=https://a.org/%25c3?q=1%262,~-._+é",
        "url=x&w=400&h=300&dpr=1.5&fit=cover&a=c", "url=x&w=9&h=9&fit=cover&a=focal&fpx=0.1&fpy=0.250",
        "url=x&blur&sharp=1.50&trim&gam&sat=2.0&bri=1.1&con=.9&hue=30", "url=x&bg=red&tint=00F8&filt=greyscale",
        "url=x&flop=1&flip&ro=90&crop=1,2,30,40&orient=3", "url=x&output=jpeg&q=80&il",
        "url=x&output=json&fields=lqip,color",
        "url=x&placeholder=lqip,blurhash&page=02&n=3",
        "url=x&maxage=1h&store=none&wait=stored&priority=low&cache=reload",
        "url=x&filename=a.jpg&default=y&scaledown&resample=linear&w=1", "url=x&enlarge&we&ll",
        "url=x&w=33.33p&ar=1.91:1&min-w=90&min-h=5&dpr=1.25", "url=x&ar=16:9&fit=contain&a=top",
        "url=x&w=9&h=9&fit=cover&a=face&facezoom=0.50&redact=face:pixelate", "url=x&a=faces&redact=face:000",
        "url=x&layers=a,b&mark.a=y&mark.a.default=z&mark.a.w=50p&mark.a.fit=cover&mark.a.a=face&mark.a.blur=2&mark.a.x=-3"
            + "&text.b=Hi%0Ayou&text.b.w=90&text.b.h=20p&text.b.fit&text.b.min=8&text.b.shadow=1,-2,3,00f8&text.b.bg=red"
            + "&text.b.radius=50p&text.b.pad=1,2,3&text.b.lh=1.50&text.b.place=bottom-left",
        "url=x&crop=10p,0,50%25,9&pixelate=2.5p&duotone=navy,fde68a&h=50%25",
    ]
}
