import DarkroomQuery
import Foundation
import Testing

@testable import DarkroomDialects

/// What each option becomes.
struct ImgproxyOptionTests {
    private let bench: ImgproxyBench

    init() throws { bench = try ImgproxyBench() }

    @Test(arguments: [
        ("w:300/h:200", ["w": "300", "h": "200"]),
        ("rs:fill:300:200:1:1", ["w": "300", "h": "200", "enlarge": "true", "layout": "fill,extend:center"]),
        ("resize:fill-down:300::0", ["w": "300", "layout": "fill-down"]),
        ("rs:fit:300:200:0:1:so:0:10", ["w": "300", "h": "200", "layout": "extend:bottom:0:10"]),
        ("s:300:200:t", ["w": "300", "h": "200", "enlarge": "true"]), ("rt:force/w:0", ["layout": "force"]),
        ("el:1/el:0", [:]), ("el:yes", [:]), ("ex:1", ["layout": "extend:center"]), ("ex:1/ex:0", [:]),
        ("exar:1:noea", ["layout": "extendar:top-right"]), ("mw:5/mh:6", ["min-w": "5", "min-h": "6"]),
        ("z:2", ["layout": "zoom:2"]), ("z:2:0.5", ["layout": "zoom:2:0.5"]), ("dpr:1.5", ["layout": "dpr:1.5"]),
        ("g:obj:face", ["layout": "gravity:faces"]), ("c:5:6:obj:face", ["layout": "crop:5:6:faces"]),
        ("g:sm", ["layout": "gravity:attention"]), ("g:fp:0.1:0.9", ["layout": "gravity:focal:0.1:0.9"]),
        ("g:nowe:10:-5", ["layout": "gravity:top-left:10:-5"]), ("g:ce", [:]),
        ("c:0.5:100", ["layout": "crop:0.5:100"]), ("c:10:20:we:1:2", ["layout": "crop:10:20:left:1:2"]),
        ("c:0:0", [:]),
        ("t:10", ["trim": "10"]), ("t:0.4", ["trim": "1"]),
        ("t:10:ff8800:1:1", ["trim": "10", "tbg": "ff8800ff", "layout": "even:xy"]),
        ("t:10/t:", [:]), ("pd:10", ["pad": "10,10,10,10"]), ("pd:1:2", ["pad": "1,2,1,2"]),
        ("pd:1::3", ["pad": "1,1,3,1"]),
        ("ar:0", ["orient": "none"]), ("rot:90", ["ro": "90"]), ("rot:-90", ["ro": "270"]), ("rot:360", [:]),
        ("fl:1:0", ["flop": "true"]), ("fl::1", ["flip": "true"]),
    ])
    func `geometry`(options: String, expected: [String: String]) throws {
        #expect(try bench.parameters(options) == expected)
    }

    @Test(arguments: [
        ("bg:255:128:0", ["bg": "ff8000ff"]), ("bg:f80", ["bg": "ff8800ff"]), ("bg:ff8000/bg:", [:]),
        ("bg:ff8000/bga:0.5", ["bg": "ff800080"]), ("bl:2.5", ["blur": "2.5"]), ("bl:0", [:]),
        ("bl:0.1", ["blur": "0.3"]),
        ("sh:0.7", ["sharp": "0.7"]), ("pix:8", ["pixelate": "8"]), ("pix:1", [:]),
        ("bd:10:face", ["redact": "face"]), ("bd:0", [:]),
        ("br:255", ["bri": "100"]), ("br:-51", ["bri": "-20"]), ("co:1", [:]), ("co:2", ["con": "77"]),
        ("co:0.5", ["con": "-77"]),
        ("sa:0", ["sat": "0"]), ("a:51:1:2", ["bri": "20", "sat": "2"]),
        ("dt:1:000080:ffd700", ["duotone": "000080ff,ffd700ff"]),
        ("dt:0", [:]),
    ])
    func `Colors and effects`(options: String, expected: [String: String]) throws {
        #expect(try bench.parameters(options) == expected)
    }

    @Test(arguments: [
        ("q:70", ["q": "70"]), ("q:0", [:]), ("f:webp", ["output": "webp", "q": "79"]),
        ("f:avif/fq:avif:40:webp:50", ["output": "avif", "q": "40"]), ("fq:avif:40", [:]),
        ("f:png/q:50", ["output": "png"]),
        ("aq:dssim:0.02", ["q": "auto"]), ("mb:20000", ["max_bytes": "20000"]), ("jpgo:1", ["il": "true"]),
        ("pngo:1:1/f:png", ["il": "true", "palette": "true", "output": "png"]), ("pg:2", ["page": "3"]),
        ("pgs:3", ["n": "3"]),
        ("sm:1", [:]), ("sm:0", ["metadata": "all"]), ("kcr:0", ["metadata": "none"]), ("kcr:1", [:]),
        ("sm:1/kcr:0", ["metadata": "none"]), ("kcr:0/sm:0", ["metadata": "all"]),
        ("hs:md5:9E107D9D372BB6826BD81D3542A419D6", ["digest": "md5:9e107d9d372bb6826bd81d3542a419d6"]),
        ("hs:none", [:]), ("da:1/maf:9", [:]), ("maf:9", ["n": "9", "pick": "even"]),
        ("mrd:500", ["layout": "maxside:500"]),
        ("cb:abc", ["v": "abc"]),
        ("cb:abc/cb:", [:]), ("fn:my%20photo", ["filename": "my_20photo.*"]), ("fn:cGhvdG8:1", ["filename": "photo.*"]),
        ("att:1", ["attachment": "true"]), ("fiu:aHR0cHM6Ly9hLm9yZw", ["default": "https://a.org"]),
    ])
    func `Output and delivery`(options: String, expected: [String: String]) throws {
        #expect(try bench.parameters(options) == expected)
    }

