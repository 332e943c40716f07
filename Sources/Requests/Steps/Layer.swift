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
