import DarkroomRequests
import DarkroomTestRandom
import Testing

@testable import DarkroomQuery

struct FormatNegotiationTests {
    private static let webP = FormatList([.webp]) ?? FormatList()

    private func list(_ text: String) throws -> FormatList {
        text.isEmpty ? FormatList() : try #require(FormatList(parsing: text))
    }

    @Test(arguments: [
        "image/webp", "IMAGE/WebP", "image/avif,image/webp,*/*;q=0.8", " image/webp ", "image/webp;q=0.001",
        "image/webp; q=1.000", "image/webp;Q=0.5", "text/html,image/webp;v=1;q=0.2", "image/webp;q=0, image/webp",
        #"text/plain;x="a,b;c\"";q=0, image/webp"#, "image/webp\t;q=1,",
    ])
    func `WebP is accepted where it is named`(accept: String) {
        #expect(AcceptField(accept).named(of: Self.webP).formats == [.webp])
    }

    @Test(arguments: [
        nil, "", "*/*", "image/*", "image/jpeg", "image/webp;q=0", "image/webp;q=0.000", "image/webp; q=0",
        "image/webp;q=",
        "image/webp;q=nan", "image/webp;q=2", "image/webp;q=0.12345", "image/webp2", "ximage/webp",
        "text/plain;image/webp",
        #"text/plain;x="image/webp""#, #"text/plain;x=", image/webp"#, "image / webp",
    ])
    func `WebP is not accepted where it is not named, or refused`(accept: String?) {
        #expect(AcceptField(accept).named(of: Self.webP).isEmpty)
    }

    @Test(arguments: [
        ("image/avif,image/webp", "avif,webp", "avif,webp"), ("image/webp,image/avif", "avif,webp", "avif,webp"),
        ("image/avif;q=0.5,image/webp", "avif,webp", "webp,avif"), ("image/avif;q=0,image/webp", "avif,webp", "webp"),
        ("image/avif,image/webp,image/jxl", "jxl,avif,webp", "jxl,avif,webp"),
        ("image/jxl;q=0.9,image/avif;q=0.9,image/webp;q=0.91", "jxl,avif,webp", "webp,jxl,avif"),
        ("image/avif", "webp", ""), ("image/*;q=1,*/*", "avif,webp", ""),
        ("image/avif;q=0.2,image/AVIF;q=0.8,image/webp;q=0.5", "avif,webp", "avif,webp"),
    ])
    func `The client's weights come first, then the order of the list`(
        accept: String, formats: String, expected: String
    ) throws {
        #expect(AcceptField(accept).named(of: try list(formats)) == (try list(expected)))
    }

