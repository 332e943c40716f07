import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

struct SVGFiltersTests {
    private func svg(_ filters: String, size: Int = 100, prefix: String = "") -> ByteBuffer {
        ByteBuffer(
            string: prefix
                + "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(size)\" height=\"\(size)\"><filter id=\"f\">"
                + "\(filters)</filter><rect width=\"\(size)\" height=\"\(size)\" filter=\"url(#f)\"/></svg>")
    }

    @Test(arguments: [
        ("", 0), ("<feFlood/>", 100), ("<feDropShadow/>", 600), ("<feTurbulence numOctaves=\"3\"/>", 200),
        ("<feTurbulence/>", 100),
        ("<feTurbulence numOctaves = '1e7'/>", 500_000_050), ("<s:feTurbulence numOctaves=\"4\"/>", 250),
        ("<feMorphology radius=\"2\"/>", 300), ("<feMorphology radius=\"1 2\"/>", 220),
        ("<feMorphology radius=\"999999\"/>", 3628), ("<feConvolveMatrix order=\"15\"/>", 1450),
        ("<feConvolveMatrix order=\"3,5\"/>", 190), ("<feGaussianBlur stdDeviation=\"900\"/>", 100),
        ("<feComponentTransfer><feFuncR/><feFuncG/></feComponentTransfer>", 100),
        ("<feMorphology radius=\"-3\"/>", 108), ("<feTurbulence numOctaves=\"x\"/>", 50), ("<felt/>", 0),
        ("<text>feTurbulence numOctaves=\"99\"</text>", 0),
    ])
    func `Each filter primitive costs what its numbers make of it`(filters: String, nanoseconds: Double) {
        #expect(SVGFilters(of: svg(filters)).nanosecondsPerPixel == nanoseconds)
    }

    @Test(arguments: [(1, 100), (2000, 100), (2001, 200), (4001, 300)])
    func `Filters are computed again for each tile of a tall drawing`(rows: Int, nanoseconds: Double) {
        #expect(SVGFilters(of: svg("<feFlood/>")).nanosecondsPerPixel(rows: rows) == nanoseconds)
    }

    @Test func `The filters of a mark count as its image's`() throws {
        func cost(_ filter: String) throws -> Double {
            let mark = try MarkSource(svg(filter, size: 400), limits: PixelLimits())
            return try mark.cost(1, at: PixelSize(width: 400, height: 400)).work
        }
        #expect(try cost("<feMorphology radius=\"20\"/>") > 100 + cost(""))
    }

    @Test func `A number that is an entity counts as huge`() {
        let declared = svg("<feTurbulence numOctaves=\"&n;\"/>", prefix: "<!DOCTYPE svg [<!ENTITY n \"10000000\">]>")
        #expect(SVGFilters(of: declared).nanosecondsPerPixel > 1e10)
        #expect(SVGFilters(of: svg("<feTurbulence numOctaves=\"&#57;\"/>")).nanosecondsPerPixel > 1e10)
    }

    @Test(arguments: [
        "<feTurbulence numOctaves=\"nan\"/>", "<feTurbulence numOctaves=\"-nan\"/>",
        "<feTurbulence numOctaves=\"1e400\"/>",
        "<feConvolveMatrix order=\"inf inf\"/>", "<feConvolveMatrix order=\"inf 1e308\"/>",
    ])
    func `A number that is not finite counts as huge`(filter: String) throws {
        let nanoseconds = SVGFilters(of: svg(filter)).nanosecondsPerPixel
        #expect(nanoseconds.isFinite && nanoseconds > 1e10)
        #expect(SVGFilters(of: svg("<feConvolveMatrix order=\"inf 0\"/>")).nanosecondsPerPixel == 100)
        #expect(throws: ImageProcessingError.self) { try produce(svg(filter, size: 200), .box(100)) }
    }

    @Test(arguments: [(5_000_000_000, 10_000), (4_000_000_000, 4_000_000_000)])
    func `A drawing with sides that cannot be multiplied is refused`(width: Int, height: Int) {
        let source = ByteBuffer(
            string: "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\"/>")
        var recipe = Recipe.box(100)
        (recipe.rules, recipe.fit) = (.thumbor, .outside)
        #expect(throws: ImageProcessingError.self) { try produce(source, recipe) }
        #expect(throws: ImageProcessingError.self) { try produce(source, output: OutputOptions(format: .json)) }
    }

    @Test func `UTF-16 hides no filter`() throws {
        let text = String(buffer: svg("<feTurbulence numOctaves=\"9\"/>"))
        var bytes = ByteBuffer(bytes: [0xFF, 0xFE])
        for unit in text.utf16 { bytes.writeInteger(unit, endianness: .little) }
        #expect(try SourceHeader(of: bytes).filters.nanosecondsPerPixel == 500)
    }

    @Test(arguments: ["<feTurbulence numOctaves=\"10000000\"/>", "<feTurbulence numOctaves=\"&n;\"/>"])
    func `A drawing whose filters would take too long is refused before it is drawn`(filter: String) throws {
        let source = svg(filter, size: 200, prefix: "<!DOCTYPE svg [<!ENTITY n \"10000000\">]>")
        let error = #expect(throws: ImageProcessingError.self) { try produce(source, .box(100)) }
        guard case .tooLarge = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try produce(svg("<feTurbulence numOctaves=\"3\"/>", size: 200), .box(100)).size.width == 100)
    }

    @Test func `A document cut off anywhere is read to its end`() {
        let whole = svg("<feTurbulence numOctaves=\"3\"/><feConvolveMatrix order=\"5 5\"/>")
        for length in 0...whole.readableBytes {
            _ = SVGFilters(of: whole.getSlice(at: whole.readerIndex, length: length) ?? ByteBuffer())
        }
    }
}
