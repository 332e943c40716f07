import Testing
import Yams

@testable import DarkroomQuery
@testable import DarkroomWeb

/// Holds examples and patterns in `openapi.yaml` against the grammars.
struct ParameterContractTests {
    private let contract: Contract
    private let grammar = ImageQueryGrammar()
    private let purgeGrammar = PurgeGrammar()

    init() throws { contract = try Contract() }

    @Test func `Examples of a set of widths are taken by its grammar`() throws {
        for described in try contract.parameters(of: "/srcset", "get").dropLast(2) {
            let pair = "\(try #require(described["name"]?.string))=\(try #require(described["example"]?.string))"
            guard pair.hasPrefix("widths=") || pair.hasPrefix("sizes=") else { continue }
            #expect(throws: Never.self) {
                try SrcsetGrammar().parse(QueryString(parsing: "url=https://example.com/photo.jpg&" + pair))
            }
        }
    }

    private func schema(of parameter: Node) -> Node { contract.dereferenced(parameter["schema"] ?? Node("")) }

    @Test func `Examples and defaults are taken by the grammar`() throws {
        for described in try contract.parameters(of: "/image", "get") {
            let name = try #require(described["name"]?.string)
            if let row = AccessParameters.table.parameters.first(where: { $0.name == name }) {
                var draft = AccessParameters.Draft()
                #expect(throws: Never.self) { try row.assign(described["example"]?.string, &draft) }
                continue
            }
            let values = [described["example"]?.string, schema(of: described)["default"]?.string].compactMap { $0 }
            #expect(!values.isEmpty, "\(name)")
            for value in values {
                var query = "\(name)=\(value)"
                if name != "url" { query += "&url=https://example.com/photo.jpg" }
                if name.hasPrefix("fp"), value == described["example"]?.string { query += "&a=focal" }
                if name.hasPrefix("mark"), name != "mark" { query += "&mark=logo" }
                if name == "layers" { query += "&mark.photo=logo&mark.logo=logo" }
                if name == "facezoom" { query += "&a=face" }
                if name == "target" { query += "&q=auto" }
                if name == "pick" { query += "&n=2" }
                if name == "fields" { query += "&output=json" }
                if name.hasPrefix("text"), name != "text" { query += "&text=a" }
                if name == "mbg" || name == "mtrim" { query += "&mask=star" }
                if name == "tbg" || name == "tcorner" { query += "&trim" }
                if name == "focus" { query += "&a=focal&w=9&h=9&fit=cover" }
                if name == "layout" { query += "&rules=imgproxy" }
                if name == "sharpf" || name == "sharpj" { query += "&sharp=1" }
                #expect(throws: Never.self, "\(query)") { try grammar.parse(query) }
            }
        }
        for described in try contract.parameters(of: "/info", "get").dropLast(2) {
            let pair = "\(try #require(described["name"]?.string))=\(try #require(described["example"]?.string))"
            let query = pair.hasPrefix("url=") ? pair : "url=https://example.com/photo.jpg&" + pair
            #expect(throws: Never.self, "\(query)") { try ImageQueryGrammar.info().parse(query) }
        }
        for described in try contract.parameters(of: "/cache", "delete") {
            let name = try #require(described["name"]?.string)
            var query = "\(name)=\(try #require(described["example"]?.string))"
            if ["tier", "soft", "dry_run", "wait", "edges"].contains(name) { query += "&all=true" }
            #expect(throws: Never.self, "\(query)") { try purgeGrammar.parse(query) }
        }
    }

    @Test func `Patterns match what the grammar takes and not what it refuses`() throws {
        let samples = [
            "crop": (
                good: ["0,0,1,1", "10,20,300,400", "10p,0,33.33%,100p"],
                bad: ["1,2,3", "a,b,c,d", "-1,0,1,1", "0,0,101p,1", "0,0,1.5,1"]
            ),
            "ar": (good: ["16:9", "1.91:1"], bad: ["16", "16/9", "1.234:1", ":1", "-1:1"]),
            "duotone": (good: ["1e3a8a,fde68a", "navy,gold"], bad: ["navy", "navy,", "a,b", "red,red,red"]),
            "preset": (good: ["avatar", "A-b_1"], bad: ["", "a b", "é", String(repeating: "a", count: 33)]),
            "s": (
                good: ["k1." + String(repeating: "A", count: 43)],
                bad: ["", "k1.", String(repeating: "A", count: 43), "k1." + String(repeating: "A", count: 44), "k 1.A"]
            ),
            "q": (good: ["auto", "1", "75", "100"], bad: ["", "0", "05", "101", "AUTO", "7.5"]),
            "digest": (
                good: ["md5:9e107d9d372bb6826bd81d3542a419d6", "sha256:" + String(repeating: "0F", count: 32)],
                bad: ["", "md5:9e", "9e107d9d372bb6826bd81d3542a419d6", "MD5:9e107d9d372bb6826bd81d3542a419d6"]
            ),
            "page": (
                good: ["1", "999999999", "largest", "smallest", "upto:2"],
                bad: ["", "0", "-1", "1000000000", "last", "upto:"]
            ),
            "maxage": (good: ["1s", "1h", "365d", "525600m"], bad: ["3600", "1S", "h", "1.5h"]),
            "filename": (
                good: ["a.jpg", "A-b_1", "a.*", "Köln.*", "写真"],
                bad: [".a", "a b", "a/b", ".*", "*", "a*", "\u{180e}"]
            ),
            "bg": (
                good: ["fff", "#ffff", "FFcc00", "ff000080", "red", "blur"], bad: ["ff", "#red", "12345", "rgb(1,2,3)"]
            ),
            "tint": (good: ["fff"], bad: ["ff"]), "tbg": (good: ["fff"], bad: ["ff"]),
            "rbg": (good: ["fff"], bad: ["ff"]), "cbg": (good: ["fff"], bad: ["ff"]),
            "inset": (good: ["0", "20,30,20,0"], bad: ["", "-1", "1,2,3,4,5", "10000"]),
            "focus": (good: ["0,0", "589,401.5"], bad: ["", "1", "-1,0", "1.255,0", "1,2,3"]),
            "steps": (
                good: [
                    "blur:5", "blur:5,ro:90,mark", "linear:1:-2:0:3", "fill:#fff:1:2:3:4", "text:a%20~_:c:b-5p:h9:red",
                ],
                bad: ["", "blur:", "Blur:5", "blur:5,", ",flip", "crop:1", "blur:5;flip"]
            ),
            "layout": (
                good: ["fit", "fill-down,dpr:2", "crop:0.5:200:top:0:-10"],
                bad: ["", "Fit", "fit,", "dpr:", "fit;fill"]
            ),
            "cut": (good: ["0,0,1,1", "10p,0,33.33%,100p"], bad: ["1,2,3", "a,b,c,d", "-1,0,1,1", "0,0,101p,1"]),
            "v": (good: ["1", "a-b.c", "~"], bad: ["", "a b", "é", String(repeating: "a", count: 101)]),
            "_": (good: ["1700000000"], bad: ["", "a b", "é"]),
            "text": (
                good: ["a", "<b>&", "é😀", "a\nb", String(repeating: "x", count: 200)],
                bad: ["", "a\rb", "a\tb", "\u{85}", "\u{2028}", String(repeating: "x", count: 201)]
            ),
            "textcolor": (good: ["fff"], bad: ["ff"]),
            "border": (
                good: ["0", "4", "4,f00", "999,#ff000080"], bad: ["", "1000", "4,", ",red", "4,red,blue", "-1"]
            ),
            "radius": (good: ["0", "12,5%", "100p", "1,2,3,4"], bad: ["", "101%", "1,2,3,4,5", "1,", "-1", "1px"]),
            "mbg": (good: ["fff"], bad: ["ff"]),
            "pad": (good: ["0", "1,2", "1,2,3,9999"], bad: ["", "10000", "1,2,3,4,5", "1,", "-1", "5%"]),
            "formats": (
                good: ["webp", "avif,webp", "jxl,avif,webp", "none"],
                bad: ["", "png", "avif,", "avif, webp", "none,webp"]
            ),
            "fields": (good: ["color", "all", "blurhash,exif"], bad: ["", "color,", ",color", "gps", "color lqip"]),
            "placeholder": (good: ["color", "lqip,blurhash"], bad: ["", "all", "lqip,", "lqip,palette"]),
            "prefix": (
                good: ["https://a", "http://a.org:81/x?y", "local:///a", "s3://media/a", "shop:a/b", "shop:"],
                bad: [
                    "a", "https://", "https:///a", "ftp://a/", "https://A.org/", "https://a?b", "https://a/#b", "s3://",
                    "s3://a@b/", "shop:/a", "shop:a#b", "Shop:a",
                ]
            ),
            "mark": (
                good: ["logo", "A-b_1", "https://a.org/b.png", "local:///a", "s3://a/b", "shop:a/b"],
                bad: ["", "a.png", "a b", ":a", "1:a", "a:", String(repeating: "a", count: 33)]
            ),
            "redact": (
                good: ["face", "face:pixelate", "face:fff", "face:black"], bad: ["", "faces", "face:", "face:12345"]
            ),
            "layers": (good: ["a", "photo,title-1"], bad: ["", "a,", "A", "a b", "a.b"]),
            "host": (good: ["a.org", "A", "::1"], bad: ["a.org:80", "[::1]", "a/b", ""]),
            "default-for": (good: ["404", "404,410"], bad: ["", "400", "404,", ",404", "404 410"]),
            "tag": (good: ["a", "a b"], bad: ["", "é", "a\tb"]),
        ]
        let all = try contract.parameters(of: "/image", "get") + contract.parameters(of: "/cache", "delete")
        let withPattern = all.compactMap { described in
            schema(of: described)["pattern"]?.string.map { (name: described["name"]?.string ?? "", pattern: $0) }
        }
        #expect(Set(withPattern.map(\.name)) == Set(samples.keys))
        for (name, pattern) in withPattern {
            let regex = try Regex(pattern).matchingSemantics(.unicodeScalar)
            for text in samples[name]?.good ?? [] { #expect(text.contains(regex), "\(name)=\(text)") }
            for text in samples[name]?.bad ?? [] { #expect(!text.contains(regex), "\(name)=\(text)") }
        }
    }
}
