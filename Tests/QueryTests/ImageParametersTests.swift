import DarkroomRequests
import DarkroomTransforms
import Testing

@testable import DarkroomQuery

/// Every parameter with values that it accepts and values that it refuses.
struct ImageParametersTests {
    private let grammar = ImageQueryGrammar()

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var good: [String?]
        var bad: [String?]
        /// What must be given with it.
        var beside = ""

        init(_ name: String, good: [String?], bad: [String?], beside: String = "") {
            (self.name, self.good, self.bad, self.beside) = (name, good, bad, beside)
        }

        var testDescription: String { name }
    }

    private static let notWhole: [String?] = [
        "", nil, "x", "1.5", "+1", "0x10", "1e3", "１", " 1", "99999999999999999999",
    ]
    private static let notNumbers: [String?] = [
        "x", "-1", "nan", "inf", "0x1p1", ".", "1.", ".5", "1,5", "1.5.1", "1e", "e0", "1e0.0", "1e-", "1e0e0",
        "1e+0000",
    ]
    private static let booleans: [String?] = [nil, "", "true", "false", "1", "0"]
    private static let colors: [String?] = [
        "f00", "F00", "f008", "ff0000", "ff000080", "%23f00", "red", "RebeccaPurple",
    ]
    private static let notColors: [String?] = [nil, "", "f", "ff", "fffff", "ggg", "reddish", "rgb(1,2,3)", "ｆｆｆ"]

    private static let percentages: [String?] = ["1p", "50p", "50%25", "33.33p", "12.5%25", "100p", "800p"]
    private static let notPercentages: [String?] = [
        "p", "%25", "0p", "0.99p", "800.01p", "50.555p", "50.p", ".5p", "-5p", "5e1p", "0500p", "50pp", "50p%25", "50P",
    ]

    static let rows = own + foreign

    private static let own = [
        Row("w", good: ["1", "400", "8192"] + percentages, bad: ["0", "-1", "8193"] + notWhole + notPercentages),
        Row("h", good: ["1", "400", "8192"] + percentages, bad: ["0", "-1", "8193"] + notWhole + notPercentages),
        Row(
            "dpr", good: ["1", "1.0", "2.5", "1.25", "1.250", "8", "8.00", "125e-2", "1.1500000000000001"],
            bad: ["0", "0.99", "8.01", "1.255", "1255e-3", "1e1", "", nil] + notNumbers),
        Row("fit", good: ["inside", "outside", "cover", "contain", "fill", "Cover"], bad: ["", nil, "stretch"]),
        Row("enlarge", good: booleans, bad: ["yes", "TRUE", "2"]),
        Row("scaledown", good: booleans, bad: ["yes", "TRUE", "2"]),
        Row("we", good: booleans, bad: ["yes", "TRUE", "2"]),
        Row(
            "a",
            good: [
                "center", "top", "top-right", "right", "bottom-right", "bottom", "bottom-left", "left", "top-left",
                "entropy",
                "attention", "face", "faces", "focal", "c", "t", "tr", "r", "br", "b", "bl", "l", "tl", "right-top",
                "left-bottom",
            ], bad: ["", nil, "middle", "top-bottom", "focal-1-2"]),
        Row(
            "facezoom", good: ["0", "0.25", "1"], bad: ["1.01", "", nil] + notNumbers,
            beside: "&w=9&h=9&fit=cover&a=face"),
        Row(
            "fpx", good: ["0", "0.25", "1", "1.0", "0.3333333333333333"], bad: ["1.01", "", nil] + notNumbers,
            beside: "&a=focal"),
        Row("fpy", good: ["0", "0.25", "1", "1.0"], bad: ["1.01", "", nil] + notNumbers, beside: "&a=focal"),
        Row(
            "ar", good: ["16:9", "16%3A9", "1:1", "1.91:1", "2.5:1.25", "9999.99:0.01"],
            bad: [
                "", nil, "16", "16:", ":9", "16:9:1", "16/9", "16x9", "0:1", "1:0.00", "-1:1", "1.234:1", "1e1:1",
                "a:b",
            ]),
        Row("min-w", good: ["1", "400", "8192"], bad: ["0", "-1", "8193", "50p"] + notWhole),
        Row("min-h", good: ["1", "400", "8192"], bad: ["0", "-1", "8193", "50p"] + notWhole),
        Row("resample", good: ["fast", "accurate", "linear"], bad: ["", nil, "best"]),
        Row(
            "crop", good: ["0,0,1,1", "10,20,300,400", "0%2C0%2C1%2C1", "0p,10,50p,33.33%25", "100p,0,1,100p"],
            bad: [
                "", nil, "1,2,3", "1,2,3,4,5", "-1,0,1,1", "0,0,0,1", "0,0,1,0", "a,b,c,d", "0,0,1,1.5", "1,,2,3",
                "0,0,1,9999999999", "0,0,0p,1", "0,0,101p,1", "101p,0,1,1", "0,0,1.234p,1",
            ]),
        Row("trim", good: [nil, "", "1", "10", "254"], bad: ["0", "255", "-1", "x", "true"]),
        Row("orient", good: ["auto", "none", "1", "8", "Auto"], bad: ["", nil, "0", "9"]),
        Row("ro", good: ["0", "90", "359"], bad: ["360", "-90"] + notWhole),
        Row("flip", good: booleans, bad: ["yes"]),
        Row("flop", good: booleans, bad: ["yes"]),
        Row("bg", good: colors + ["blur", "Blur"], bad: notColors + ["blur5"]),
        Row("blur", good: [nil, "", "0.3", "5", "1000"], bad: ["0", "0.2", "1001"] + notNumbers),
        Row(
            "sharp", good: [nil, "", "0.000001", "1e-06", "1E-6", "5", "10"],
            bad: ["0", "10.1", "9e-7", "1e-999"] + notNumbers),
        Row("bri", good: ["-100", "0", "100"], bad: ["-101", "101"] + notWhole),
        Row("con", good: ["-300", "0", "100", "300"], bad: ["-301", "301"] + notWhole),
        Row("sat", good: ["0", "1", "1.5", "10"], bad: ["10.1", "", nil] + notNumbers),
        Row("hue", good: ["0", "180", "359"], bad: ["360", "-1"] + notWhole),
        Row("gam", good: [nil, "", "0.3", "1", "2.2", "3"], bad: ["0.2", "3.1"] + notNumbers),
        Row("tint", good: colors, bad: notColors),
        Row(
            "duotone", good: ["1e3a8a,fde68a", "navy,gold", "%23fff,000", "f008,RED", "red%2Cblue"],
            bad: ["", nil, "red", "red,", ",red", "red,reddish", "red,blue,gold", "red;blue"]),
        Row(
            "redact", good: ["face", "face:blur", "face:pixelate", "face:red", "face:0f0"],
            bad: ["", nil, "eyes", "face:", "face:none", "face:12"]),
        Row(
            "pixelate", good: ["2", "10", "1000", "0.1p", "5p", "100%25"],
            bad: ["0", "1", "1001", "0p", "0.09p", "100.01p", "101p"] + notWhole),
        Row(
            "mark", good: ["logo", "A-b_1", "https://a.org/b.png", "local:///a.png", "s3://a/b", "shop:a/b"],
            bad: ["", nil, "a.png", "a b", ":a", "1:a", "a:", String(repeating: "a", count: 33)]),
        Row(
            "markw", good: ["1", "8192", "25p", "25%25", "12.5p", "100p", "0.01p"],
            bad: ["0", "8193", "0p", "100.01p", "1.234p", "1.5", "-1", "-5p", "p", "", nil, "1e2p"], beside: "&mark=a"),
        Row("markh", good: ["1", "8192", "25p"], bad: ["0", "8193", "0p", "x", "", nil], beside: "&mark=a"),
        Row(
            "marka",
            good: [
                "center", "top", "top-right", "right", "bottom-right", "bottom", "bottom-left", "left", "top-left",
                "tile", "c", "tl", "right-top",
            ], bad: ["", nil, "entropy", "focal", "middle"], beside: "&mark=a"),
        Row(
            "markx", good: ["0", "-5", "8192", "-8192", "0p", "-2.5p", "100p"],
            bad: ["8193", "-8193", "101p", "--1", "+1", "1pp", "", nil], beside: "&mark=a"),
        Row("marky", good: ["0", "-5", "10p"], bad: ["8193", "x", "", nil], beside: "&mark=a"),
        Row("markalpha", good: ["1", "50", "100"], bad: ["0", "101", "-1"] + notWhole, beside: "&mark=a"),
        Row("markblend", good: ["over", "color-dodge", "screen"], bad: ["", nil, "add"], beside: "&mark=a"),
        Row(
            "layers", good: ["a,b", "b,a"], bad: ["", nil, "a", "a,a", "A,b", "a,b,c", "a.b"],
            beside: "&mark.a=logo&text.b=c"),
        Row("filt", good: ["greyscale", "sepia", "negate", "bitonal"], bad: ["", nil, "grayscale", "duotone"]),
        Row(
            "text",
            good: [
                "a", "a%20b", "a+b", "%3Cb%3E%26", "é", "%F0%9F%98%80", "بب", "a%0Ab",
                String(repeating: "é", count: 200),
            ],
            bad: ["", nil, "a%0Db", "%09", "%00", "%C2%85", "%E2%80%A8", "%7F", String(repeating: "x", count: 201)]),
        Row("textsize", good: ["6", "500"], bad: ["5", "501"] + notWhole, beside: "&text=a"),
        Row("textcolor", good: colors, bad: notColors, beside: "&text=a"),
        Row(
            "texta",
            good: [
                "center", "top", "top-right", "right", "bottom-right", "bottom", "bottom-left", "left", "top-left",
                "Top", "c", "tl", "right-bottom",
            ], bad: ["", nil, "middle", "entropy", "focal", "tile"], beside: "&text=a"),
        Row(
            "border", good: ["0", "4", "4,f00", "4,%23ff000080", "999,RebeccaPurple"],
            bad: ["", nil, "-1", "-0", "1000", "4,", "4,reddish", ",red", "4,red,blue", "4px", "１"]),
        Row(
            "radius", good: ["0", "12", "9999", "50%25", "50p", "0p", "100%25", "1,2", "1,2p,3", "1,2,3,4"],
            bad: [
                "", nil, "-1", "-0", "10000", "101%25", "101p", "%25", "p", "5pp", "1,2,3,4,5", "1,,2", "1.5", "1px",
                "x",
            ]),
        Row(
            "mask",
            good: [
                "circle", "ellipse", "triangle", "triangle-180", "pentagon", "pentagon-180", "hexagon", "square",
                "star", "heart", "Circle",
            ], bad: ["", nil, "octagon", "hexagon-180"]),
        Row("mbg", good: colors, bad: notColors, beside: "&mask=circle"),
        Row("mtrim", good: booleans, bad: ["yes"], beside: "&mask=circle"),
        Row(
            "pad", good: ["0", "10", "9999", "1,2", "1,2,3", "1,2,3,4"],
            bad: ["", nil, "-1", "-0", "10000", "1,2,3,4,5", "1,,2", "1.5", "5%25", "1px"]),
        Row(
            "output",
            good: [
                "auto", "jpg", "jpeg", "png", "webp", "avif", "gif", "jxl", "tiff", "tif", "json", "blurhash",
                "thumbhash", "color", "lqip", "origin", "JPG", "Json", "blurHash",
            ], bad: ["", nil, "svg", "heic"]),
        Row(
            "fields",
            good: [
                "color", "palette", "blurhash,thumbhash", "lqip,exif,color", "all", "color%2Clqip", "All", "wsrv",
            ],
            bad: ["", nil, "colour", "color,", ",color", "color,,lqip", "color lqip", "gps"],
            beside: "&output=json"),
        Row(
            "placeholder",
            good: [
                "color", "blurhash,thumbhash", "lqip,lqip", "thumbhash,color,lqip,blurhash", "color%2Clqip", "Color",
            ],
            bad: ["", nil, "colour", "color,", ",color", "palette", "exif", "all", "color lqip", "wsrv"]),
        Row("q", good: ["1", "75", "100", "auto", "Auto"], bad: ["0", "05", "101", "auto,high"] + notWhole),
        Row("target", good: ["high", "medium", "low", "High"], bad: ["", nil, "75"], beside: "&q=auto"),
        Row("slow_q", good: ["1", "100"], bad: ["0", "101", "-1", "auto", ""] + notWhole),
        Row("max_bytes", good: ["1", "100000000"], bad: ["0", "-1", "100000001", "10k"] + notWhole),
        Row("chroma", good: ["420", "444"], bad: ["", nil, "422", "4:4:4"]), Row("nl", good: booleans, bad: ["yes"]),
        Row("palette", good: booleans, bad: ["yes", "256"]),
        Row("passthrough", good: ["auto", "off", "Auto"], bad: ["", nil, "on", "true"]),
        Row("metadata", good: ["none", "rights", "all", "All"], bad: ["", nil, "keep", "true"]),
        Row("gamut", good: ["srgb", "p3", "source", "P3"], bad: ["", nil, "adobe", "true"]),
        Row("depth", good: ["8", "source", "Source"], bad: ["", nil, "10", "16", "true"]),
        Row("hdr", good: ["keep", "drop", "Keep"], bad: ["", nil, "auto", "true"]),
        Row("damaged", good: ["refuse", "show", "Show"], bad: ["", nil, "on", "true"]),
        Row("l", good: ["1", "9"], bad: ["0", "10"] + notWhole), Row("af", good: booleans, bad: ["yes"]),
        Row("ll", good: booleans, bad: ["yes"]),
        Row("il", good: booleans, bad: ["yes"]),
        Row("n", good: ["1", "100000"], bad: ["0", "100001", "-1"] + notWhole),
        Row("pick", good: ["first", "even", "Even"], bad: ["", nil, "last", "true"], beside: "&n=9"),
        Row(
            "digest", good: ["md5:9e107d9d372bb6826bd81d3542a419d6", "sha1:" + String(repeating: "aB", count: 20)],
            bad: [
                "", nil, "md5:", "md5:9e107d9d372bb6826bd81d3542a419dg", "md4:9e107d9d372bb6826bd81d3542a419d6", "md5",
            ]),
        Row(
            "page", good: ["1", "999", "largest", "Smallest", "upto:9", "UPTO:1"],
            bad: ["0", "-1", "largest2", "upto:", "upto:0", "upto:largest"] + notWhole),
        Row("default", good: ["https://example.com/b.png", "b"], bad: ["", nil]),
        Row("default-for", good: ["404", "404,410", "410,404,404"], bad: ["", nil, "400", "404,", "404;410", "4xx"]),
        Row(
            "cache",
            good: [
                "default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached", "refresh", "No-Cache",
            ],
            bad: ["", nil, "standard", "noStore", "max-age=0"]),
        Row(
            "store", good: ["all", "memory", "original", "variant", "none", "All"], bad: ["", nil, "disk", "originals"]),
        Row(
            "formats", good: ["webp", "avif,webp", "jxl,avif,webp", "AVIF"],
            bad: ["", nil, "png", "webp,webp", "avif,", ",avif", "avif, webp", "webp,WebP"]),
        Row("wait", good: ["stored", "best", "Stored"], bad: ["", nil, "true"]),
        Row("priority", good: ["low", "normal", "high", "High"], bad: ["", nil, "background", "3"]),
        Row(
            "maxage", good: ["1s", "1h", "60m", "59m", "1d", "2w", "1y", "365d", "525600m", "31536000s"],
            bad: [
                "", nil, "0s", "0h", "366d", "2y", "31536001s", "3600", "1S", "1M", "h", "1.5h", "-1d", "1 d", "+1d",
                "99999999y",
            ]),
        Row(
            "filename",
            good: [
                "a", "a.*", "photo.jpg", "A-b_c.1", String(repeating: "x", count: 100), "%C3%A9", "K%C3%B6ln.*",
                "%E5%86%99%E7%9C%9F.jpg", String(repeating: "%C3%A9", count: 100),
            ],
            bad: [
                "", nil, ".*", "*", "a*", ".hidden", "a/b", "a b", "a%22b", "a%0d%0ab", "a%C2%85", "%E2%80%AEgpj.exe",
                "a%D8%9Cb", "a%E3%80%80b", "a%C2%A0b", String(repeating: "%C3%A9", count: 101),
                String(repeating: "x", count: 101),
            ]),
    ]

    private static func listed(_ entries: String, _ count: Int) -> String {
        Array(repeating: entries, count: count).joined(separator: ",")
    }

    /// Parameters that weserv/images has too, and what belongs to its dialect.
    private static let foreign = [
        Row("compat", good: ["darkroom", "wsrv", "WSRV"], bad: ["", nil, "imgproxy", "imgix"]),
        Row(
            "rules", good: ["darkroom", "wsrv", "Wsrv", "imgproxy", "thumbor", "cloudflare"],
            bad: ["", nil, "weserv"]),
        Row(
            "inset", good: ["0", "5", "1,2", "1,2,3", "20,30,20,0", "9999"],
            bad: ["", nil, "-1", "1.5", "10000", "1,2,3,4,5", "1;2"]),
        Row("tcorner", good: ["top-left", "bottom-right"], bad: ["", nil, "bottom-left"], beside: "&trim"),
        Row(
            "focus", good: ["0,0", "589,401.5", "9999999,1.25"],
            bad: ["", nil, "1", "1,2,3", "-1,0", "1.255,0", "a,b"],
            beside: "&w=9&h=9&fit=cover&a=focal"),
        Row("swap", good: booleans, bad: ["yes", "2"]),
        Row(
            "steps",
            good: [
                "blur:5", "blur:0.3,blur:1000", "sharp:1", "sharp:1:0:2", "bri:-100", "con:300", "mod:0", "sat:10",
                "hue:359", "gam:0.3", "linear:1.5:-20:0:30000", "filt:sepia", "pixelate:2", "pixelate:50p", "ro:90",
                "ro:180,ro:270", "flip,flop", "cut:0:10:50p:33.3p", "trim", "trim:1", "trim:254:bottom-right",
                "scale:50p", "scale:0.01p", "round:9", "round:9:5", "round:9:5:red", "fill:auto", "fill:blur:1:2:3:4",
                "fill:transparent", "pad:fff:1:2:3:4", "bg:auto", "bg:%2300f",
                "mod:1:0.5:359", "text:a:l:t:9:red", "text:%2520%253A:c-5:b10p:h500:ff000080:serif-bold-italic:99p",
                "text:a:r-9:c:9:red,text:b:l:t:9:red:monospace", listed("trim", 8), listed("flip", 8) + ",flop",
                listed("text:a:l:t:9:red", 16), "text:a:l:t:9:red:sans:-:multiply",
            ],
            bad: [
                "", nil, "blur", "blur:", "blur:0", "blur:1:2", "sharp:1:2", "bri:1.5", "hue:360", "linear:1", "ro:45",
                "ro:0", "flip:1", "cut:1:2:3", "cut:-1:0:1:1", "trim:0", "trim:5:left", "scale:50", "scale:101p",
                "round", "round:-1", "fill", "fill:red:1", "pad:red", "bg:nocolor", "blur:1,", ",blur:1", "crop:1",
                "mark,mark", "text", "mark", "mod:1:2", "mod:1:1:360", "mark:l:t", "text:a:l:t:9", "text:a:t:l:9:red",
                "text:a:l:t:5:red", "text:a:l:t:h501:red", "text:a:l101p:t:9:red", "text:a:l:t:9:red:arial",
                "text:a:l:t:9:red:sans-italic-bold", "text:a:l:t:9:red:sans:-:add", "text:a:l:t:9:red:sans:0",
                "text:%250D:l:t:9:red", "text::l:t:9:red",
                listed("trim", 9), listed("blur:1,blur:2,flip", 5), listed("text:a:l:t:9:red", 17),
                listed("blur:1,ro:90,flip,flop,trim,scale:99p,bri:1,con:1,sat:2", 8),
            ]),
        Row(
            "layout",
            good: [
                "fit", "fill-down", "auto,dpr:2", "zoom:0.5", "zoom:0.5:2,force", "crop:0.5:0", "crop:100:50:attention",
                "crop:1:2:top:0:-3.5,gravity:focal:0:1", "gravity:bottom-right:10:0.1",
                "extend:center,extendar:focal:0:1",
                "even:xy", "maxside:1000",
            ],
            bad: [
                "", nil, "Fit", "fit,fill", "dpr:0", "dpr:-1", "dpr:1e3", "dpr:1:2", "zoom", "zoom:1:2:3", "crop:0:0",
                "crop:1",
                "gravity", "gravity:attention:1:2", "gravity:focal", "gravity:focal:1:2", "gravity:top:1", "gravity:up",
                "extend", "extend:attention", "even:yx", "maxside:0", "maxside:1.5", "dpr:2,dpr:2", "fit,", "fit;fill",
            ], beside: "&rules=imgproxy"),
        Row(
            "cut", good: ["0,0,1,1", "10,20,300,400", "0p,10,50p,33.33%25", "100p,0,1,100p"],
            bad: ["", nil, "1,2,3", "1,2,3,4,5", "-1,0,1,1", "0,0,0,1", "a,b,c,d", "0,0,1,1.5", "0,0,101p,1"]),
        Row("tbg", good: colors, bad: notColors, beside: "&trim"),
        Row("rbg", good: colors, bad: notColors, beside: "&ro=30"),
        Row("cbg", good: colors, bad: notColors, beside: "&w=9&h=9&fit=contain"),
        Row("mod", good: ["0", "1", "1.5", "10"], bad: ["10.1", "", nil] + notNumbers),
        Row("sharpf", good: ["0", "1.5", "1000000"], bad: ["1000001", "", nil] + notNumbers, beside: "&sharp=1"),
        Row("sharpj", good: ["0", "1.5", "1000000"], bad: ["1000001", "", nil] + notNumbers, beside: "&sharp=1"),
        Row("v", good: [nil, "", "1", "a-b", "~!"], bad: ["a%20b", "é", "%0A", String(repeating: "1", count: 101)]),
        Row("_", good: [nil, "", "1700000000"], bad: ["a%20b", "é"]),
        Row("attachment", good: booleans, bad: ["yes"]),
        Row("encoding", good: ["binary", "base64", "Base64"], bad: ["", nil, "hex"]),
    ]

    @Test(arguments: rows)
    func `Each parameter accepts its values and refuses others by name`(row: Row) throws {
        for value in row.good {
            #expect(throws: Never.self, "\(value ?? "bare")") { try grammar.parse(query(row, value)) }
        }
        for value in row.bad {
            let error = #expect(throws: InvalidParameter.self, "\(value ?? "bare")") {
                try grammar.parse(query(row, value))
            }
            #expect(error?.parameter == row.name)
        }
    }

    @Test func `The table above has every parameter but the url`() {
        #expect(Set(Self.rows.map(\.name)).union(["url"]) == Set(grammar.table.parameters.map(\.name)))
    }

    private func query(_ row: Row, _ value: String?) -> String {
        "url=https://example.com/a.jpg\(row.beside)&\(row.name)" + (value.map { "=\($0)" } ?? "")
    }

    @Test func `A query to info equals the one to image for its document`() throws {
        let info = ImageQueryGrammar.info()
        var caching = try info.parse("url=x&fields=cache,color")
        #expect(caching.includesCaching)
        caching.includesCaching = false
        #expect(try caching == info.parse("url=x&fields=color"))
        #expect(throws: InvalidParameter.self) { try grammar.parse("url=x&output=json&fields=cache") }
        let rest = "&fields=exif,color&page=2&cache=force-cache&store=memory&maxage=1h"
        #expect(try info.parse("url=x" + rest) == grammar.parse("url=x&output=json" + rest))
        #expect(try info.parse("url=x") == grammar.parse("url=x&output=json"))
        #expect(try info.parse("url=x&gps") == info.parse("url=x&gps=true"))
        #expect(try info.parse("url=x&gps=false") == info.parse("url=x"))
        #expect(try info.parse("url=x&gps").includesPosition)
        #expect(throws: InvalidParameter.self) { try grammar.parse("url=x&output=json&gps") }
        for query in [
            "url=x&gps=yes", "url=x&w=1", "url=x&output=json", "url=x&default=y", "url=x&fields=gps", "fields=all",
        ] {
            #expect(throws: InvalidParameter.self, "\(query)") { try info.parse(query) }
        }
    }

    @Test func `Parameters are bounded by the limits of the server`() throws {
        let narrow = ImageQueryGrammar(
            limits: QueryLimits(maxOutputSide: 100, maxFrames: 2))
        #expect(try narrow.parse("url=x&w=100&n=2").pages.count == 2)
        #expect(throws: InvalidParameter.self) { try narrow.parse("url=x&w=101") }
        #expect(throws: InvalidParameter.self) { try narrow.parse("url=x&w=60&dpr=2") }
        #expect(throws: InvalidParameter.self) { try narrow.parse("url=x&n=3") }
    }
}
