import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

struct SVGDocumentTests {
    private static func svg(_ content: String, _ attributes: String = "width=\"64\" height=\"64\"") -> ByteBuffer {
        ByteBuffer(
            string: "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:x=\"http://www.w3.org/1999/xlink\" \(attributes)>"
                + "\(content)</svg>")
    }

    private func text(_ content: String, _ attributes: String = "") -> String {
        String(buffer: SVGDocument(Self.svg(content, attributes)).bytes)
    }

    private func undrawn(_ content: String) throws -> [String] {
        try SourceHeader(of: Self.svg(content)).gaps.names
    }

    // MARK: Lengths

    @Test(arguments: [
        ("width=\"100mm\" height=\"50mm\"", 378, 189), ("width=\"1in\" height=\"72pt\"", 96, 96),
        ("width=\"2.54cm\" height=\"6pc\"", 96, 96), ("width='10' height='20px'", 10, 20),
        ("width=\"30\" height=\"1in\"", 30, 96),
    ])
    func `Lengths have the units of CSS, 96 pixels per inch`(attributes: String, width: Int, height: Int) throws {
        let header = try SourceHeader(of: Self.svg("<rect width=\"9\" height=\"9\"/>", attributes))
        #expect(header.size == PixelSize(width: width, height: height))
    }

    @Test func `A length within a drawing has the same unit`() throws {
        let drawing = Self.svg(
            "<style>.a { width: .25in; fill: red }</style><rect width=\"0.25in\" height=\"18pt\" fill=\"red\"/>")
        let pixels = try Pixels(produce(drawing).body)
        #expect(pixels[23, 23] == [255, 0, 0, 255] && pixels[25, 12][3] == 0 && pixels[12, 25][3] == 0)
    }

    @Test func `A namespace with a relative address is read`() throws {
        let drawing = Self.svg("<g xmlns:a='b'><d xmlns=\"e\"/></g><rect width=\"64\" height=\"64\"/>")
        #expect(try Pixels(produce(drawing).body)[32, 32] == [0, 0, 0, 255])
    }

    // MARK: Background

    private static let backgrounds: [(style: String, expected: [Int])] = [
        ("background: white", [255, 255, 255, 255]), ("background-color:#08f;", [0, 136, 255, 255]),
        ("--a: rgb(1, 2,3); BACKGROUND: var(--a)", [1, 2, 3, 255]),
        ("background: red; background: #0f0", [0, 255, 0, 255]),
        ("background: rgba(0,0,0,.5)", [0, 0, 0, 0]), ("background: url(#a)", [0, 0, 0, 0]),
        ("background: rgb(0 0 0 / 0)", [0, 0, 0, 0]), ("background: rgb(0, 0, 0, .5)", [0, 0, 0, 0]),
        ("background: white !important; background: red", [255, 255, 255, 255]),
        ("background: red!IMPORTANT; background: #0f0 ! important", [0, 255, 0, 255]),
        ("background: ;background-color:!", [0, 0, 0, 0]),
        ("fill: red", [0, 0, 0, 0]),
    ]

    @Test(arguments: backgrounds)
    func `A background of the root element is behind the whole drawing`(style: String, expected: [Int]) throws {
        let drawing = Self.svg(
            "<g style=\"background: blue\"><rect x=\"1\" y=\"1\" width=\"8\" height=\"8\" fill=\"black\"/></g>",
            "width=\"64\" height=\"32\" viewBox=\"0 0 10 10\" style=\"\(style)\"")
        let pixels = try Pixels(produce(drawing).body)
        #expect(pixels[0, 0] == expected && pixels[63, 31] == expected && pixels[32, 16] == [0, 0, 0, 255])
    }

    @Test(arguments: [
        ("svg{background:#fc0}", "", [255, 204, 0, 255]),
        ("a{x:y} p, :root { background: red }", "", [255, 0, 0, 255]),
        ("*{fill:red;background:rgb(0,0,9)}svg{background:#00f}", "", [0, 0, 255, 255]),
        (".r{background:red}#i,.s{background:#0f0}.t{background:red}", "", [0, 255, 0, 255]),
        ("svg{background:red}", "background:#0f0", [0, 255, 0, 255]), ("g svg{background:red}", "", [0, 0, 0, 0]),
        ("@media (prefers-color-scheme:dark){svg{background:red}}svg{background:#fff}", "", [255, 255, 255, 255]),
    ])
    func `A background may be in a style sheet`(sheet: String, style: String, expected: [Int]) throws {
        let attributes = "width=\"8\" height=\"8\" class=\"q s\" id=\"i\" style=\"\(style)\""
        let drawing = Self.svg("<style>\(sheet)</style>", attributes)
        #expect(try Pixels(produce(drawing).body)[1, 1] == expected)
    }

