import DarkroomRequests
import Testing

@testable import DarkroomQuery

/// Lengths in CSS pixels, times `dpr`.
struct LengthParametersTests {
    private let grammar = ImageQueryGrammar()

    private func parse(_ query: String) throws -> ImageQuery { try grammar.parse("url=x&" + query) }

    @Test(arguments: [
        ("border=3,red&dpr=2", "border=6,red"), ("border=1&dpr=1.5", "border=2"), ("border=1&dpr=1", "border=1"),
        ("w=80&border=2&dpr=2", "w=160&border=4"),
        ("radius=8,50p&dpr=2.5", "radius=20,50p"), ("pad=1,2,3,4&dpr=3", "pad=3,6,9,12"),
        ("text=a&textsize=20&dpr=2", "text=a&textsize=40"), ("text=a&dpr=2", "text=a"),
        ("blur=0.3&dpr=1.01", "blur=0.303"), ("blur=2&dpr=2", "blur=4"), ("blur&dpr=2", "blur"),
        ("sharp=1e-6&sharpf=2&dpr=2", "sharp=0.000002&sharpf=2"), ("sharp&dpr=2", "sharp"),
        ("pixelate=5&dpr=2", "pixelate=10"), ("pixelate=5p&dpr=2", "pixelate=5p"),
        ("cut=1,2,30,50p&dpr=2", "cut=2,4,60,50p"),
        ("crop=1,2,30,40&inset=5&dpr=2", "crop=1,2,30,40&inset=5"),
        ("trim=20&ro=45&bri=10&dpr=2", "trim=20&ro=45&bri=10"),
        ("mark=a&markw=20&markx=3&border=1&dpr=2", "mark=a&markw=40&markx=6&border=2"),
    ])
    func `A pixel ratio multiplies the lengths of the result, and no other numbers`(one: String, other: String) throws {
        #expect(try parse(one) == parse(other))
    }

    @Test(arguments: [
        ("blur:2,sharp:1:3:4,pixelate:5", "blur:4,sharp:2:3:4,pixelate:10"), ("cut:1:2:30:50p", "cut:2:4:60:50p"),
        ("round:3,round:3:4:red", "round:6,round:6:8:red"),
        ("fill:red:1:2:3:4,pad:auto:5:6:7:8", "fill:red:2:4:6:8,pad:auto:10:12:14:16"),
        ("text:a:l10:b-20:30:red:serif:200", "text:a:l20:b-40:60:red:serif:400"),
        ("text:a:c5p:t:h30:red:serif:50p", "text:a:c5p:t:h60:red:serif:50p"),
        ("mark:r3:tile:40:-:50", "mark:r6:tile:80:-:50"),
        (
            "bri:5,con:5,hue:9,gam:2,linear:2:1:1:1,ro:90,flip,trim:9,scale:50p,bg:red,mod:2,sat:2,filt:sepia",
            "bri:5,con:5,hue:9,gam:2,linear:2:1:1:1,ro:90,flip,trim:9,scale:50p,bg:red,mod:2,sat:2,filt:sepia"
        ),
    ])
    func `A pixel ratio multiplies the lengths of listed steps`(one: String, other: String) throws {
        #expect(try parse("mark=a&steps=\(one)&dpr=2") == parse("mark=a&steps=\(other)"))
    }

    @Test(arguments: [
        "border=7&radius=9,50p&pad=3&text=a&textsize=11&blur=0.7&sharp=0.000001&pixelate=3&cut=1,2,3,4",
        "steps=blur:0.7,sharp:0.3,round:5,text:a:l3:t3:9:red,pad:red:1:2:3:4,cut:1:1:9:9",
    ])
    func `A query with multiplied lengths has a canonical text of the same meaning`(lengths: String) throws {
        for ratio in ["1.01", "1.5", "2.75", "3"] {
            let query = try parse(lengths + "&dpr=" + ratio)
            let text = CanonicalQuery(query, limits: grammar.limits).text
            #expect(try grammar.parse(text) == query, "\(text)")
            #expect(!text.contains("dpr"))
        }
    }

    @Test(arguments: [
        ("border=500&dpr=2", "Parameter 'border' times 'dpr' must be at most 999 pixels, got 1000."),
        ("text=a&textsize=300&dpr=2", "Parameter 'textsize' times 'dpr' must be at most 500 pixels, got 600."),
        ("blur=900&dpr=1.25", "Parameter 'blur' times 'dpr' must be at most 1000 pixels, got 1125."),
        ("pad=0,5000&dpr=2", "Parameter 'pad' times 'dpr' must be at most 9999 pixels, got 10000."),
        ("steps=round:6000&dpr=2", "A length of parameter 'steps' times 'dpr' must be at most 9999 pixels, got 12000."),
    ])
    func `A length that the pixel ratio makes too large is refused with what it becomes`(
        query: String, detail: String
    ) throws {
        let error = #expect(throws: InvalidParameter.self) { try parse(query) }
        #expect(error == InvalidParameter("dpr", detail))
    }

    @Test(arguments: ["wsrv", "imgproxy", "thumbor", "cloudflare"])
    func `Rules of other services leave lengths to their own ratio`(rules: String) throws {
        let lengths = "border=3&pad=4&blur=5&steps=round:6&rules=\(rules)"
        #expect(try parse("w=50&dpr=2&\(lengths)") == parse("w=100&\(lengths)"))
    }

    @Test func `Each width of a srcset has the lengths of its pixel ratio`() throws {
        let query = try QueryString(parsing: "url=x&widths=100,200&dpr=2&border=3&text=a&textsize=10")
        let images = try SrcsetGrammar().parse(query).images
        #expect(images.map(\.recipe.box.width) == [200, 400])
        #expect(images.allSatisfy { $0.recipe.border?.width == 6 && $0.recipe.text?.size == 20 })
    }

    @Test func `A hinted ratio multiplies lengths as far as their ranges permit`() throws {
        func hinted(_ query: String) throws -> Recipe {
            try grammar.parse(
                QueryString(parsing: "url=x&w=100&" + query), hints: ClientHints(pixelRatio: "3", width: nil)
            ).recipe
        }
        #expect(try hinted("border=5").border?.width == 15)
        #expect(try hinted("border=400").border?.width == 800)
        #expect(try hinted("text=a&textsize=240").text?.size == 480)
        #expect(try hinted("border=400").box.width == 200)
    }
}
