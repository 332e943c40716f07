import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct TextTests {
    private let background = [40, 40, 90]

    private func written(
        _ text: Text, on size: PixelSize = PixelSize(width: 240, height: 120), alpha: UInt8? = nil,
        _ change: (inout Recipe) -> Void = { _ in }
    ) throws -> Pixels {
        let color: [UInt8] = [40, 40, 90] + (alpha.map { [$0] } ?? [])
        let source = try Drawing.flat(size.width, size.height, color).png()
        return try Pixels(
            produce(
                source,
                .with {
                    $0.text = text
                    change(&$0)
                }
            ).body)
    }

    /// The rectangle of pixels that differ from the background.
    private func inked(_ pixels: Pixels) -> (left: Int, right: Int, top: Int, bottom: Int)? {
        var found: (left: Int, right: Int, top: Int, bottom: Int)?
        for y in 0..<pixels.height {
            for x in 0..<pixels.width where pixels.distance(x: x, y: y, to: background) > 20 {
                let old = found ?? (x, x, y, y)
                found = (min(old.left, x), max(old.right, x), min(old.top, y), max(old.bottom, y))
            }
        }
        return found
    }

    @Test func `A text is drawn in its color at the lower edge, and the size stays`() throws {
        let pixels = try written(Text("Hill", size: 30, color: Color(red: 255, green: 200, blue: 0)))
        #expect(pixels.size == PixelSize(width: 240, height: 120) && pixels.bands == 3)
        let ink = try #require(inked(pixels))
        #expect(ink.top > 60 && (90...112).contains(ink.bottom))
        #expect((20...40).contains(ink.bottom - ink.top))
        #expect(abs(ink.left + ink.right - 240) <= 6)
        let strongest = (ink.left...ink.right).map { pixels.distance(x: $0, y: ink.bottom - 8, to: [255, 200, 0]) }
        #expect((strongest.min() ?? 255) <= 3)
    }

    @Test(arguments: [0, 0.5, 1], [0, 0.5, 1])
    func `An anchor moves the text to its side`(_ x: Double, _ y: Double) throws {
        let pixels = try written(Text("ox", size: 20, position: .anchor(x: x, y: y)))
        let ink = try #require(inked(pixels))
        let center = (Double(ink.left + ink.right) / 480, Double(ink.top + ink.bottom) / 240)
        #expect(abs(center.0 - (0.12 + 0.76 * x)) < 0.08 && abs(center.1 - (0.2 + 0.6 * y)) < 0.15)
        #expect(ink.left >= 9 && ink.right <= 230 && ink.top >= 9 && ink.bottom <= 110)
    }

    @Test func `A long text is wrapped, and one that needs more room is refused with what it takes`() throws {
        let words = Text("several words that need more than one line", size: 20, position: .center)
        let ink = try #require(inked(try written(words)))
        #expect(ink.bottom - ink.top > 40)
        let error = #expect(throws: ImageProcessingError.self) {
            try written(Text(String(repeating: "wide ", count: 40), size: 40))
        }
        guard case .badParameter(let reason) = error else { throw try #require(error) }
        #expect(reason.parameter == "text" && reason.reason.contains("space for 200×80; ask for a smaller textsize"))
    }

    @Test func `By default the size follows the image`() throws {
        func height(_ size: PixelSize) throws -> Int {
            let ink = try #require(inked(try written(Text("H"), on: size)))
            return ink.bottom - ink.top
        }
        #expect(
            try abs(height(PixelSize(width: 600, height: 480)) - 2 * height(PixelSize(width: 300, height: 240))) <= 4)
    }

    @Test func `Markup is drawn as it is written`() throws {
        let plain = try written(Text("<b>&amp;</b>", size: 24))
        let bold = try #require(inked(plain))
        let short = try #require(inked(try written(Text("&", size: 24))))
        #expect(bold.right - bold.left > 4 * (short.right - short.left))
        #expect(throws: Never.self) { try written(Text("</span><span size='900000'>", size: 12)) }
        #expect(throws: Never.self) { try written(Text("&#1; &lt \"'", size: 12)) }
    }

    @Test(arguments: ["\u{600}", "\u{D4E}"], ["\u{301}", "\u{FE0F}", "\u{200D}", ""])
    func `Markup is drawn as it is written if it is part of a longer character`(before: String, after: String) {
        for sign in ["<", ">", "&"] {
            #expect(throws: Never.self) {
                try VipsText("a\(before)\(sign)\(after)i>b", size: 20, width: 200).drawn(
                    color: "#ffffff", alignment: "low")
            }
            #expect(throws: Never.self) {
                try VipsText("a\(sign)\(after)b", size: 20, width: 200).drawn(color: "#ffffff", alignment: "low")
            }
        }
    }

    @Test func `Arabic is shaped: joined letters are narrower than single ones`() throws {
        func width(_ text: String) throws -> Int {
            let ink = try #require(inked(try written(Text(text, size: 40))))
            return ink.right - ink.left
        }
        // U+200C keeps letters apart.
        #expect(try width("بببب") < width("ب\u{200C}ب\u{200C}ب\u{200C}ب"))
    }

    @Test func `An emoji is drawn, or refused if no font has it`() throws {
        for text in ["😀", "👍🏽"] {
            guard VipsText(text, size: 40, width: 200).measured()?.missingGlyphs == 0 else {
                #expect(throws: ImageProcessingError.self) { try written(Text(text, size: 40)) }
                continue
            }
            #expect(inked(try written(Text(text, size: 40))) != nil)
        }
    }

    @Test func `Characters that no font has are refused`() throws {
        let error = #expect(throws: ImageProcessingError.self) { try written(Text("a\u{F0000}b\u{F0001}", size: 20)) }
        guard case .badParameter(let reason) = error else { throw try #require(error) }
        #expect(reason.parameter == "text" && reason.reason == "the fonts of this server lack 2 of its characters")
    }

    @Test(arguments: [0, 0.5, 1])
    func `The baseline does not move with the letters above and below it`(_ y: Double) throws {
        func bottom(_ text: String) throws -> Int {
            try #require(inked(try written(Text(text, size: 30, position: .anchor(x: 0.5, y: y))))).bottom
        }
        let baseline = try bottom("x")
        for text in ["A", "H", "i", "AHi"] { #expect(try abs(bottom(text) - baseline) <= 1, "\(text)") }
        #expect(try bottom("Ag") > baseline + 3)
        // Letters without descenders stand where they stand beside them.
        let beside = try written(Text("HHHHg", size: 30, position: .anchor(x: 0, y: y)))
        let alone = try written(Text("HHHH", size: 30, position: .anchor(x: 0, y: y)))
        for row in 0..<120 { #expect(beside[18, row] == alone[18, row]) }
    }

    @Test func `A line feed begins a new line, aligned with the others`() throws {
        let size = PixelSize(width: 300, height: 200)
        func ink(_ text: String, _ x: Double, _ y: Double) throws -> (left: Int, right: Int, top: Int, bottom: Int) {
            try #require(inked(try written(Text(text, size: 20, position: .anchor(x: x, y: y)), on: size)))
        }
        let (one, two) = (try ink("HHH", 0.5, 0), try ink("HHH\nH", 0.5, 0))
        #expect(two.top == one.top && two.left == one.left && two.right == one.right)
        #expect(two.bottom - one.bottom >= 20)
        #expect(try ink("HHH\nH", 0.5, 1).bottom == ink("H", 0.5, 1).bottom)
        // Empty lines take space.
        #expect(try ink("H\n\nH", 0.5, 0).bottom > two.bottom + 15)
        #expect(try ink("HHH\nH", 1, 0).right == ink("HHH", 1, 0).right)
        #expect(throws: ImageProcessingError.self) {
            try ink(Array(repeating: "H", count: 12).joined(separator: "\n"), 0.5, 0)
        }
    }

    @Test func `Accepted are 1 to 200 characters without controls but line feeds`() {
        for text in ["a", "é", "a b", "a\nb", "👩‍👩‍👧", "\u{202E}abc", String(repeating: "é", count: 200)] {
            #expect(Text.isValid(text), "\(text)")
        }
        for text in ["", "a\rb", "a\tb", "a\0b", "\u{85}", "\u{2028}", "\u{7F}", String(repeating: "x", count: 201)] {
            #expect(!Text.isValid(text), "\(text)")
        }
        // One character of many scalars.
        #expect(!Text.isValid("a" + String(repeating: "\u{301}", count: 200)))
    }

    @Test func `A translucent color shows the image, and transparency of the image stays`() throws {
        let pixels = try written(Text("███", size: 40, color: Color(red: 255, green: 255, blue: 255, alpha: 128)))
        let ink = try #require(inked(pixels))
        let middle = pixels[(ink.left + ink.right) / 2, (ink.top + ink.bottom) / 2]
        #expect(zip(middle, [148, 148, 173]).allSatisfy { abs($0 - $1) <= 3 })
        let clear = try written(Text("a", size: 20), alpha: 0)
        #expect(clear[5, 5][3] == 0 && clear.samples.contains { $0 > 200 })
    }

    @Test func `A text lies under the mask, and blank text draws nothing`() throws {
        let masked = try written(Text("██████", size: 40, position: .center)) { $0.mask = .circle }
        #expect(masked[30, 60][3] == 0 && masked[120, 60] == [255, 255, 255, 255])
        for blank in ["   ", "\u{200B}", "\u{2060}", " \u{200B} ", "\u{202E}", "\u{FE0F}"] {
            #expect(inked(try written(Text(blank))) == nil)
        }
    }

    @Test func `Every frame of an animation has the text`() throws {
        let recipe = Recipe.with {
            $0.text = Text("██", size: 12, color: Color(red: 255, green: 0, blue: 255), position: .center)
        }
        let result = try produce(
            Fixture.image("animation/opaque.gif"), recipe, output: OutputOptions(format: .webp, lossless: true))
        #expect(result.frames > 1)
        for frame in 0..<result.frames {
            let pixels = try Pixels(result.body, frame: frame)
            #expect(pixels.distance(x: pixels.width / 2, y: pixels.height / 2, to: [255, 0, 255]) <= 2)
        }
    }
}