    @Test(arguments: ["transform=\"scale(2)\"", "style=\"transform:rotate(9deg)\"", "style=\"background:#0003\""])
    func `A transform and a translucent background of the root element are not drawn`(attribute: String) throws {
        let drawing = Self.svg("<g transform=\"scale(2)\"/>", "width=\"8\" height=\"8\" \(attribute)")
        #expect(try SourceHeader(of: drawing).gaps.names == ["css-properties"])
    }

    private static let texts: [(content: String, expected: String)] = [
        (
            "<style>.m1in{font-size:12pt;stroke-width:-.5PT}</style>",
            "<style>.m1in{font-size:16.0px;stroke-width:-0.6667px}</style>"
        ),
        (
            "<text font-family=\"1in\" x=\"1in\">12pt 1in</text>",
            "<text font-family=\"1in\" x=\"96.0px\">12pt 1in</text>"
        ),
        ("<a style=\"font:1in 'a 1in';fill:url(#b1in)\"/>", "<a style=\"font:96.0px 'a 1in';fill:url(#b1in)\"/>"),
        ("<!-- <a x=\"1in\"/> --><a id=\"x=1in\" d=\"M1in\"/>", "<!-- <a x=\"1in\"/> --><a id=\"x=1in\" d=\"M1in\"/>"),
        (
            "<a x=\"1e3in\" y=\"1ink\" r=\"5em\" rx=\"1.2.3in\"/>",
            "<a x=\"1e3in\" y=\"1ink\" r=\"5em\" rx=\"1.2.3in\"/>"
        ),
        ("<style><![CDATA[a>b{x:1pc}]]></style>", "<style><![CDATA[a>b{x:16.0px}]]></style>"),
    ]

    @Test(arguments: texts)
    func `Only lengths change`(content: String, expected: String) {
        #expect(text(content).contains(expected), "\(text(content))")
    }

    // MARK: Drop shadows

    @Test(arguments: [
        "<feDropShadow dx=\"10\" dy=\"10\" stdDeviation=\"1\" flood-color=\"red\"/>",
        "<feDropShadow stdDeviation='1' style='flood-color:red' dx='10' dy='10' ></feDropShadow>",
        "<feDropShadow in=\"SourceGraphic\" flood-color=\"var(--c)\" dx=\"10\" dy=\"10\" result=\"b\"/>",
        "<feDropShadow dx=\"10\" dy=\"10\" flood-color=\"red\" color-interpolation-filters=\"sRGB\"/>",
        "<s:feDropShadow dx=\"10\" dy=\"10\" flood-color=\"red\"></s:feDropShadow >",
    ])
    func `A drop shadow is drawn, and what casts it`(filter: String) throws {
        let drawing = Self.svg(
            "<style>:root{--c:red}</style><filter id=\"f\" x=\"0\" y=\"0\" width=\"2\" height=\"2\">\(filter)</filter>"
                + "<rect x=\"5\" y=\"5\" width=\"35\" height=\"35\" fill=\"blue\" filter=\"url(#f)\"/>",
            "width=\"64\" height=\"64\" xmlns:s=\"http://www.w3.org/2000/svg\"")
        let pixels = try Pixels(produce(drawing).body)
        #expect(pixels[20, 20] == [0, 0, 255, 255] && pixels[43, 43] == [255, 0, 0, 255], "\(pixels[43, 43])")
        #expect(pixels[60, 60][3] == 0)
    }

    @Test(arguments: ["<feDropShadow dx=\"1\"", "<feDropShadow><animate/></feDropShadow>", "<feDropShadow>"])
    func `A drop shadow that is not closed, or has elements inside, stays as it is`(content: String) {
        #expect(text(content).contains(content))
    }

    // MARK: Variables and gaps

    private static let variables: [(style: String, fill: String, gaps: [String])] = [
        (":root{--c:#0f0}", "var(--c)", []), ("svg { --a: #0f0; --c : var(--a) }", "var( --c )", []),
        (".q{fill:red}*,p{--c:#0f0}", "var(--c, red)", []), ("", "var(--c, #0f0)", []),
        (":root{--c:var(--d,#0f0)}", "var(--c)", []),
        (":root{--c:#0f0}.b{--c:red}", "var(--c)", ["css-variables"]), ("", "var(--c)", ["css-variables"]),
        (":root{--c:var(--c)}", "var(--c)", ["css-variables"]),
        ("@media print{:root{--c:red}}", "var(--c)", ["css-variables"]),
        (".q{--c:#0f0}", "var(--c, red)", ["css-variables"]),
        (".q{--c:#0f0}.r{--c:red}", "var(--c)", ["css-variables"]),
        (".q{--c:red}:root{--c:#0f0}", "var(--c)", ["css-variables"]),
        (":root{--c:&quot;x}", "var(--c)", ["css-variables"]),
    ]