    @Test func `A raw path asks for the source's own pixels, whatever else it says`() throws {
        let parameters = try bench.parameters(of: "/_/raw:1/w:5/f:png/plain/https://a.org@webp")
        #expect(parameters == ["url": "https://a.org", "output": "origin", "passthrough": "auto", "n": "100000"])
    }

    @Test func `A watermark is the image of the server, or of the path`() throws {
        #expect(try bench.parameters("wm:0.5") == [:])
        let marked = try ImgproxyBench { $0.watermark = "logo" }
        #expect(try marked.parameters("wm:0") == [:])
        #expect(try marked.parameters("wm:0.5") == ["mark": "logo", "marka": "center", "markalpha": "50"])
        #expect(
            try marked.parameters("wm:1:soea:10:0.05:0.2/dpr:2") == [
                "mark": "logo", "marka": "bottom-right", "markalpha": "100", "markx": "10", "marky": "5p",
                "markw": "20p",
                "markh": "20p", "layout": "dpr:2",
            ])
        #expect(
            try bench.parameters("wm:1:re:5:5/wmu:aHR0cHM6Ly9hLm9yZw/wms:40:0") == [
                "mark": "https://a.org", "marka": "tile", "markalpha": "100", "markx": "5", "marky": "5", "markw": "40",
            ])
        #expect(
            try bench.parameters("wm:1:no/wmt:SGk") == ["text": "Hi", "textcolor": "000000ff", "texta": "top"])
    }

    @Test func `Options that change nothing are listed with the reason`() throws {
        let path = "/_/ph:1/eth:1/scp:1/msr:50/plain/https://a.org"
        let ignored = try bench.translation(path).ignored
        #expect(ignored.map(\.name) == ["ph", "eth", "scp", "msr"])
        #expect(ignored.allSatisfy { $0.reason.hasSuffix(".") })
    }

    @Test func `Every option is read by each of its names, or refused with a reason`() throws {
        let samples = [
            "resize": "fit", "resizing_type": "fill", "gravity": "no", "background": "fff", "format": "png",
            "format_quality": "png:5", "skip_processing": "png", "zoom": "1", "dpr": "1", "rotate": "90", "pages": "1",
            "max_animation_frames": "1", "fallback_image_url": "YQ", "watermark_url": "YQ", "watermark_text": "YQ",
            "hashsum": "none",
        ]
        let bench = try ImgproxyBench(presets: ["0=w:1"])
        for row in ImgproxyTable.image.rows {
            for name in row.names {
                let target = "/_/\(name):\(samples[row.names[0]] ?? "0")/plain/https://a.org"
                if case .refused = row.outcome {
                    #expect(bench.refusal(target)?.contains("not supported") == true, "\(name)")
                } else {
                    #expect(throws: Never.self, "\(name)") { try bench.translation(target) }
                }
            }
        }
    }

    @Test func `What is translated is a query that the server reads`() throws {
        let options =
            "rs:fill:300:200:1:1/g:no:0:10/c:0.5:0.5/t:10/pd:5/bg:fff/bl:2/sh:1/pix:4/wm:1:re/q:70/fn:a/att:1/dpr:2"
        let bench = try ImgproxyBench { $0.watermark = "logo" }
        let query = try bench.translation("/_/\(options)/plain/https://a.org@webp").query
        let image = try ImageQueryGrammar().parse(query)
        let canonical = CanonicalQuery(image, limits: QueryLimits())
        #expect(try ImageQueryGrammar().parse(canonical.query) == image)
    }

    @Test func `Two spellings of one picture have one canonical query`() throws {
        let spellings = [
            "/_/rs:fill:300:200/g:no/plain/https://a.org/b@png",
            "/x/h:200/w:300/rt:fill/gravity:no:0:0/aHR0cHM6Ly9hLm9yZy9i.png",
            "/_/w:9/size:300:200/el:0/resizing_type:fill/g:so/g:no/f:webp/plain/https%3A%2F%2Fa.org%2Fb@png",
        ]
        let queries = try spellings.map { target in
            let image = try ImageQueryGrammar().parse(bench.translation(target).query)
            return CanonicalQuery(image, limits: QueryLimits()).text
        }
        #expect(Set(queries).count == 1, "\(queries)")
    }

    @Test func `A document about an image`() throws {
        let parameters = try bench.parameters(of: "/info/_/s:1/p:5/bh:4:3/plain/https://a.org/b")
        #expect(parameters == ["url": "https://a.org/b", "output": "json", "fields": "palette,blurhash"])
        #expect(bench.refusal("/info/_/cl:5/plain/https://a.org")?.contains("not classified") == true)
        let query = try bench.translation("/info/_/exif:1/avg:1/dc:1/th:1/plain/https://a.org/b").query
        #expect(throws: Never.self) { try ImageQueryGrammar().parse(query) }
    }
}
