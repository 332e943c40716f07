import DarkroomCVips

/// A text in fonts of the system, laid out by Pango and drawn by libvips (`text`).
///
/// Words are wrapped at a width, and within a word if it is wider. Pango chooses fonts by character and shapes scripts
/// such as Arabic. The text is plain: markup in it is drawn as it is written.
public struct VipsText: Sendable {
    /// Plain text. It must not contain NUL.
    public let text: String
    /// Pixels of the em square, at least 1.
    public let size: Int
    /// The width in pixels at which lines are wrapped; nil = lines are not wrapped.
    public let width: Int?
    /// The family and the style, in the words of Pango.
    public let face: String

    /// The size of the layout.
    public struct Measure: Hashable, Sendable {
        /// In pixels.
        public let width: Int
        /// In pixels, from the ascent of the first line to the descent of the last, whatever letters they have.
        public let height: Int
        /// The distance from there to the highest pixel that is drawn; negative if a stroke reaches higher.
        public let inkTop: Int
        /// Characters that no font of the system has.
        public let missingGlyphs: Int
    }

    public init(_ text: String, size: Int, width: Int?, face: String = "sans") {
        self.text = text
        self.size = size
        self.width = width
        self.face = face
    }

    /// Lays the text out without drawing it; nil if no fonts are installed.
    public func measured() -> Measure? {
        VipsRuntime.start()
        var (across, down, top, missing): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        let width = width.map(Int32.init(clamping:)) ?? -1
        guard darkroom_measure_text(text, font, width, &across, &down, &top, &missing) == 0 else { return nil }
        return Measure(width: Int(across), height: Int(down), inkTop: Int(top), missingGlyphs: Int(missing))
    }

    /// Reads the settings of the system's fonts ahead of the first text. Starts no thread, which a layout may do.
    package static func loadFontSettings() { darkroom_load_fonts() }

    /// Whether an installed font has each character; nil where fontconfig does not list the fonts. Starts no thread.
    package static func fontsHave(_ characters: [Unicode.Scalar]) -> [Bool]? {
        var found = [UInt8](repeating: 0, count: characters.count)
        guard darkroom_find_characters(characters.map(\.value), Int32(clamping: characters.count), &found) == 0 else {
            return nil
        }
        return found.map { $0 != 0 }
    }

    /// The names of the families of fonts that texts can have, sorted, with fontconfig's aliases. May start a thread.
    package static var fontFamilies: [String] {
        VipsRuntime.start()
        var names: [String] = []
        withUnsafeMutablePointer(to: &names) { names in
            darkroom_list_fonts(
                { name, names in
                    guard let name else { return }
                    names?.assumingMemoryBound(to: [String].self).pointee.append(String(cString: name))
                }, names)
        }
        return names.sorted()
    }

    /// Draws the text on transparency, as sRGB with alpha.
    ///
    /// - Parameters:
    ///   - color: `#rrggbb`; emoji keep their own colors.
    ///   - alignment: of lines: `low` (left), `centre` or `high` (right).
    public func drawn(color: String, alignment: String) throws(VipsError) -> VipsImage {
        try VipsImage.build(
            "text",
            [
                "text": .string(markup(color)), "font": .string(font), "width": .int(width ?? 0),
                "align": .string(alignment), "dpi": .int(72), "rgba": true, "wrap": "word-char",
            ])
    }

    /// Draws the text as large as it fits into a box, whatever its ``size``.
    public func drawn(color: String, filling box: (width: Int, height: Int)) throws(VipsError) -> VipsImage {
        try VipsImage.build(
            "text",
            [
                "text": .string(markup(color)), "font": .string(face), "width": .int(box.width),
                "height": .int(box.height), "rgba": true, "wrap": "word-char",
            ])
    }

    private func markup(_ color: String) -> String { "<span foreground=\"\(color)\">\(text.markupEscaped)</span>" }

    /// At 72 dots per inch, points are pixels.
    private var font: String { "\(face) \(size)" }
}

extension String {
    /// The text as the content of an XML element. Scalar by scalar: in one character with a combining mark, `<` still
    /// begins a tag.
    package var markupEscaped: String {
        unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
