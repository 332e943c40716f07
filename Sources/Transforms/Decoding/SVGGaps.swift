/// What of an SVG is not drawn as browsers draw it, because librsvg does not know it.
public struct SVGGaps: OptionSet, Hashable, Codable, Sendable {
    /// One bit for each kind.
    public let rawValue: UInt8

    /// The kinds of these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// HTML in `foreignObject`, which is left out.
    static let foreignObject = SVGGaps(rawValue: 1 << 0)
    /// Variables of CSS whose value depends on the element.
    static let variables = SVGGaps(rawValue: 1 << 1)
    /// Colors of CSS Color 4 and 5, such as `oklch()`.
    static let colors = SVGGaps(rawValue: 1 << 2)
    /// Fonts that a style sheet brings along.
    static let fonts = SVGGaps(rawValue: 1 << 3)
    /// Embedded images that cannot be decoded, or exceed a limit.
    static let images = SVGGaps(rawValue: 1 << 4)

    /// Properties and attributes that librsvg does not know, such as `transform-origin`.
    static let properties = SVGGaps(rawValue: 1 << 5)
    /// Units of lengths that librsvg does not know, and `calc()`.
    static let units = SVGGaps(rawValue: 1 << 6)
    /// Conditional rules of style sheets that depend on more than the medium, such as `@supports`.
    static let rules = SVGGaps(rawValue: 1 << 7)

    /// The kinds by their names in documents and fields, sorted.
    package static let named: [(name: String, gap: SVGGaps)] = [
        ("css-colors", .colors), ("css-properties", .properties), ("css-rules", .rules), ("css-units", .units),
        ("css-variables", .variables), ("fonts", .fonts), ("foreign-object", .foreignObject), ("images", .images),
    ]

    /// All kinds.
    package static let all = named.reduce(into: SVGGaps()) { $0.formUnion($1.gap) }

    /// The names of these kinds, sorted.
    package var names: [String] { Self.named.filter { contains($0.gap) }.map(\.name) }
}
