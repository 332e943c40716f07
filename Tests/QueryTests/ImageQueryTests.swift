import DarkroomRequests
import Testing

@testable import DarkroomQuery

/// Queries are equal exactly where they mean the same.
struct ImageQueryTests {
    private let grammar = ImageQueryGrammar()

    private func parse(_ query: String) throws -> ImageQuery {
        try grammar.parse("url=https://example.com/a.jpg" + query)
    }

    @Test func `A query of nothing but a source changes nothing`() throws {
        let query = try parse("")
        #expect(query.recipe == Recipe(resampling: .fast))
        #expect(query.pages == PageSelection())
        #expect(query.output(for: ClientPreferences()) == OutputOptions())
    }

    @Test(arguments: [
        "&bri=0", "&con=0", "&sat=1.0", "&hue=0", "&gam=1", "&ro=0", "&orient=auto", "&dpr=2", "&dpr=1", "&fit=cover",
        "&a=top", "&a=focal&fpx=0.1", "&enlarge=true", "&enlarge=false", "&we", "&we=false", "&resample=linear",
        "&flip=false", "&flop=0", "&ll=false", "&il=false", "&output=auto", "&page=primary", "&bg=0000",
        "&bg=transparent",
        "&bg=ff000000", "&cache=default", "&store=all", "&scaledown=false", "&fpx=0.5&fpy=0.5",
    ])
    func `A value that does nothing by itself is as good as absent`(query: String) throws {
        #expect(try parse(query) == parse(""))
    }

    @Test(arguments: [
        ("&w=100&fit=cover", "&w=100"), ("&h=100&a=entropy&fit=contain", "&h=100"), ("&w=10&h=10&a=top", "&w=10&h=10"),
        ("&w=10&h=10&fit=outside&a=top", "&w=10&h=10&fit=outside"),
        ("&w=10&h=10&fit=fill&a=focal", "&w=10&h=10&fit=fill"),
        ("&w=10&h=10&fit=contain&a=entropy", "&w=10&h=10&fit=contain"),
        ("&w=10&h=10&fit=contain&a=focal&fpx=1&fpy=0", "&w=10&h=10&fit=contain&a=top-right"),
        ("&w=10&h=10&fit=cover&a=tl", "&w=10&h=10&fit=cover&a=left-top"),
        ("&w=10&h=10&fit=cover&a=focal&fpx=0.5", "&w=10&h=10&fit=cover&a=focal&fpy=0.50"),
        ("&w=100&dpr=2", "&w=200"), ("&w=50%25", "&w=50p"), ("&w=50.50p", "&w=50.5%25"), ("&w=25p&dpr=2", "&w=50p"),
        ("&w=160&ar=16:9", "&w=160&h=90&fit=cover"), ("&h=90&ar=16:9&a=top", "&w=160&h=90&fit=cover&a=top"),
        ("&w=80&ar=16:9&dpr=2", "&w=160&h=90&fit=cover"), ("&w=160&ar=16:9&fit=contain", "&w=160&h=90&fit=contain"),
        ("&ar=1.5:1", "&ar=3:2&fit=cover"), ("&ar=4:3&enlarge&resample=linear", "&ar=4:3"),
        ("&w=50p&ar=32:18", "&w=50p&ar=16:9"), ("&crop=10%25,0,50.0p,9", "&crop=10p,0,50p,9"),
        ("&min-w=100&fit=cover&a=top", "&min-w=100"), ("&min-w=50&dpr=2", "&min-w=100"),
        ("&w=9&h=9&fit=contain&min-w=5", "&w=9&h=9&fit=contain"),
        ("&w=9&h=9&fit=cover&enlarge&min-w=5&min-h=9", "&w=9&h=9&fit=cover&enlarge"),
        ("&duotone=red,blue", "&duotone=f00,00ff"), ("&pixelate=5.0p", "&pixelate=5%25"),
        ("&w=9&h=9&fit=contain&bg=transparent", "&w=9&h=9&fit=contain&bg=ff00"), ("&w=101&dpr=1.5", "&w=152"),
        ("&w=101&dpr=1.25", "&w=126"),
        ("&we&w=100", "&w=100&enlarge=false"), ("&trim", "&trim=10"), ("&gam", "&gam=2.2"), ("&blur=5", "&blur=5.0"),
        ("&orient=1", "&orient=none"), ("&tint=f00", "&tint=ff000080"), ("&bg=white", "&bg=FFF"),
        ("&output=jpeg", "&output=jpg"), ("&output=tif", "&output=tiff"), ("&output=jpg&q=80", "&output=jpg"),
        ("&output=png&q=10", "&output=png"), ("&output=jpg&ll", "&output=jpg"),
        ("&output=webp&ll&q=10", "&output=webp&ll"),
        ("&output=webp&il", "&output=webp"), ("&ll&q=10", "&ll"), ("&maxage=60m", "&maxage=1h"),
        ("&maxage=60s", "&maxage=1m"), ("&scaledown", "&scaledown=1"),
        ("&maxage=1y", "&maxage=365d"), ("&placeholder=lqip,color,lqip", "&placeholder=color,lqip"),
    ])
    func `Two spellings of one meaning are equal`(one: String, other: String) throws {
        #expect(try parse(one) == parse(other))
        #expect(try parse(one) != parse(""))
    }

