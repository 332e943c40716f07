import DarkroomRequests
import Testing

@testable import DarkroomQuery

struct ClientHintsTests {
    private func parse(_ query: String, ratio: String? = nil, width: String? = nil) throws -> ImageQuery {
        try ImageQueryGrammar().parse(
            QueryString(parsing: "url=x" + query), hints: ClientHints(pixelRatio: ratio, width: width))
    }

    @Test func `Client hints give a size that the URL leaves open`() throws {
        let grammar = ImageQueryGrammar()
        #expect(try parse("", ratio: "2", width: "801").recipe.box.width == 850)
        #expect(try parse("&w=400", ratio: "1.5", width: "801").recipe.box.width == 600)
        #expect(try parse("&w=400&dpr=1", ratio: "2").recipe.box.width == 400)
        #expect(try parse("&w=8000", ratio: "8").recipe.box.width == 8000)
        #expect(try parse("&h=100", width: "801").recipe.box.width == nil)
        for value in ["", "-1", "0", "x", "1e3", "٣"] {
            #expect(try parse("", ratio: value, width: value).recipe.box == Box(width: nil, height: nil))
            #expect(try parse("&w=400", ratio: value).recipe.box.width == 400)
        }
        #expect(try parse("&w=400").dependsOnClientHints && !(try parse("&w=400&dpr=2").dependsOnClientHints))
        #expect(try !parse("&output=json").dependsOnClientHints)
        #expect(NegotiationPolicy().vary(of: try parse("&output=jpg")) == "Sec-CH-DPR, Sec-CH-Width")
        #expect(try !grammar.parse("url=x").dependsOnClientHints)
    }

    @Test(arguments: [
        ("0.5", 100), ("1", 100), ("1.01", 150), ("1.25", 150), ("1.5", 150), ("2.625", 300), ("4", 400), ("5", 400),
        ("8", 400),
    ])
    func `Ratios are rounded up to a few`(ratio: String, expected: Int) throws {
        #expect(try parse("&w=100", ratio: ratio).recipe.box.width == expected)
    }

    @Test(arguments: [
        "&ar=1:3", "&ar=3:1", "&ar=1:100", "&ar=1:9000", "&ar=2:1&min-h=100", "&ar=1:2&min-w=90&min-h=400",
        "&min-w=5000", "&min-h=8000", "&w=4000&ar=1:2", "&h=3000&ar=5:2", "&w=2000&min-h=3000",
        "&ar=1:2&dpr=3&min-h=900",
        "&w=100&min-w=90&dpr=2",
    ])
    func `A hint never makes a query invalid`(query: String) throws {
        _ = try parse(query)
        for ratio in [nil, "1", "1.7", "3", "8"] {
            for width in [nil, "1", "49", "777", "8191", "99999"] {
                let hinted = try parse(query, ratio: ratio, width: width)
                let box = hinted.recipe.box
                #expect(max(box.width ?? 1, box.height ?? 1, box.minWidth ?? 1, box.minHeight ?? 1) <= 8192)
            }
        }
    }

    @Test func `A hinted width is as large as a ratio and least sides permit`() throws {
        #expect(try parse("&ar=1:3", width: "9000").recipe.box == Box(width: 2730, height: 8190))
        #expect(try parse("&ar=2:1&min-h=100", width: "10").recipe.box.width == 200)
        // No width has this ratio.
        #expect(try parse("&ar=1:9000", width: "100").recipe.box.width == nil)
    }

    @Test func `A hinted width is in pixels of the screen, other lengths are in CSS pixels`() throws {
        let hinted = try parse("&mark=a&markw=20&markx=5&min-w=100", ratio: "2", width: "800")
        #expect(hinted.recipe.box.width == 800 && hinted.recipe.box.minWidth == 200)
        #expect(hinted.recipe.mark?.width == .pixels(40) && hinted.recipe.mark?.x == .pixels(10))
        let given = try parse("&mark=a&markw=20&dpr=3", ratio: "2", width: "800")
        #expect(given.recipe.box.width == 800 && given.recipe.mark?.width == .pixels(60))
    }
}
