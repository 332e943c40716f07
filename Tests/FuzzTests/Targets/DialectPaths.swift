import DarkroomQuery
import DarkroomRequests
import DarkroomTransforms
import Testing

@testable import DarkroomDialects

extension FuzzTests {
    @Test func `A path of thumbor is a query that the server reads, or is refused`() throws {
        let seeds = [
            "/unsafe/fit-in/-300x200/10x5:20x30/left/top/smart/filters:fill(auto):blur(1,2):round_corner(9)/x.org/a.jpg",
            "/unsafe/trim:bottom-right:5/1x2:30x40/adaptive-full-fit-in/9x9/filters:watermark(b64:YQ,-1,20p,5,9,none)/a",
            "/unsafe/filters%3Afocal(0.1x0.2%3A0.5x0.9)%3Aproportion(50)/300x/b64:aHR0cDovL3gub3JnL2EuanBn",
            "/unsafe/meta/0.1x0:1x1/filters:text(b64:YQ,center,-5,sans-9,red,50):crop(1,0.2,9,9):trim()/s3://b/a",
            "/unsafe/origxorig/filters:format(heif):sharpen(9)/a.jpg", "/unsafe//9x/filters:fill(red)/color:ff000080",
            "/unsafe/filters:label(a%2520,l-5,20p,30,red,50,mono-bold):image(fit-in/fxf/a,repeat,-5,30,screen)/a",
            "/unsafe/9x9/filters:contrast(50):rgb(1,-2,3):modulate(1,2,3):padding(red,1,2,3,4):expire(1)/a.jpg",
        ]
        let digits = String(repeating: "1", count: 15)
        let rectangles = String(repeating: "image(\(digits)x\(digits):\(digits)x\(digits)!/a):", count: 64)
        let words = [
            "filters:", "fit-in/", "color:", "orig", "(", ")", ",", ":", "/", "%2F", "%00", "..", "999999999", "1e9",
            "-0", "nan",
        ]
        fuzz(
            Thumbor(), "thumbor-path", seeds: seeds + ["/unsafe/filters:\(rectangles)/a"],
            words: words + ThumborFilters.table.rows.map { "\($0.names[0])(\($0.values))" })
    }

    @Test func `A path of Cloudflare is a query that the server reads, or is refused`() throws {
        let seeds = [
            "/cdn-cgi/image/w=300,h=200,fit=cover,g=0.5x0.1,dpr=1.5,q=80,f=auto/https://x.org/a.jpg",
            "/cdn-cgi/image/trim=1;2;3;4,rotate=90,flip=hv,border.width=5,border.color=rgb(1%2C2%2C3)/a/b.jpg",
            "/cdn-cgi/image/brightness=1.5,contrast=0.5,gamma=2,saturation=3,sharpen=1,blur=9,onerror=redirect/a",
            "/cdn-cgi/image/trim.left=5,trim.width=9,trim.border.color=red,fit=scale-up,width=auto,scq=low/a.jpg?b=1",
        ]
        let words = [",", "=", ";", "/", "%2F", "%00", "..", "999999999", "0.0001", "rgba(", "auto", "-1"]
        fuzz(
            Cloudflare(), "cloudflare-path", seeds: seeds,
            words: words + CloudflareOptions.table.rows.map { "\($0.names[0])=\($0.values)" })
    }

    private func fuzz(_ dialect: some PathDialect, _ name: String, seeds: [String], words: [String]) {
        let limits = QueryLimits()
        let grammar = ImageQueryGrammar(limits: limits)
        let source = ChainPlan(source: PixelSize(width: 300, height: 200))
        fuzzer.run(name, seeds: seeds, words: words) { input in
            let path = String(decoding: input, as: UTF8.self)
            guard let translation = try? dialect.translate(path[...], limits: limits) else { return }
            // Sides beyond the limits are refused by the grammar.
            guard let query = try? grammar.parse(translation.query) else { return }
            let canonical = CanonicalQuery(query, limits: limits)
            guard let again = try? grammar.parse(canonical.text) else {
                throw Unheld(reason: "can't read '\(canonical.text)'")
            }
            try hold(again.recipe == query.recipe, "'\(canonical.text)' has another recipe")
            guard let plan = try? TransformChain(query.recipe).plan(source) else { return }
            try hold(plan.size.width > 0 && plan.size.height > 0, "\(plan.size)")
        }
    }
}
