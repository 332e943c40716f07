import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Attributes that librsvg ignores or refuses.
struct SVGTagTests {
    private static func svg(_ content: String, _ attributes: String = "width=\"60\" height=\"40\"") -> ByteBuffer {
        ByteBuffer(string: "<svg xmlns=\"http://www.w3.org/2000/svg\" \(attributes)>\(content)</svg>")
    }

    /// The document as it is drawn, which is read again as it is.
    private func text(_ content: String, _ attributes: String = "width=\"60\" height=\"40\"") -> String {
        let document = SVGDocument(Self.svg(content, attributes)).bytes
        #expect(SVGDocument(document).bytes == document)
        return String(buffer: document)
    }

    /// Whether these drawings are the same.
    private func isSame(_ content: String, _ other: String, _ attributes: String = "width=\"60\" height=\"40\"") throws
        -> Bool
    {
        let first = try Pixels(produce(Self.svg(content, attributes)).body)
        return try first.meanDistance(to: Pixels(produce(Self.svg(other)).body)) < 0.5
    }

    @Test(arguments: [
        ("dominant-baseline=\"central\"", "dy=\"0.346em\""), ("dominant-baseline='middle' dy='1em'", "dy='1.265em'"),
        ("style=\"fill:red; dominant-baseline : hanging\"", "dy=\"0.733em\""),
        ("alignment-baseline=\"text-after-edge\" dy=\"0\"", "dy=\"-0.224em\""),
    ])
    func `Text is shifted to its baseline`(attributes: String, shifted: String) {
        let drawn = text("<text \(attributes)>a</text><text dominant-baseline=\"auto\">b</text>")
        #expect(drawn.contains(shifted) && drawn.ranges(of: "dy=").count == 1, "\(drawn)")
    }

    @Test func `Characters have positions of their own`() throws {
        let drawn = text("<text x=\"1,20 40\" y='9 8' rotate=\"0\">a bc</text>")
        let rest = "<tspan x=\"20\" y=\"8\"> </tspan><tspan x=\"40\">b</tspan>c</text>"
        #expect(drawn.contains("<text x=\"1\" y='9' rotate=\"0\">a\(rest)"), "\(drawn)")
        #expect(
            try isSame(
                "<text x=\"2 30\" y=\"30\">Ab</text>",
                "<text font-size=\"16px\"><tspan x=\"2\" y=\"30\">A</tspan><tspan x=\"30\" y=\"30\">b</tspan></text>"))
    }

    @Test(arguments: ["a&amp;b", "a\nb", " ab", "<tspan>ab</tspan>"])
    func `A list of positions is a gap of the drawing where characters cannot be told apart`(content: String) throws {
        #expect(text("<text x=\"1 2\">\(content)</text>").contains("x=\"1 2\""))
        #expect(try SourceHeader(of: Self.svg("<text x=\"1 2\">\(content)</text>")).gaps.names == ["css-properties"])
        #expect(try SourceHeader(of: Self.svg("<text x=\"1\">\(content)</text>")).gaps.isEmpty)
    }

    @Test func `Lines of a text have its baseline`() {
        let lines = "<tspan x=\"0\">b</tspan><tspan y=\"9\">c</tspan><tspan y=\"20\" dy=\"1em\">d</tspan>"
        let drawn = text("<text dominant-baseline=\"central\">a\(lines)</text><text><tspan y=\"9\">e</tspan></text>")
        #expect(drawn.contains("<tspan x=\"0\">b") && drawn.contains("<tspan dy=\"0.346em\" y=\"9\">c"))
        #expect(drawn.contains("<tspan y=\"20\" dy=\"1.346em\">d") && drawn.contains("<tspan y=\"9\">e"))
    }

    @Test func `Text without a size has 16 pixels, and other drawings stay as they are`() throws {
        let shape = "<rect width=\"9\" height=\"9\"/>"
        #expect(text(shape) == String(buffer: Self.svg(shape)))
        #expect(try isSame("<text y=\"30\">Ab</text>", "<text y=\"30\" font-size=\"16px\">Ab</text>"))
        #expect(try isSame("<rect width=\"2em\" height=\"9\"/>", "<rect width=\"32\" height=\"9\"/>"))
        let own = "width=\"60\" height=\"40\" font-size=\"30\""
        #expect(try isSame("<text y=\"30\">Ab</text>", "<text y=\"30\" font-size=\"30px\">Ab</text>", own))
    }

    @Test(arguments: [
        "transform=\"rotate(30)\" transform-origin=\"30 20\"", "transform=\"rotate(30)\" transform-origin=\"center\"",
        "style=\"transform:rotate(30deg);transform-origin:50% 20px\"",
        "style=\"transform-origin: bottom 20px left 30px;transform-origin:center center;transform:rotate(30deg)\"",
        "class=\"a\"",
    ])
    func `A transform is around its origin`(attributes: String) throws {
        let sheet = "<style>.a{fill:#000;transform-origin:center;transform:rotate(30deg)}</style>"
        #expect(
            try isSame(
                "\(sheet)<rect x=\"20\" y=\"16\" width=\"20\" height=\"8\" \(attributes)/>",
                "<rect x=\"20\" y=\"16\" width=\"20\" height=\"8\" transform=\"rotate(30,30,20)\"/>"))
    }

    @Test(arguments: ["", " ", "1 2 3 4", "a b", "1e9 0", "50% -"])
    func `A transform around an origin that is not valid stays as it is`(origin: String) {
        for attributes in [
            "transform=\"scale(2)\" transform-origin=\"\(origin)\"",
            "style=\"transform:scale(2);transform-origin:\(origin)\"",
        ] {
            #expect(text("<g \(attributes)/>").contains("<g \(attributes)/>"))
        }
    }

    @Test(arguments: ["0 0 60", "0 0 60px 40px", "0 0 -60 40", "a", "", "0 0 60 40 1"])
    func `A box or ratio that is not valid is ignored`(box: String) throws {
        let shape = "<rect x=\"5\" y=\"5\" width=\"20\" height=\"9\"/>"
        #expect(try isSame(shape, shape, "width=\"60\" height=\"40\" viewBox=\"\(box)\""))
        let ratio = "width=\"60\" height=\"40\" viewBox=\"0 0 60 40\" preserveAspectRatio=\"defer \(box)\""
        #expect(try isSame(shape, shape, ratio))
        for valid in ["none", "xMinYMax slice", " xMidYMid  meet "] {
            #expect(text("<image preserveAspectRatio=\"\(valid)\"/>").contains("\"\(valid)\""))
        }
    }

    @Test(
        arguments: [
            ("(min-width:60px)", true), ("(min-width:61px)", false), ("(max-width:60px)", true), ("(width>59px)", true),
            ("(width&lt;60px)", false), ("(height<=2.5em)", true), ("(height:40px)", true), ("(min-height:0)", true),
            ("(orientation:landscape)", true), ("(orientation:portrait)", false), ("(min-width>=3px)", nil),
            ("(width>=50%)", nil), ("(hover)", nil), ("width>1px", nil), ("(orientation:x)", nil), ("()", nil),
        ] as [(String, Bool?)])
    func `Media features about the size hold for the size of the drawing`(feature: String, expected: Bool?) {
        #expect(SVGViewport(["viewBox": "0,0 60 40"]).holds(feature) == expected)
        #expect(SVGViewport(["width": "60px", "viewBox": "1 1 6e1 40.0"]).holds(feature) == expected)
        #expect(SVGViewport(["width": "50%"]).holds(feature) == nil)
    }
}