    @Test(arguments: [
        ("&w=100", "&h=100"), ("&w=100", "&w=100p"), ("&ar=1:1", "&ar=1:1&fit=contain"), ("&ar=1:1", "&ar=2:1"),
        ("&w=50p&ar=1:1", "&w=50p"), ("&min-w=9", "&min-h=9"), ("&w=9&min-h=5", "&w=9&min-h=5&a=top"),
        ("&w=9&h=9&fit=cover&min-w=5", "&w=9&h=9&fit=cover"), ("&duotone=red,blue", "&duotone=blue,red"),
        ("&pixelate=5", "&pixelate=5p"), ("&crop=0,0,5,5", "&crop=0,0,5p,5"),
        ("&w=9&h=9&fit=contain&bg=transparent", "&w=9&h=9&fit=contain"), ("&w=100", "&w=101"),
        ("&w=9&h=9&fit=cover", "&w=9&h=9&fit=contain"),
        ("&w=100", "&w=100&enlarge"), ("&w=100", "&w=100&resample=linear"), ("&blur", "&blur=1"),
        ("&sharp", "&sharp=1"),
        ("&flip", "&flop"), ("&orient=none", "&orient=auto"), ("&output=auto", "&output=jpg"), ("&n=1", "&page=1"),
        ("", "&page=1"),
        ("&n=1", "&n=2"), ("&page=2", "&page=3"), ("&bg=fff", "&bg=fffe"), ("&sat=0", "&filt=greyscale"),
        ("&page=largest", "&page=smallest"), ("&page=3", "&page=upto:3"), ("&n=3", "&n=3&pick=even"),
        ("&page=largest", ""), ("&l=9", ""), ("&af", ""),
        ("&q=50", "&q=51"), ("&q=auto", ""), ("&q=auto", "&q=auto&target=high"), ("&max_bytes=900", ""),
        ("&slow_q=40", ""),
        ("&chroma=420", ""), ("&chroma=420", "&chroma=444"),
        ("&max_bytes=900", "&maxbytes=901"), ("&nl", ""), ("&nl", "&ll"), ("&palette", ""),
        ("&passthrough=auto", ""), ("&output=png&passthrough=auto", "&output=png"),
        ("&maxage=1h", "&maxage=2h"), ("&cache=reload", "&cache=refresh"), ("&store=none", "&store=memory"),
        ("&wait=stored", "&store=all"),
        ("&priority=low", "&priority=normal"), ("&priority=normal", ""), ("&default=a", "&default=b"),
        ("&scaledown", ""), ("&filename=a", "&filename=b"), ("&placeholder=color", ""),
        ("&placeholder=color", "&placeholder=lqip"),
        ("&w=9&h=9&fit=cover&a=focal", "&w=9&h=9&fit=cover&a=center"),
    ])
    func `Two meanings differ`(one: String, other: String) throws {
        #expect(try parse(one) != parse(other))
    }

