import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

/// Fonts, scripts, backgrounds and shadows of text boxes.
struct TextBoxStyleTests {
    private typealias Boxes = TextBoxTests

    private static func areEqual(_ one: DrawnTextBox, _ other: DrawnTextBox) throws -> Bool {
        try #require(one.image).asPixels().samples == #require(other.image).asPixels().samples
    }

    // MARK: - Fonts

    @Test func `A font that is not installed is refused with its name and some that are`() throws {
        let error = try Boxes.reason { $0.font = "No Such Font" }
        #expect(error.parameter == "text.title.font")
        #expect(error.reason.hasPrefix("no font 'No Such Font' is installed on this server; installed are '"))
        let family = try #require(VipsText.fontFamilies.first)
        #expect(error.reason.contains("'\(family)'"))
    }

    @Test func `A family is found in any case, and the generic families always exist`() throws {
        let family = try #require(VipsText.fontFamilies.first { TextBox.isFontName($0) })
        #expect(throws: Never.self) { try Boxes.drawn("Title") { $0.font = family.uppercased() } }
        for name in ["sans", "Serif", "monospace"] {
            #expect(throws: Never.self) { try Boxes.drawn("Title") { $0.font = name } }
        }
        func width(_ text: String, _ font: String) throws -> Int {
            try Boxes.ink(try Boxes.drawn(text) { ($0.font, $0.size) = (font, 40) }).width
        }
        #expect(try abs(width("iiiiii", "monospace") - width("WWWWWW", "monospace")) < 30)
        #expect(try width("WWWWWW", "sans") > 2 * width("iiiiii", "sans"))
    }

    @Test func `Bold letters have more ink, and italic ones another shape`() throws {
        func drawn(_ change: (inout TextBox) -> Void = { _ in }) throws -> DrawnTextBox {
            try Boxes.drawn("Illustrated") {
                $0.size = 60
                change(&$0)
            }
        }
        func amount(_ drawn: DrawnTextBox) throws -> Int {
            let pixels = try #require(drawn.image).asPixels()
            return stride(from: 3, to: pixels.samples.count, by: 4).reduce(0) { $0 + Int(pixels.samples[$1]) }
        }
        #expect(try Double(amount(drawn { $0.weight = 700 })) > 1.2 * Double(amount(drawn())))
        #expect(try !Self.areEqual(drawn { $0.isItalic = true }, drawn()))
    }

