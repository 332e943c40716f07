import DarkroomRequests

/// The parameters of a text box, by the names that follow its own.
enum TextBoxParameters {
    /// The text itself, which is the value of the box's own name.
    static var text: ValueFormat<String> {
        .text(
            pattern: #"^[^\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028\u2029]{1,500}$"#,
            expected: "a text of 1 to 500 characters, without control characters but line feeds", TextBox.isValid)
    }

    /// One parameter each, in the order of canonical queries.
    static let rows: [Parameter<TextBox>] = box + lines + letters + backdrop

    private typealias Row = Parameter<TextBox>

    private static let step = ParameterDocumentation.Step.transform("TextBox")

    private static let box: [Row] = {
        let side = ValueFormat.length(1...9_999, percent: 0.01...100)
        return [
            Row(
                "w", side, \.width, .composition, step,
                "Width of the box with its padding, in CSS pixels or in percent of the image's width; by default as "
                    + "the lines require."),
            Row(
                "h", side, \.height, .composition, step,
                "Height of the box with its padding, in CSS pixels or in percent of the image's height; by default as "
                    + "the lines require."),
            Row(
                "size", .integer(TextBox.sizes), \.size, .composition, step,
                "Size of the font in CSS pixels, with `fit` the largest; by default a twelfth of the image's shorter "
                    + "side."),
            Row(
                "fit", .boolean, \.fits, .composition, step, cost: .medium,
                "Makes the text as large as fits the box, without breaking a word."),
            Row(
                "min", .integer(TextBox.sizes), \.minSize, .composition, step,
                "Smallest size of a text with `fit`, which is cut if it is still too long."),
        ]
    }()

    private static let lines: [Row] = [
        Row(
            "lines", .integer(TextBox.lineCounts), \.maxLines, .composition, step,
            "Largest number of lines. A longer text ends with an ellipsis, as does one that exceeds the box."),
        Row(
            "align", .choice(TextBox.Alignment.self), \.alignment, .composition, step,
            "Alignment of lines; `start` is left, or right for scripts such as Arabic."),
        Row(
            "valign", .choice(TextBox.VerticalAlignment.self), \.verticalAlignment, .composition, step,
            "Vertical alignment of the lines in the box."),
        Row(
            "lh", .number(TextBox.lineHeights), \.lineHeight, .composition, step,
            "Distance of lines, in sizes of the font."),
    ]

    private static let letters: [Row] = [
        Row(
            "font", .fontName, \.font, .composition, step,
            "Family of fonts: the name of an installed one, `sans`, `serif` or `monospace`."),
        Row(
            "weight", .integer(TextBox.weights), \.weight, .composition, step,
            "Weight of the letters: 400 is regular, 700 is bold."),
        Row("italic", .boolean, \.isItalic, .composition, step, "Slants the letters."),
        Row("color", .color, \.color, .composition, step, "Color of the letters. Emoji keep their own."),
    ]

    private static let backdrop: [Row] = [
        Row("bg", .color, \.background, .composition, step, cost: .low, "Color of the box; by default none."),
        Row(
            "pad", .space, \.padding, .composition, step,
            "Space between the edges of the box and the text in CSS pixels; several values as in CSS `padding`."),
        Row(
            "radius", .radius, \.radius, .composition, step,
            "Rounds the corners of `bg`, in CSS pixels or percent; several values as in CSS `border-radius`."),
        Row(
            "shadow", .shadow, \.shadow, .composition, step, cost: .medium,
            "Shadow of the box, or of the letters without `bg`: the distances to the right and downward, the width of "
                + "the blur, and a color, which by default is black at half opacity."),
    ]