    @Test(arguments: variables)
    func `A variable with one value is drawn, and another is stated`(style: String, fill: String, gaps: [String]) throws
    {
        for rectangle in ["fill=\"\(fill)\"", "style=\"fill:\(fill)\"", "class=\"a\""] {
            let content = "<style>\(style).a{fill:\(fill)}</style><rect width=\"64\" height=\"64\" \(rectangle)/>"
            #expect(try undrawn(content) == gaps)
            guard gaps.isEmpty else { continue }
            #expect(try Pixels(produce(Self.svg(content)).body)[9, 9] == [0, 255, 0, 255], "\(content)")
        }
    }

    @Test func `A variable that only one rule declares has its value in the elements of that rule`() throws {
        let content =
            "<style>.q{--c:#0f0}rect{fill:var(--c)}</style><g class='q'><rect width='64' height='64'/></g>"
        #expect(try undrawn(content).isEmpty && Pixels(produce(Self.svg(content)).body)[9, 9] == [0, 255, 0, 255])
    }

    @Test(arguments: [
        ("<foreignObject width=\"9\" height=\"9\"><p/></foreignObject>", ["foreign-object"]),
        ("<switch><foreignObject requiredExtensions=\"http://ns.adobe.com/\"/><g/></switch>", []),
        ("<rect fill=\"OKLCH(60% 0.2 140)\"/>", []),
        ("<g style=\"fill:color-mix(in srgb,red,blue)\"/>", ["css-colors"]),
        ("<rect fill=\"rgb(1,2,3)\"/><text>oklch(1 1 1) var(--x)</text>", []),
        ("<style>@font-face{font-family:a;src:url(data:font/woff2;base64,AA)}</style>", ["fonts"]),
        ("<g transform=\"rotate(9)\" transform-origin=\"5 5\"/>", []),
        ("<g transform=\"rotate(9)\" transform-origin=\"5ch 5\"/>", ["css-properties"]),
        ("<text dominant-baseline=\"middle\" dy=\"5\">a</text>", ["css-properties"]),
        ("<style>text{dominant-baseline:middle}</style>", ["css-properties"]),
        ("<path vector-effect=\"non-scaling-stroke\"/><g style=\"transform-box:fill-box\"/>", ["css-properties"]),
        ("<style>.a{clip-path:circle(4px at 5px 5px)}</style>", ["css-properties"]),
        ("<style>.a{clip-path:url(#circle)}</style><path vector-effect=\"none\"/>", []),
        ("<rect width=\"5ch\"/>", ["css-units"]), ("<rect width=\"5rem\" height=\"5VH\"/>", []),
        ("<g style=\"width:calc(1px + 2px)\"/>", ["css-units"]),
        ("<style>.a1vw{width:5px}</style><rect width=\"5em\" height=\"5%\"/>", []),
        ("<path d=\"M1 1h9\" pathLength=\"100\"/>", ["css-properties"]),
        ("<clipPath id=\"a\" clip-path=\"url(#b)\"/>", ["css-properties"]),
        ("<style>svg{background:linear-gradient(red,blue)}</style>", ["css-properties"]),
        ("<style>svg{background:none} g{background:url(#a)}</style>", []),
        ("<image href=\"data:image/webp;base64,AAAA\"/>", ["images"]), ("<image href=\"a.webp\"/>", []),
    ])
    func `What is not drawn is stated`(content: String, gaps: [String]) throws {
        #expect(try undrawn(content) == gaps)
    }

    @Test func `The document, the plan and the result state it`() throws {
        let drawing = Self.svg("<foreignObject/><rect fill=\"color-mix(in lab,red,blue)\"/>")
        let names = ["css-colors", "foreign-object"]
        let result = try produce(drawing)
        #expect(result.gaps.names == names)
        let document = try produce(drawing, output: OutputOptions(format: .json)).body
        let members = try JSONSerialization.jsonObject(with: Data(document.readableBytesView)) as? [String: Any]
        #expect(members?["undrawn"] as? [String] == names)
        let job = ImageJob(source: drawing, chain: TransformChain(Recipe()), output: OutputOptions(format: .png))
        #expect(try InProcessImageProcessor().plan(job).gaps.names == names)
    }

