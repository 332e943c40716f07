/// Writes a line or several on the image, within its edges, in the system's sans-serif fonts.
public struct Text: Hashable, Codable, Sendable {
    /// The accepted number of Unicode scalars.
    public static let lengths = 1...200
    /// The accepted sizes, in pixels of the result.
    public static let sizes = 6...500

    /// Plain text that `isValid`.
    public var text: String
    /// One of `sizes`; nil = a twelfth of the image's shorter side.
    public var size: Int?
    public var color: Color
    /// The position of the text, 0…1 from the left and from the top.
    public var position: Position

    /// A text, by default white at the lower edge.
    public init(
        _ text: String, size: Int? = nil, color: Color = .white, position: Position = .anchor(x: 0.5, y: 1)
    ) {
        self.text = text
        self.size = size
        self.color = color
        self.position = position
    }

    /// Whether a text is of an accepted length, without control characters but line feeds.
    public static func isValid(_ text: String) -> Bool { isPlain(text, lengths: lengths) }

    /// Whether a text has one of these numbers of scalars, and no control characters but line feeds.
    static func isPlain(_ text: String, lengths: ClosedRange<Int>) -> Bool {
        let scalars = text.unicodeScalars
        return lengths.contains(scalars.count)
            && scalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control: scalar == "\n"
                case .lineSeparator, .paragraphSeparator: false
                default: true
                }
            }
    }
}

/// Writes a line on the image, or several, at any place, also partly outside.
public struct Caption: Hashable, Codable, Sendable {
    /// How large the text is, in pixels of the result.
    public enum Size: Hashable, Codable, Sendable {
        /// The size of the font, one of ``Text/sizes``.
        case font(Int)
        /// The height that the drawn letters fill, one of ``Text/sizes``.
        case letters(Int)
    }

    /// A style of one of the generic families of fonts.
    public struct Face: Hashable, Codable, Sendable {
        public enum Family: String, Codable, Sendable, CaseIterable {
            case sans, serif, monospace
        }

        public var family = Family.sans
        public var isBold = false
        public var isItalic = false

        public init() {}

        /// The words of the face, the family first.
        package var words: [String] { [family.rawValue] + (isBold ? ["bold"] : []) + (isItalic ? ["italic"] : []) }
    }

    /// Plain text that `Text.isValid`.
    public var text: String
    public var x: Place
    public var y: Place
    public var size: Size
    public var color: Color
    public var face: Face
    /// The width at which lines are wrapped; nil = they are not wrapped.
    public var width: Length?
    /// How its colors are combined with the colors below.
    public var blend = Mark.Blend.over

    /// A black text.
    public init(
        _ text: String, x: Place, y: Place, size: Size, color: Color = .black, face: Face = Face(),
        width: Length? = nil
    ) {
        self.text = text
        self.x = x
        self.y = y
        self.size = size
        self.color = color
        self.face = face
        self.width = width
    }
}

/// Draws a label into a corner of an image whose source says that a generative model made it, wholly or in part. Other
/// images pass unchanged, and so do images without space for the label.
public struct AILabel: Hashable, Sendable {
    /// Where the label lies.
    public enum Place: String, Codable, Sendable, CaseIterable {
        /// Images have no label.
        case none
        case topLeft = "top-left"
        case topRight = "top-right"
        case bottomLeft = "bottom-left"
        case bottomRight = "bottom-right"
    }

    /// The corner.
    public var place: Place

    /// A label in this corner.
    package init(_ place: Place) {
        self.place = place
    }
}
