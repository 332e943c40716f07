/// A text in a box: wrapped to its width, aligned in it, and as large as it fits or cut with an ellipsis.
public struct TextBox: Hashable, Codable, Sendable {
    /// The horizontal position of lines.
    public enum Alignment: String, Codable, Sendable, CaseIterable {
        /// At the side where the text begins: left, or right for scripts such as Arabic.
        case start
        case left, center, right
        /// Lines are stretched to the whole width, except the last of a paragraph, which is aligned to its start.
        case justify
    }

    /// The vertical position of all lines together.
    public enum VerticalAlignment: String, Codable, Sendable, CaseIterable {
        case top, middle, bottom
    }

    /// A shadow of everything that the box shows: of the background if there is one, otherwise of the letters.
    public struct Shadow: Hashable, Codable, Sendable {
        /// The accepted distances to the right and downward, in pixels of the result.
        public static let offsets = -200...200
        /// The accepted widths of the blur.
        public static let blurs = 0...200

        /// One of `offsets`.
        public var x: Int
        /// One of `offsets`.
        public var y: Int
        /// The width of the soft edge, as in CSS: twice the standard deviation. One of `blurs`.
        public var blur: Int
        public var color: Color

        /// A shadow that by default is black at half opacity.
        public init(x: Int, y: Int, blur: Int, color: Color = Color(red: 0, green: 0, blue: 0, alpha: 128)) {
            self.x = x
            self.y = y
            self.blur = blur
            self.color = color
        }
    }

    /// The accepted number of Unicode scalars.
    public static let lengths = 1...500
    /// The accepted sizes of the font, in pixels of the result.
    public static let sizes = 6...999
    /// The accepted numbers of lines.
    public static let lineCounts = 1...50
    /// The accepted line heights, in sizes of the font.
    public static let lineHeights = 0.5...3.0
    /// The accepted weights: 400 is regular, 700 is bold.
    public static let weights = 100...900

    /// Plain text that `isValid`. A line feed begins a new line.
    public var text: String
    /// The width with padding, in pixels or percent of the image, of which no more than the image's width is used; nil
    /// = as the lines require, at most the image's width.
    public var width: Length?
    /// The height with padding; nil = as the lines require, at most the image's height.
    public var height: Length?
    /// The size of the font, or the largest if the text ``fits``, one of `sizes`. Nil = a twelfth of the image's
    /// shorter side, or the largest that is accepted.
    public var size: Int?
    /// Whether the text is as large as fits the box, from ``minSize`` to ``size``.
    public var fits = false
    /// The smallest size of a text that ``fits``. At this size, the text is cut.
    public var minSize = 12
    /// The most lines; nil = as many as fit the box. A longer text is cut, with an ellipsis.
    public var maxLines: Int?
    public var alignment = Alignment.start
    public var verticalAlignment = VerticalAlignment.top
    /// The distance of lines, in sizes of the font.
    public var lineHeight = 1.2
    /// An installed family of fonts, in any case, or `sans`, `serif` or `monospace`. Other fonts are used for
    /// characters that it lacks.
    public var font = "sans"
    /// One of `weights`. The nearest that the family has is used.
    public var weight = 400
    public var isItalic = false
    public var color = Color.white
    /// The color of the box; nil = none.
    public var background: Color?
    /// The space between the edges of the box and the text.
    public var padding = Padding(0)
    /// The round corners of the background; nil = none.
    public var radius: CornerRadii?
    public var shadow: Shadow?

    /// A white text at the start of its lines and at the top of its box.
    public init(_ text: String, width: Length? = nil, height: Length? = nil, size: Int? = nil) {
        self.text = text
        self.width = width
        self.height = height
        self.size = size
    }

    /// Whether a text is of an accepted length, without control characters but line feeds.
    public static func isValid(_ text: String) -> Bool { Text.isPlain(text, lengths: lengths) }

    /// Whether a text may be the name of a family: 1 to 64 ASCII letters, digits, spaces, `-`, `_` and `.`, whose
    /// first is a letter or a digit.
    public static func isFontName(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetterOrDigit(first) else { return false }
        return name.utf8.count <= 64 && name.utf8.allSatisfy { isLetterOrDigit($0) || " -_.".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
