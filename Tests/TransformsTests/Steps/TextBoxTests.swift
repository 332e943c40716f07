import DarkroomRequests
import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct TextBoxTests {
    /// A rectangle of visible pixels, from the corner of the box; the far edges are inside.
    struct Ink: Equatable {
        var left, right, top, bottom: Int

        var width: Int { right - left + 1 }
        var height: Int { bottom - top + 1 }
    }

    static let canvas = PixelSize(width: 1200, height: 630)

    static func drawn(_ text: String, on canvas: PixelSize = canvas, _ change: (inout TextBox) -> Void = { _ in })
        throws -> DrawnTextBox
    {
        var box = TextBox(text)
        change(&box)
        return try box.drawn(on: canvas, named: "text.title", interrupt: { false })
    }

    static func ink(_ drawn: DrawnTextBox, where isInk: ([Int]) -> Bool = { $0[3] > 100 }) throws -> Ink {
        let pixels = try #require(drawn.image).asPixels()
        var found: Ink?
        for y in 0..<pixels.height {
            for x in 0..<pixels.width where isInk(pixels[x, y]) {
                let (column, row) = (x + drawn.x, y + drawn.y)
                let old = found ?? Ink(left: column, right: column, top: row, bottom: row)
                found = Ink(
                    left: min(old.left, column), right: max(old.right, column), top: min(old.top, row),
                    bottom: max(old.bottom, row))
            }
        }
        return try #require(found)
    }

    static func reason(_ change: (inout TextBox) -> Void) throws -> TransformError {
        try #require(#expect(throws: TransformError.self) { try drawn("Title", change) })
    }

    private static let title = "A town by the sea plants ten thousand trees in a year"

    // MARK: - Boxes

    @Test func `A box without sides is as large as its lines and its padding`() throws {
        let drawn = try Self.drawn("Hill") {
            $0.size = 50
            $0.padding = Padding(top: 10, right: 20, bottom: 30, left: 40)
        }
        let ink = try Self.ink(drawn)
        #expect(drawn.box.height == 60 + 40 && drawn.lines.count == 1)
        #expect(ink.left >= 40 && ink.left <= 46 && abs(ink.right - (drawn.box.width - 20)) <= 8)
        #expect(ink.top >= 10 && ink.bottom < 70 && (30...50).contains(ink.height))
    }

    @Test func `Percentages are of the image, and no box is larger than the image`() throws {
        let drawn = try Self.drawn("Hill") { ($0.width, $0.height) = (.percent(50), .percent(25)) }
        #expect(drawn.box == PixelSize(width: 600, height: 158) && drawn.fontSize == 52)
        let large = try Self.drawn("Hill") { ($0.width, $0.height) = (.pixels(9_999), .pixels(9_999)) }
        #expect(large.box == Self.canvas)
    }

    @Test func `A padding without space for the text is refused`() throws {
        let error = try Self.reason { ($0.width, $0.padding) = (.pixels(40), Padding(20)) }
        #expect(error.parameter == "text.title.pad" && error.reason.contains("a box of 40×630 pixels"))
    }

    @Test(arguments: TextBox.Alignment.allCases, TextBox.VerticalAlignment.allCases)
    func `Lines lie where the alignments say`(_ across: TextBox.Alignment, _ down: TextBox.VerticalAlignment) throws {
        let ink = try Self.ink(
            try Self.drawn("HoH\nH") {
                ($0.width, $0.height, $0.size, $0.padding) = (.pixels(600), .pixels(300), 40, Padding(20))
                ($0.alignment, $0.verticalAlignment) = (across, down)
            })
        switch across {
        case .start, .left, .justify: #expect((20...25).contains(ink.left))
        case .center: #expect(abs(ink.left + ink.right - 599) <= 2)
        case .right: #expect((574...579).contains(ink.right))
        }
        switch down {
        case .top: #expect((20...40).contains(ink.top))
        case .middle: #expect(abs(ink.top + ink.bottom - 299) <= 12)
        case .bottom: #expect((260...279).contains(ink.bottom))
        }
    }

    @Test func `Justified lines end at the edge, and the last line does not`() throws {
        let justified = try Self.drawn("one two three four five six seven eight nine ten") {
            ($0.width, $0.size, $0.alignment) = (.pixels(300), 30, .justify)
        }
        let pixels = try #require(justified.image).asPixels()
        let ends = (0..<justified.lines.count).map { line in
            let rows = (line * 36)..<min((line + 1) * 36, pixels.height + justified.y)
            return (0..<pixels.width).last { x in
                rows.contains { $0 >= justified.y && pixels[x, $0 - justified.y][3] > 100 }
            } ?? 0
        }
        #expect(justified.lines.count > 2)
        #expect(ends.dropLast().allSatisfy { $0 + justified.x >= 296 }, "\(ends)")
        #expect((ends.last ?? 300) + justified.x < 290)
    }

    @Test func `The line height is the distance of baselines in sizes of the font`() throws {
        for (height, distance) in [(1.0, 40), (1.5, 60), (2.0, 80)] {
            let (one, two) = (
                try Self.ink(try Self.drawn("H") { ($0.size, $0.lineHeight) = (40, height) }),
                try Self.ink(try Self.drawn("H\nH") { ($0.size, $0.lineHeight) = (40, height) })
            )
            #expect(abs(two.bottom - one.bottom - distance) <= 1 && two.top == one.top)
        }
    }

    // MARK: - Fitting

    @Test(
        arguments: [(700, 200), (300, 300), (1100, 90), (160, 500)],
        ["Hi", title, "Überfälle in Łódź, ÁÉÍ gjpqy", "jj", "The\nfirst\nof four\nlines", "日本語の見出しはここに入ります"])
    func `A text that fits fills its box and never exceeds it`(side: (Int, Int), text: String) throws {
        let box = PixelSize(width: side.0, height: side.1)
        guard VipsText(text, size: 40, width: nil).measured()?.missingGlyphs == 0 else { return }
        func drawn(_ fits: Bool, size: Int?) throws -> DrawnTextBox {
            try Self.drawn(text) {
                ($0.width, $0.height, $0.fits, $0.size) = (.pixels(box.width), .pixels(box.height), fits, size)
                $0.lineHeight = 1.1
            }
        }
        let fitted = try drawn(true, size: nil)
        let ink = try Self.ink(fitted, where: { $0[3] > 0 })
        #expect(ink.left >= 0 && ink.right < box.width && ink.top >= 0 && ink.bottom < box.height, "\(ink)")
        #expect(!fitted.lines.isCut && fitted.box == box)
        // A tenth larger, it would be cut, wrapped within a word or too wide.
        let larger = fitted.fontSize + max(fitted.fontSize / 10, 2)
        let layout = VipsTextLayout(
            text, font: VipsTextLayout.Font(family: "sans", weight: 400, isItalic: false), lineHeight: 1.1,
            alignment: .start, justifies: false)
        let lines = layout.lines(VipsTextLayout.Setting(size: larger, width: box.width, breaksWords: false))
        #expect(lines.width > box.width || lines.height > box.height)
    }

    @Test func `A fitted size stays within its limits, and a text too long for the least is cut`() throws {
        let short = try Self.drawn("Hi") { ($0.fits, $0.size) = (true, 48) }
        #expect(short.fontSize == 48)
        let long = try Self.drawn(String(repeating: "many words ", count: 40)) {
            ($0.width, $0.height, $0.fits, $0.minSize) = (.pixels(300), .pixels(100), true, 20)
        }
        #expect(long.fontSize == 20 && long.lines.isCut && long.lines.count == 4)
        #expect(try Self.ink(long).bottom < 100)
    }

    @Test func `Fitting limits the number of lines and keeps words whole`() throws {
        func fitted(_ lines: Int?) throws -> DrawnTextBox {
            try Self.drawn(Self.title) {
                ($0.width, $0.height, $0.fits, $0.maxLines) = (.pixels(500), .pixels(400), true, lines)
            }
        }
        #expect(try fitted(1).lines.count == 1 && fitted(2).lines.count == 2)
        #expect(try fitted(2).fontSize > fitted(1).fontSize && fitted(nil).fontSize > fitted(2).fontSize)
        let word = try Self.drawn("Donaudampfschifffahrtsgesellschaft") {
            ($0.width, $0.height, $0.fits) = (.pixels(500), .pixels(400), true)
        }
        #expect(word.lines.count == 1 && word.fontSize < 40)
    }

    // MARK: - Cutting

    @Test func `A text that is too long for its lines ends with an ellipsis in the last line`() throws {
        func drawn(_ text: String, _ lines: Int?) throws -> DrawnTextBox {
            try Self.drawn(text) { ($0.width, $0.size, $0.maxLines) = (.pixels(400), 40, lines) }
        }
        let whole = try drawn(Self.title, nil)
        #expect(whole.lines.count > 2 && !whole.lines.isCut)
        let cut = try drawn(Self.title, 2)
        #expect(cut.lines.count == 2 && cut.lines.isCut && cut.box.height == 96)
        // Dots stand on the baseline at the end of the line.
        let ink = try Self.ink(cut)
        let pixels = try #require(cut.image).asPixels()
        let last = (0..<pixels.height).filter { pixels[ink.right - cut.x, $0][3] > 100 }
        #expect(last.count < 8 && ink.right < 400)
        #expect(try drawn(Self.title, 50).lines == whole.lines)
    }

    @Test(arguments: [
        ("one\ntwo\nthree", 2, "one\ntwo…"), ("one\ntwo\nthree", 1, "one…"), ("one\n\nthree", 2, "one\n…"),
    ])
    func `A line feed that is cut off leaves an ellipsis behind its line`(text: String, lines: Int, same: String) throws
    {
        let cut = try Self.drawn(text) { ($0.width, $0.size, $0.maxLines) = (.pixels(400), 40, lines) }
        let written = try Self.drawn(same) { ($0.width, $0.size) = (.pixels(400), 40) }
        #expect(try #require(cut.image).asPixels().samples == #require(written.image).asPixels().samples)
        #expect(cut.lines.isCut && !written.lines.isCut)
    }

    @Test func `A text of one size is cut to the height of its box, and one line is always drawn`() throws {
        let cut = try Self.drawn(Self.title) { ($0.width, $0.height, $0.size) = (.pixels(300), .pixels(100), 40) }
        #expect(cut.lines.count == 2 && cut.lines.isCut)
        let low = try Self.drawn("Hill") { ($0.height, $0.size) = (.pixels(30), 40) }
        #expect(low.lines.count == 1 && low.box.height == 30)
    }

    @Test func `A word that is wider than the box is broken`() throws {
        let drawn = try Self.drawn(String(repeating: "long", count: 20)) { ($0.width, $0.size) = (.pixels(300), 40) }
        #expect(try drawn.lines.count > 3 && Self.ink(drawn).right < 300)
    }
}