    @Test func `Two thousand random meanings are equal in every spelling, and only in theirs`() throws {
        var numbers = SystemRandomNumberGenerator()
        var seen: [ImageQuery: [String: String]] = [:]
        for _ in 0..<2_000 {
            let meaning = RandomMeaning.make(using: &numbers)
            let first = try parse(meaning.spelling(using: &numbers))
            for _ in 0..<3 {
                let spelling = meaning.spelling(using: &numbers)
                #expect(try parse(spelling) == first, "\(spelling)")
            }
            if let other = seen.updateValue(meaning.values, forKey: first) { #expect(other == meaning.values) }
        }
        #expect(seen.count > 1_900)
    }
}

/// Values that each mean something, with several ways to write each of them.
private struct RandomMeaning {
    var values: [String: String]

    /// Spellings of a value, the first one naming it.
    private static let choices: [String: [[String]]] = [
        "ro": [["90"], ["1"], ["270", "0270"]], "flip": [["", "=true", "=1", "="]], "flop": [["", "=true"]],
        "trim": [["10", "", "="], ["20"]], "crop": [["0,0,5,5", "00,0,5,5", "0%2C0,5,5"], ["1,1,5,5"]],
        "orient": [["none", "1"], ["6"]], "bg": [["fff", "FFFFFF", "white", "%23fff", "ffffffff"], ["f00", "red"]],
        "blur": [["", "="], ["1", "1.0"], ["2.5", "2.50"]], "sharp": [["", "="], ["1", "1.00"]],
        "bri": [["5", "05"], ["-5"]], "con": [["5"], ["-5", "-05"]], "sat": [["0", "0.0"], ["2", "2.0"]],
        "hue": [["5"], ["6"]], "gam": [["2.2", "", "="], ["3", "3.0"]], "tint": [["red", "f00", "F00F"], ["blue"]],
        "duotone": [["red,blue", "f00,00f", "red%2Cblue"], ["blue,red"]],
        "pixelate": [["5", "05"], ["5p", "5.0p", "5%25"]], "min-h": [["5", "05"], ["6"]],
        "text": [["a"], ["b", "%62"]],
        "border": [["3", "03", "3,000", "3,black"], ["3,red", "3,f00"]], "pad": [["5", "5,5,5,5"], ["1,2", "1,2,1"]],
        "radius": [["5", "05,5"], ["50p", "50%25"], ["0,1"]],
        "filt": [["sepia"], ["negate"], ["greyscale"]], "n": [["1"], ["2"]],
        "digest": [
            ["md5:9e107d9d372bb6826bd81d3542a419d6", "md5:9E107D9D372BB6826BD81D3542A419D6"],
            ["md5:9e107d9d372bb6826bd81d3542a419d7"],
        ],
        "page": [["2", "02"], ["3"], ["largest", "Largest"]],
        "maxage": [["1h", "60m", "3600s"], ["1d", "24h"], ["1w", "7d"]], "cache": [["reload"], ["force-cache"]],
        "store": [["none"], ["memory"]], "wait": [["stored"]], "priority": [["low"], ["normal"], ["high"]],
        "default": [["https://b.example/", "https%3A//b.example/"]], "scaledown": [["", "=true", "=1"]],
        "default-for": [["404,410", "410,404", "404,410,404"], ["502"]], "filename": [["a"], ["b"]],
        "output": [["jpg", "jpeg"], ["tiff", "tif"], ["png"], ["webp"]],
    ]
    private static let nothings = [
        ["dpr=1", "dpr=1.0"], ["we", "we=true", "enlarge=false", "we=false"], ["ll=false", "ll=0"], ["il=0"],
    ]

    static func make(using numbers: inout some RandomNumberGenerator) -> RandomMeaning {
        var values: [String: String] = ["w": "\(Int.random(in: 1...4_000, using: &numbers))"]
        for (name, spellings) in choices where Int.random(in: 0..<3, using: &numbers) == 0 {
            values[name] = spellings.randomElement(using: &numbers)?.first
        }
        return RandomMeaning(values: values)
    }

    func spelling(using numbers: inout some RandomNumberGenerator) -> String {
        var parts: [String] = []
        for (name, value) in values {
            let same = Self.choices[name]?.first { $0.first == value } ?? [value]
            let chosen = same.randomElement(using: &numbers) ?? value
            parts.append(chosen.isEmpty || chosen.hasPrefix("=") ? name + chosen : "\(name)=\(chosen)")
        }
        for group in Self.nothings where Bool.random(using: &numbers) {
            parts.append(group.randomElement(using: &numbers) ?? "")
        }
        return "&" + parts.shuffled(using: &numbers).joined(separator: "&")
    }
}
