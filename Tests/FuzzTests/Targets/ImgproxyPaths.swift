import DarkroomDialects
import DarkroomQuery
import Testing

extension FuzzTests {
    @Test func `A path of imgproxy means one query, which the server reads or refuses with a sentence`() throws {
        var rules = ImgproxyDialect.Rules(keys: try ImgproxyKeys())
        rules.watermark = "logo"
        let dialect = try ImgproxyDialect(rules, presets: ["thumb=rs:fill:30:40/g:sm", "loop=pr:loop:thumb"])
        let limits = QueryLimits()
        let grammar = ImageQueryGrammar(limits: limits)
        let seeds = [
            "/unsafe/rs:fill-down:300:200:1:1/g:no:0:10/c:0.5:20:sowe:1:2/t:10:fff:1:1/plain/https://a.org/b%20c@png",
            "/_/pr:thumb:loop/pd:1:2:3:4/bg:255:0:0/bl:2/pix:9/wm:0.5:re:5:5:0.1/q:70/aHR0cHM6Ly9hLm9yZw",
            "/x/dpr:2/z:1.5:0.5/ex:1:fp:0.1:0.2/exar:1/mw:5/mh:6/rot:-90/fl:1:1/exp:9/fn:YQ:1/plain/s3://a/b",
            "/info/x/p:5/bh:4:3/exif:1/plain/local:///a.jpg", "/_/fiu:YQ/wmt:SGk/wmu:YQ/wms:3:4/cb:9/raw:1/plain/a",
        ]
        let words = [
            ":", "/", "plain/", "@", "%3A", "%2F", "%00", "..", "-", "0", "1e9", "-1", "nan", "999999999999", "fp",
            "sm",
        ]
        fuzzer.run("imgproxy-path", seeds: seeds, words: words) { input in
            let target = String(decoding: input, as: UTF8.self)
            let query: QueryString
            do throws(AuthorizationError) {
                query = try dialect.translate(target[...], limits: limits).query
            } catch {
                return try hold(!error.detail.isEmpty && error.detail.utf8.count < 2_000, "no sentence")
            }
            guard let image = try? grammar.parse(query) else { return }
            let canonical = CanonicalQuery(image, limits: limits).query
            try hold((try? grammar.parse(canonical)) == image, "another image in '\(canonical.text)'")
        }
    }
}