    // MARK: Embedded images

    private static func url(_ image: ByteBuffer, _ mediaType: String) -> String {
        "data:\(mediaType);base64,\(Data(image.readableBytesView).base64EncodedString())"
    }

    private static let flat = Result { try Drawing.flat(8, 8, [255, 0, 0]) }

    @Test(arguments: [OutputFormat.webp, .avif, .gif, .png, .jpeg])
    func `An embedded image is drawn in every format of browsers`(format: OutputFormat) throws {
        let image = try produce(Self.flat.get().png(), output: OutputOptions(format: format)).body
        let plain = Self.url(image, format.mediaType)
        let broken = plain.enumerated().map { $0.offset % 40 == 39 ? "\($0.element)&#10; " : "\($0.element)" }.joined()
        // Browsers ignore the type that is stated.
        let mistyped = [Self.url(image, "image/jpg"), Self.url(image, "image/x-other")]
        for url in [plain, plain.replacing("=", with: ""), broken] + mistyped {
            for name in ["href", "x:href"] {
                let drawing = Self.svg("<image width=\"64\" height=\"64\" \(name)=\"\(url)\"/>")
                let result = try produce(drawing)
                #expect(try Pixels(result.body).distance(x: 32, y: 32, to: [255, 0, 0, 255]) <= 3, "\(format)")
                #expect(result.gaps.isEmpty)
            }
        }
    }

    @Test func `An embedded image has its orientation and its profile`() throws {
        func drawn(_ name: String, _ mediaType: String) throws -> Pixels {
            let url = try Self.url(Fixture.image(name), mediaType)
            let frame = "width=\"64\" height=\"64\" preserveAspectRatio=\"none\""
            return try Pixels(produce(Self.svg("<image \(frame) href=\"\(url)\"/>")).body)
        }
        let upright = try drawn("orientation/f-1.jpg", "image/jpeg")
        #expect(try drawn("orientation/f-6.jpg", "image/jpeg").meanDistance(to: upright) < 3)
        for (name, mediaType) in [("color/icc-swap.jpg", "image/jpeg"), ("color/icc-swap.png", "image/png")] {
            let image = try Fixture.image(name)
            let plain = try produce(image, output: OutputOptions(format: .png)).body
            let url = Self.url(plain, "image/png")
            let frame = "width=\"64\" height=\"64\" preserveAspectRatio=\"none\""
            let expected = try Pixels(produce(Self.svg("<image \(frame) href=\"\(url)\"/>")).body)
            #expect(try drawn(name, mediaType).meanDistance(to: expected) < 3)
        }
    }