    @Test func `Characters that no font has are refused`() throws {
        let error = #expect(throws: TransformError.self) { try Boxes.drawn("a\u{F0000}b\u{F0001}") }
        #expect(
            error
                == TransformError(
                    parameter: "text.title", reason: "the fonts of this server lack 2 of its characters"))
    }

    // MARK: - Scripts

    @Test func `A text of a script from right to left starts at the right`() throws {
        func ink(_ text: String, _ alignment: TextBox.Alignment) throws -> TextBoxTests.Ink {
            try Boxes.ink(try Boxes.drawn(text) { ($0.width, $0.size, $0.alignment) = (.pixels(500), 40, alignment) })
        }
        for text in ["שלום", "مرحبا"] {
            #expect(try ink(text, .start).right > 490 && ink(text, .left).left < 10)
        }
        #expect(try ink("Hill", .start).left < 10)
        // The line begins with the text's own direction.
        #expect(try ink("שלום abc", .start).right > 490)
    }

    @Test func `An Arabic text is joined, wrapped and cut`() throws {
        let text = "مرحبا بالعالم هذا عنوان طويل جدا لا يتسع له السطر"
        let cut = try Boxes.drawn(text) { ($0.width, $0.size, $0.maxLines) = (.pixels(400), 40, 2) }
        #expect(cut.lines.count == 2 && cut.lines.isCut)
        let ink = try Boxes.ink(cut)
        #expect(ink.left >= 0 && ink.right < 400)
    }

    @Test func `Marks that pile up on a letter draw no more than the box and a margin`() throws {
        let pile = try Boxes.drawn("a" + String(repeating: "\u{302}", count: 499)) {
            ($0.width, $0.height, $0.size) = (.pixels(200), .pixels(100), 50)
        }
        let image = try #require(pile.image)
        #expect(image.height <= 200 && image.width <= 300 && pile.box == PixelSize(width: 200, height: 100))
    }

    @Test func `Markup is drawn as it is written`() throws {
        let markup = try Boxes.drawn("<b>&amp;</b>") { $0.size = 40 }
        let sign = try Boxes.drawn("&") { $0.size = 40 }
        #expect(try Boxes.ink(markup).width > 4 * Boxes.ink(sign).width)
    }

    @Test func `Blank text draws nothing but its background`() throws {
        for blank in ["   ", "\u{200B}", "\u{202E}", "\n"] {
            #expect(try Boxes.drawn(blank).image == nil)
            let filled = try Boxes.drawn(blank) {
                ($0.width, $0.height, $0.background) = (.pixels(9), .pixels(8), .black)
            }
            #expect(try #require(filled.image).size == PixelSize(width: 9, height: 8))
        }
    }

    // MARK: - Color

    @Test func `Letters have their color, and alpha fades them`() throws {
        func strongest(_ color: Color) throws -> [Int] {
            let pixels = try #require(try Boxes.drawn("█") { ($0.size, $0.color) = (40, color) }.image).asPixels()
            return pixels[pixels.width / 2, pixels.height / 2]
        }
        #expect(try strongest(Color(red: 200, green: 100, blue: 50)) == [200, 100, 50, 255])
        let faded = try strongest(Color(red: 200, green: 100, blue: 50, alpha: 128))
        #expect(faded == [200, 100, 50, 128])
    }

    @Test func `A background fills the box, with round corners`() throws {
        let drawn = try Boxes.drawn("Hill") {
            ($0.width, $0.height, $0.size) = (.pixels(300), .pixels(100), 30)
            ($0.background, $0.radius) = (Color(red: 10, green: 20, blue: 30), CornerRadii(.pixels(30)))
        }
        let pixels = try #require(drawn.image).asPixels()
        #expect(pixels.size == drawn.box && drawn.x == 0 && drawn.y == 0)
        #expect(pixels[0, 0][3] == 0 && pixels[150, 0] == [10, 20, 30, 255] && pixels[0, 50] == [10, 20, 30, 255])
        #expect(pixels[299, 99][3] == 0)
        #expect(
            (0..<300).contains { x in (0..<100).contains { pixels.distance(x: x, y: $0, to: [255, 255, 255]) < 9 } })
    }

    @Test func `A shadow lies at its offset, and its blur reaches beyond the box`() throws {
        func drawn(_ blur: Int) throws -> DrawnTextBox {
            try Boxes.drawn("Hill") {
                ($0.width, $0.height, $0.size, $0.background) = (.pixels(200), .pixels(100), 30, .white)
                $0.shadow = TextBox.Shadow(x: 20, y: 30, blur: blur, color: Color(red: 255, green: 0, blue: 0))
            }
        }
        let sharp = try drawn(0)
        let ink = try Boxes.ink(sharp) { $0[0] == 255 && $0[1] == 0 && $0[3] == 255 }
        #expect(ink.right == 219 && ink.bottom == 129 && sharp.box == PixelSize(width: 200, height: 100))
        let pixels = try #require(sharp.image).asPixels()
        #expect(pixels[5 - sharp.x, 5 - sharp.y] == [255, 255, 255, 255])
        // Half of the blur lies outside, and its middle is on the edge.
        let soft = try drawn(20)
        let blurred = try #require(soft.image).asPixels()
        let row = 100 - soft.y
        #expect((20...45).contains(blurred[228 - soft.x, row][3]) == true, "\(blurred[228 - soft.x, row])")
        #expect(abs(blurred[220 - soft.x, row][3] - 124) < 12, "\(blurred[220 - soft.x, row])")
        #expect(blurred[245 - soft.x, row][3] <= 2)
    }

    @Test func `A wide shadow is as soft as a narrow one`() throws {
        let drawn = try Boxes.drawn("█") {
            ($0.width, $0.height, $0.background) = (.pixels(600), .pixels(400), .black)
            $0.shadow = TextBox.Shadow(x: 0, y: 0, blur: 200, color: .black)
        }
        let pixels = try #require(drawn.image).asPixels()
        let edge = pixels[pixels.width / 2, 400 - drawn.y + 1][3]
        #expect(abs(edge - 124) < 12, "\(edge)")
        let fall = (0..<100).map { pixels[pixels.width / 2, 400 - drawn.y + 1 + $0][3] }
        #expect(zip(fall, fall.dropFirst()).allSatisfy { $0 >= $1 && $0 - $1 <= 2 })
    }

    // MARK: - Cost

    @Test func `Every property is a part of the key`() {
        let plain = TextBox("Title").key
        let changes: [(inout TextBox) -> Void] = [
            { $0.text = "title" }, { $0.width = .pixels(9) }, { $0.height = .percent(9) }, { $0.size = 9 },
            { $0.fits = true }, { $0.maxLines = 2 }, { $0.alignment = .center }, { $0.verticalAlignment = .middle },
            { $0.lineHeight = 1 }, { $0.font = "serif" }, { $0.weight = 700 }, { $0.isItalic = true },
            { $0.color = .black }, { $0.background = .black }, { $0.padding = Padding(1) },
            { $0.radius = CornerRadii(.pixels(1)) }, { $0.shadow = TextBox.Shadow(x: 1, y: 2, blur: 3) },
            { ($0.fits, $0.minSize) = (true, 20) },
        ]
        let keys = changes.map { change in
            var box = TextBox("Title")
            change(&box)
            return box.key
        }
        #expect(Set(keys + [plain]).count == changes.count + 1)
    }

    @Test func `A box costs by its part of the image, its text and what is drawn`() {
        func cost(_ text: String = "Title", _ change: (inout TextBox) -> Void) -> TransformCost {
            var box = TextBox(text)
            change(&box)
            return box.cost
        }
        let plain = cost { _ in }
        #expect(cost { $0.width = .percent(50) }.nanosecondsPerPixel == plain.nanosecondsPerPixel / 2)
        #expect(cost { $0.fits = true }.nanosecondsPerFrame > plain.nanosecondsPerFrame)
        #expect(cost(String(repeating: "x", count: 500)) { _ in }.nanosecondsPerFrame > plain.nanosecondsPerFrame)
        #expect(
            cost { $0.shadow = TextBox.Shadow(x: 0, y: 0, blur: 9) }.nanosecondsPerPixel > plain.nanosecondsPerPixel)
    }
}