    /// A field made of known members, against the weights that it was made of.
    @Test(arguments: 0..<200)
    func `A random field chooses the formats with the greatest weights`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let formats = FormatList.candidates.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
        var weights: [OutputFormat: Int] = [:]
        var members: [String] = []
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let format = try #require(FormatList.candidates.randomElement(using: &random))
            let weight = [0, 1, 499, 500, 1_000].randomElement(using: &random) ?? 0
            weights[format] = max(weights[format] ?? 0, weight)
            let blank = Bool.random(using: &random) ? " " : ""
            let q = weight == 1_000 ? "" : "\(blank);\(blank)q=0.\("00\(weight)".suffix(3))"
            let name = Bool.random(using: &random) ? format.mediaType : format.mediaType.uppercased()
            members.append("\(blank)\(name)\(q)\(blank)")
            if Bool.random(using: &random) {
                members.append(["*/*", "image/*;q=0.9", "", "image/png"].randomElement(using: &random) ?? "")
            }
        }
        let expected = formats.enumerated().filter { (weights[$0.element] ?? 0) > 0 }.sorted { left, right in
            let (one, other) = (weights[left.element] ?? 0, weights[right.element] ?? 0)
            return one == other ? left.offset < right.offset : one > other
        }.map(\.element)
        let accept = members.joined(separator: ",")
        let list = try #require(FormatList(Array(formats)))
        #expect(AcceptField(accept).named(of: list).formats == expected, "\(accept) of \(list.text)")
    }

    @Test func `A list has each format once, and is written as it was read`() throws {
        for text in ["webp", "avif,webp", "jxl,avif,webp", "webp,jxl"] { #expect(try list(text).text == text) }
        for text in ["", "png", "webp,webp", "avif,", "avif, webp", "webp,avif,jxl,webp"] {
            #expect(FormatList(parsing: text) == nil, "\(text)")
        }
    }

    @Test func `Only a negotiated format depends on Accept`() throws {
        let grammar = ImageQueryGrammar()
        let policy = NegotiationPolicy()
        func output(_ query: ImageQuery, _ accept: String?) -> OutputOptions {
            query.output(for: policy.preferences(of: query, accept: accept, connection: ConnectionHints(saveData: nil)))
        }
        let auto = try grammar.parse("url=x&q=50&il")
        #expect(output(auto, "image/webp") == OutputOptions(format: .webp, quality: 50, alternative: .natural))
        let shown = OutputOptions(format: nil, quality: 50, interlaced: true, excluded: [FormatSet(.avif)])
        #expect(output(auto, nil) == shown && output(auto, "*/*") == shown)
        let png = try grammar.parse("url=x&output=png")
        #expect(output(png, "image/webp") == OutputOptions(format: .png))
        #expect(auto.isNegotiated && !png.isNegotiated)
        #expect(policy.vary(of: auto) == "Accept" && policy.vary(of: png) == nil)
    }

    private static let choices: [(String, String, OutputFormat?, OutputFormat?, AlternativeFormat)] = [
        ("", "image/avif,image/webp", .avif, .webp, .webp),
        ("", "image/avif,*/*", .avif, nil, .natural),
        ("&formats=webp,avif", "image/avif,image/webp", .webp, nil, .natural),
        ("&formats=webp", "image/avif", nil, nil, .none),
        ("&formats=jxl,webp", "image/jxl,image/webp", .jxl, .webp, .webp),
        ("&formats=jxl,avif", "image/jxl,image/avif,image/*", .jxl, nil, .natural),
        // Without loss, AVIF is the largest; near-lossless is a mode of WebP.
        ("&ll", "image/avif,image/webp", .webp, nil, .natural), ("&nl", "image/avif,image/webp", .webp, nil, .natural),
        ("&ll", "image/avif,*/*", .avif, nil, .natural),
        ("&ll&formats=jxl,avif,webp", "image/jxl,image/avif,image/webp", .jxl, .webp, .webp),
        ("&nl&formats=jxl,webp", "image/jxl,image/webp", .webp, nil, .natural),
    ]

    @Test(arguments: choices)
    func `A format that takes long has a quicker one to answer in, and keeps animations`(
        query: String, accept: String, format: OutputFormat?, interim: OutputFormat?, alternative: AlternativeFormat
    ) throws {
        let policy = NegotiationPolicy(formats: try list("avif,webp"))
        let query = try ImageQueryGrammar().parse("url=x" + query)
        let preferences = policy.preferences(of: query, accept: accept, connection: ConnectionHints(saveData: nil))
        #expect(query.output(for: preferences).format == format)
        #expect(query.output(for: preferences).alternative == alternative)
        let isSlow = format == .avif || format == .jxl
        #expect((query.interimOutput(for: preferences) != nil) == isSlow)
        #expect(query.interimOutput(for: preferences)?.format == interim)
    }

    private static let covered: [(String?, [OutputFormat])] = [
        (nil, [.jpeg, .png, .gif, .webp]), ("", [.jpeg, .png, .gif, .webp]), ("*/*", [.jpeg, .png, .gif, .webp]),
        ("*/*;q=0.1", [.jpeg, .png, .gif, .webp]), ("IMAGE/*, */*;q=0.8", [.jpeg, .png, .gif, .webp]),
        ("image/jpeg", [.jpeg]), ("image/jpg", [.jpeg]), ("image/png,image/jpeg", [.jpeg, .png]),
        ("image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5", [.jpeg, .png, .gif]),
        ("image/webp,image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5", [.jpeg, .png, .gif, .webp]),
        ("image/avif,image/webp,image/apng,image/*,*/*;q=0.8", OutputFormat.chosen),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", [.jpeg, .png, .gif]),
        ("image/webp;q=0,*/*", [.jpeg, .png, .gif]), ("image/avif;q=0,image/webp", [.webp]),
        ("image/gif;q=0,image/*", [.jpeg, .png]), ("image/*;q=0,*/*", [.jpeg, .png, .gif]),
        ("image/png,*/*;q=0", [.png]), ("image/png;q=0.5,image/png;q=0,image/avif", [.png, .avif]),
        ("text/html", [.jpeg, .png, .gif]), ("image/ *", [.jpeg, .png, .gif]), ("*/*;q=2", [.jpeg, .png, .gif]),
    ]

    @Test(arguments: covered)
    func `The server chooses only formats that the field covers`(accept: String?, formats: [OutputFormat]) {
        let excluded = AcceptField(accept).excluded
        #expect(Set(OutputFormat.chosen.filter { !excluded.contains($0) }) == Set(formats))
    }

    @Test func `A client that shows the best format alone waits for it`() throws {
        let policy = NegotiationPolicy(formats: try list("avif,webp"))
        let query = try ImageQueryGrammar().parse("url=x")
        func interim(_ accept: String) -> OutputOptions? {
            query.interimOutput(
                for: policy.preferences(of: query, accept: accept, connection: ConnectionHints(saveData: nil)))
        }
        #expect(interim("image/avif") == nil)
        #expect(interim("image/avif,image/png")?.excluded.contains(.webp) == true)
        #expect(interim("image/avif,*/*")?.excluded.contains(.jpeg) == false)
    }

    @Test func `A list may be empty, which leaves the format of the source to Accept`() throws {
        let (grammar, policy) = (ImageQueryGrammar(), NegotiationPolicy())
        let query = try grammar.parse("url=x&formats=none")
        #expect(CanonicalQuery(query, limits: grammar.limits).text == "url=x&formats=none")
        #expect(policy.vary(of: query) == "Accept")
        let connection = ConnectionHints(saveData: nil)
        let webP = query.output(for: policy.preferences(of: query, accept: "image/webp,*/*", connection: connection))
        #expect(webP == OutputOptions(excluded: [FormatSet(.avif)]))
        let origin = try grammar.parse("url=x&output=origin")
        let any = origin.output(for: policy.preferences(of: origin, accept: "image/png", connection: connection))
        #expect(any == OutputOptions() && policy.vary(of: origin) == nil)
    }

    @Test(arguments: ["&wait=best", "&wait=stored", "&output=avif"])
    func `A request that waits or names its format has no quicker one`(query: String) throws {
        let policy = NegotiationPolicy(formats: try list("avif,webp"))
        let query = try ImageQueryGrammar().parse("url=x" + query)
        let preferences = policy.preferences(
            of: query, accept: "image/avif,image/webp", connection: ConnectionHints(saveData: nil))
        #expect(query.output(for: preferences).format == .avif)
        #expect(query.interimOutput(for: preferences) == nil)
    }

    @Test func `A list of formats needs a negotiated format`() {
        #expect(throws: InvalidParameter.self) { try ImageQueryGrammar().parse("url=x&output=png&formats=avif") }
        #expect(throws: InvalidParameter.self) { try ImageQueryGrammar().parse("url=x&formats=avif,avif") }
    }

    @Test(arguments: [
        (ConnectionHints(saveData: "on"), true), (ConnectionHints(saveData: " On;x=1"), true),
        (ConnectionHints(saveData: "on off"), false), (ConnectionHints(saveData: nil), false),
        (ConnectionHints(saveData: "off", effectiveType: "4g", roundTrip: "150", downlink: "5"), false),
        (ConnectionHints(saveData: nil, effectiveType: "3g"), true),
        (ConnectionHints(saveData: nil, effectiveType: " Slow-2G"), true),
        (ConnectionHints(saveData: nil, roundTrip: "151"), true),
        (ConnectionHints(saveData: nil, roundTrip: "50"), false),
        (ConnectionHints(saveData: nil, downlink: "4.95"), true),
        (ConnectionHints(saveData: nil, downlink: "10"), false),
        (ConnectionHints(saveData: nil, effectiveType: "", roundTrip: "1e9", downlink: "-1"), false),
        (ConnectionHints(saveData: nil, effectiveType: "5g", roundTrip: "nan", downlink: "."), false),
    ])
    func `A slow connection has the quality that the URL has for it`(hints: ConnectionHints, isSlow: Bool) throws {
        #expect(hints.isSlow == isSlow)
        let policy = NegotiationPolicy()
        let grammar = ImageQueryGrammar()
        for query in ["output=jpg&q=90", "output=webp&q=auto", "output=jpg&q=10", "output=avif&max_bytes=9"] {
            let query = try grammar.parse("url=x&slow_q=45&" + query)
            let output = query.output(for: policy.preferences(of: query, accept: nil, connection: hints))
            #expect((output.quality == 45 && output.target == nil) == isSlow)
            #expect(isSlow || output == query.output)
            #expect(policy.vary(of: query) == "Save-Data, ECT, RTT, Downlink")
            #expect(policy.acceptCH(of: query) == "ECT, RTT, Downlink")
        }
        for query in ["output=png", "output=webp&ll", "output=webp&nl", "output=json"] {
            #expect(try grammar.parse("url=x&slow_q=45&" + query) == grammar.parse("url=x&" + query))
        }
    }
}