    @Test func `Images in embedded drawings are drawn too, down to a depth`() throws {
        let webp = try produce(Self.flat.get().png(), output: OutputOptions(format: .webp)).body
        func around(_ url: String) -> ByteBuffer { Self.svg("<image width=\"64\" height=\"64\" href='\(url)'/>") }
        var drawing = around(Self.url(webp, "image/webp"))
        for depth in 1...3 {
            let escaped = String(buffer: drawing).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let url = depth == 2 ? "data:image/svg+xml,\(escaped)" : Self.url(drawing, "image/svg+xml")
            drawing = around(url)
            let result = try produce(drawing)
            #expect(result.gaps.names == (depth < 3 ? [] : ["images"]))
            if depth < 3 { #expect(try Pixels(result.body)[32, 32] == [255, 0, 0, 255]) }
        }
    }

    @Test func `The number and the pixels of embedded images are limited`() throws {
        let small = try Self.url(
            produce(Self.flat.get().png(), output: OutputOptions(format: .webp)).body, "image/webp")
        let many = String(repeating: "<image href=\"\(small)\"/>", count: SVGDocument.Images.maxCount + 1)
        let header = try SourceHeader(of: Self.svg(many))
        #expect(header.embedded.count == SVGDocument.Images.maxCount && header.gaps.names == ["images"])
        let large = try Drawing.flat(2001, 2000, [0, 0, 255]).png()
        let lossless = OutputOptions(format: .webp, lossless: true)
        let url = try Self.url(produce(large, output: lossless).body, "image/webp")
        let both = try SourceHeader(of: Self.svg("<image href=\"\(url)\"/><image href=\"\(small)\"/>"))
        #expect(both.embedded.pixels == 64 && both.gaps.names == ["images"])
    }

    @Test func `Embedded images count in the plan`() throws {
        let picture = try Drawing.flat(1500, 1000, [0, 0, 255]).png()
        let lossless = OutputOptions(format: .webp, lossless: true)
        let url = try Self.url(produce(picture, output: lossless).body, "image/webp")
        func plan(_ content: String) throws -> ImagePlan {
            let job = ImageJob(
                source: Self.svg(content), chain: TransformChain(Recipe()), output: OutputOptions(format: .png))
            return try InProcessImageProcessor().plan(job)
        }
        let (with, without) = (try plan("<image href=\"\(url)\"/>"), try plan("<desc>\(url)</desc>"))
        #expect(with.estimatedMemoryBytes - without.estimatedMemoryBytes > 1500 * 1000 * 15)
        #expect(with.expectedWork - without.expectedWork > 300)
        // Otherwise the longest document would be expected to take too long.
        let text = String(repeating: "A", count: 100_000)
        let (image, other) = (try plan("<image href=\"data:,\(text)\"/>"), try plan("<desc>data:,\(text)</desc>"))
        #expect(abs(other.expectedWork - image.expectedWork - 15) < 1)
    }

    // MARK: Long texts

    @Test func `Long texts are not accepted in an encoding that could hide entities`() {
        let padding = String(repeating: " ", count: 9_000_000)
        let texts = ["<svg>\(padding)</svg>", "<?xml version='1.0' encoding=\"UTF-8\"?><svg>\(padding)</svg>"]
        for text in texts { #expect(SVGDocument.needsUnlimited(ByteBuffer(string: text))) }
        var wide = ByteBuffer(bytes: [0xFF, 0xFE])
        for byte in texts[0].utf8 { wide.writeBytes([byte, 0]) }
        let named = texts[1].replacing("UTF-8", with: "UTF-7")
        for file in [wide, ByteBuffer(string: named)] { #expect(!SVGDocument.needsUnlimited(file)) }
    }

    @Test func `A text of more than 10 MB is drawn, unless entities could multiply it`() throws {
        let long = String(repeating: "A", count: 11_000_000)
        let content = "<image href=\"data:image/x;base64,\(long)\"/><rect width=\"64\" height=\"64\" fill=\"lime\"/>"
        let drawing = Self.svg(content)
        #expect(try Pixels(produce(drawing).body)[9, 9] == [0, 255, 0, 255])
        let declared = ByteBuffer(string: "<!DOCTYPE svg [<!ENTITY a \"b\">]>" + String(buffer: drawing))
        #expect(throws: ImageProcessingError.self) { try produce(declared) }
    }

    /// Whatever the text is, reading ends, and what is read again is the same.
    @Test(.timeLimit(.minutes(5)))
    func `Hostile style sheets are read in a bounded number of steps`() throws {
        let redeclared = String(repeating: "--a:;", count: 1_000_000)
        #expect(try undrawn("<style>\(redeclared)</style><rect fill=\"var(--a)\"/>") == ["css-variables"])
        let uses = String(repeating: "var(--a)", count: 500_000)
        #expect(try undrawn("<style>:root{--a:;}.b{fill:\(uses)}</style>") == ["css-variables"])
    }

    @Test func `A variable that is unknown leaves the others`() {
        let drawn = text("<style>:root{--ok:#0f0}.a{stroke:var(--missing)}.b{fill:var(--ok)}</style>")
        #expect(drawn.contains(".a{stroke:var(--missing)}.b{fill:#0f0}"))
    }

    @Test func `Escapes in base64 are read`() throws {
        let image = try produce(Self.flat.get().png(), output: OutputOptions(format: .webp)).body
        let escaped = Self.url(image, "image/webp").replacing("+", with: "%2B").replacing("=", with: "%3D")
        let drawing = Self.svg("<image width=\"64\" height=\"64\" href=\"\(escaped)\"/>")
        #expect(try Pixels(produce(drawing).body).distance(x: 32, y: 32, to: [255, 0, 0, 255]) <= 3)
    }

    @Test func `Text that is no SVG is read without a trap`() {
        for part in [
            "<", "<a", "<a b", "<a b=", "<a b=\"", "<a b=1>", "<!--", "<![CDATA[", "<style>", "<style>a{--", "<style/>",
            "<?", "</",
            "<a style=\"x:1in", "<image href=\"data:\"", "<image href='data:,'/>", "<image href='data:;base64,%'/>",
        ] {
            let document = SVGDocument(Self.svg(part))
            #expect(SVGDocument(document.bytes).bytes == document.bytes)
            _ = document.measuredImages()
        }
        for byte in UInt8.min...UInt8.max {
            _ = SVGDocument(ByteBuffer(bytes: [0x3C, byte, 0x3D, 0x22, byte, 0x22, 0x3E]))
        }
    }
}