    /// The box that the parameters describe. Values that change nothing become the default, so that equal boxes have
    /// equal queries.
    ///
    /// - Parameter name: the box's own name, such as `text.title`.
    static func finished(_ box: TextBox, named name: String) throws(InvalidParameter) -> TextBox {
        var box = box
        let plain = TextBox("")
        try require(
            box.fits || box.minSize == plain.minSize, "\(name).min", "Parameter '\(name).min' requires '\(name).fit'.")
        if let size = box.size, box.fits {
            try require(
                box.minSize <= size || box.minSize == plain.minSize, "\(name).min",
                "Parameter '\(name).min' must not exceed '\(name).size' of \(size) pixels, got \(box.minSize).")
        }
        try require(
            box.radius == nil || box.background != nil, "\(name).radius",
            "Parameter '\(name).radius' requires '\(name).bg'.")
        if box.background?.alpha == 0 { (box.background, box.radius) = (nil, nil) }
        if box.height == nil { box.verticalAlignment = plain.verticalAlignment }
        return box
    }
}

extension ValueFormat where Value == String {
    fileprivate static var fontName: ValueFormat {
        text(
            pattern: "^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$",
            expected: "the name of a family of fonts, in letters, digits, spaces, -, _ and .", TextBox.isFontName)
    }
}

extension ValueFormat where Value == Padding {
    /// One to four widths.
    fileprivate static var space: ValueFormat {
        ValueFormat<Padding?>.padding.map({ $0 ?? Padding(0) }, back: { $0 })
    }
}

extension ValueFormat where Value == TextBox.Shadow {
    /// `x,y,blur` or `x,y,blur,color`.
    fileprivate static var shadow: ValueFormat {
        let plain = TextBox.Shadow(x: 0, y: 0, blur: 0).color
        return ValueFormat(
            pattern: "^(-?[0-9]{1,3},){2}[0-9]{1,3}(,\(ValueSchema.colorPattern))?$",
            expected: "x,y,blur from -200, -200 and 0 to 200 in pixels, alone or with a comma and a color"
        ) { shadow in
            "\(shadow.x),\(shadow.y),\(shadow.blur)" + (shadow.color == plain ? "" : ",\(shadow.color.hex)")
        } read: { text in
            let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard (3...4).contains(parts.count),
                let x = Digits.integer(parts[0], in: TextBox.Shadow.offsets),
                let y = Digits.integer(parts[1], in: TextBox.Shadow.offsets),
                let blur = Digits.integer(parts[2], in: TextBox.Shadow.blurs)
            else { return nil }
            guard parts.count == 4 else { return TextBox.Shadow(x: x, y: y, blur: blur) }
            return Color(parsing: parts[3]).map { TextBox.Shadow(x: x, y: y, blur: blur, color: $0) }
        }
    }
}

/// A named text while its parameters are read or written. Lengths are before `dpr`.
struct TextPartDraft: Sendable {
    /// Nil = not given.
    var text: String?
    var placing = LayerPlacing()
    /// How the text is set; its own text has no meaning.
    var box = TextBox("")

    fileprivate init() {}

    /// The draft that ``layer(_:_:_:)`` makes this layer of.
    init(writing layer: Layer, _ box: TextBox) {
        (text, self.box, placing) = (box.text, box, LayerPlacing(writing: layer))
    }

    /// The parameters after `text.NAME.`.
    static func table(_ limits: QueryLimits) -> ParameterTable<TextPartDraft> {
        let placing = LayerPlacing.rows(limits).map { Parameter($0, in: \TextPartDraft.placing) }
        return ParameterTable(
            TextBoxParameters.rows.map { Parameter($0, in: \TextPartDraft.box) } + placing, initial: TextPartDraft())
    }

    /// The text as a layer. Its lengths are in device pixels.
    func layer(_ name: String, _ ratio: Hundredths, _ limits: QueryLimits) throws(InvalidParameter) -> Layer {
        let parameter = "text.\(name)"
        guard let text else {
            throw InvalidParameter(
                parameter, "Parameter '\(parameter)' is missing: the text that other parameters place.")
        }
        var box = box
        box.text = text
        box = try TextBoxParameters.finished(box, named: parameter).multiplied(by: ratio, named: parameter)
        return placing.layer(name, .text(box), ratio, limits)
    }
}
