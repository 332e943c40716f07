/// Draws another image onto the image, such as a logo or a watermark (libvips `composite2`). It never changes the
/// image's size, and never draws outside it.
public struct Mark: Hashable, Codable, Sendable {
    /// How the colors of the mark and of the image below are combined, in the terms of CSS `mix-blend-mode`.
    public enum Blend: String, Codable, Sendable, CaseIterable {
        /// The mark covers the image below.
        case over
        /// Colors are multiplied: white disappears, the result is darker.
        case multiply
        /// Inverted colors are multiplied: black disappears, the result is lighter.
        case screen
        // The other separable modes of CSS (Compositing and Blending Level 1).
        case darken, lighten, overlay
        case hardLight = "hard-light"
        case softLight = "soft-light"
        case colorDodge = "color-dodge"
        case colorBurn = "color-burn"
        case difference, exclusion
    }

    /// How a mark fits a box of two sides, where it has a ``placement``.
    public enum Scaling: String, Codable, Sendable, CaseIterable {
        /// Scaled up or down into the box.
        case inside
        /// Scaled down into the box, if it is larger.
        case shrink
        /// Scaled to cover the box, and cropped to it around the center.
        case cover
        /// Stretched to the box.
        case fill
    }

    /// Where a mark begins along each side, also partly outside the image; nil = side by side over the whole side.
    public struct Placement: Hashable, Codable, Sendable {
        public var x: Place?
        public var y: Place?

        public init(x: Place?, y: Place?) {
            self.x = x
            self.y = y
        }
    }

    /// The range of ``opacity``.
    public static let opacities = 1...100

    /// The name of the ``PartImage`` that is drawn; empty = ``ImageRequest/mark``.
    public var image = ""
    /// The width of the box that the mark is scaled into, up or down; nil = follows from the height.
    public var width: Length?
    /// The height of that box; nil = follows from the width. Without both, the mark keeps its own size.
    public var height: Length?
    /// Where the mark lies; nil = side by side over the whole image, from the upper left corner.
    public var anchor: Anchor?
    /// The distance from the anchored edge, to the right of a centered anchor, or the gap between tiles.
    public var x: Length
    /// The same downward.
    public var y: Length
    /// In percent of the mark's own, 1…100.
    public var opacity: Int
    /// How colors are combined.
    public var blend: Blend
    /// Where the mark lies instead of at ``anchor``. With a placement, an animated mark plays along with an animation.
    public var placement: Placement?
    /// How the mark fits a box of two sides.
    public var scaling = Scaling.inside
    /// The SHA-256 of the mark's bytes in hexadecimal, as a part of the variant's key. The pipeline sets it.
    public var content = ""
    /// Whether the mark may exceed the image: by default at its own size even if it is larger, partly outside if its
    /// offsets say so, and with tiles around the center. Offsets are in CSS pixels.
    package var mayExceed = false

    /// A mark that by default lies in the lower right corner at its own size.
    public init(
        width: Length? = nil, height: Length? = nil, anchor: Anchor? = .bottomRight, x: Length = .pixels(0),
        y: Length = .pixels(0), opacity: Int = 100, blend: Blend = .over
    ) {
        self.width = width
        self.height = height
        self.anchor = anchor
        self.x = x
        self.y = y
        self.opacity = opacity
        self.blend = blend
    }
}

/// A part of a composition: a picture or a text, drawn onto the finished result.
public struct Layer: Hashable, Codable, Sendable {
    /// What a layer shows.
    public enum Content: Hashable, Codable, Sendable {
        case picture(Picture)
        case text(TextBox)
    }

    /// The most layers of a recipe, and the most named images of a request.
    public static let maxCount = 16

    /// The name of the layer in its request, see ``isName(_:)``. A picture has the ``PartImage`` of this name.
    public var name: String
    public var content: Content
    /// Where the layer begins along each side, also partly outside.
    public var x: Place
    public var y: Place
    /// In percent of the layer's own, one of ``Mark/opacities``.
    public var opacity = 100
    /// How the colors of the layer are combined with the colors below.
    public var blend = Mark.Blend.over

    /// An opaque layer, by default in the center.
    public init(_ name: String, _ content: Content, x: Place = Place(.center), y: Place = Place(.center)) {
        self.name = name
        self.content = content
        self.x = x
        self.y = y
    }

    /// Whether a text is the name of a layer: 1 to 32 lowercase letters, digits and hyphens.
    package static func isName(_ text: some StringProtocol) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

/// An image of a layer, and how it is made from its source.
public struct Picture: Hashable, Codable, Sendable {
    /// The changes of the picture. Percentages of its box are of the image below. Without a box, the picture keeps its
    /// size, but is scaled down to the image below. Its own layers, marks and texts have no effect.
    public var recipe: Recipe
    /// The SHA-256 of the picture's bytes in hexadecimal, as a part of the variant's key. The pipeline sets it.
    public var content = ""

    /// A picture made by a recipe, which by default is upright and otherwise unchanged.
    public init(_ recipe: Recipe = Recipe()) {
        self.recipe = recipe
    }
}
