import DarkroomNetwork
package import DarkroomRequests

/// The values of the step `text`: text, x, y, size, color, and optionally a face, the width of lines and a blend mode.
extension Caption {
    /// The accepted numbers of values.
    static let valueCounts = 5...8

    /// Nil for values outside their ranges.
    init?(values: [String]) {
        guard let text = PercentEncoding.decode(values[0][...].utf8), Text.isValid(text),
            let x = Place(parsing: values[1], "l", "r"), let y = Place(parsing: values[2], "t", "b"),
            let size = Caption.Size(parsing: values[3]), let color = Color(parsing: values[4])
        else { return nil }
        self.init(text, x: x, y: y, size: size, color: color)
        if values.count > 5 {
            guard let face = Face(parsing: values[5]) else { return nil }
            self.face = face
        }
        if values.count > 6, values[6] != Self.unwrapped {
            guard let width = Length(parsing: values[6]), width.isSide else { return nil }
            self.width = width
        }
        if values.count > 7 {
            guard let blend = Mark.Blend(rawValue: values[7]) else { return nil }
            self.blend = blend
        }
    }

    /// The values as a list of steps spells them.
    var valueText: String {
        let values = [
            PercentEncoding.encode(text), x.text("l", "r"), y.text("t", "b"), size.text, color.hex,
            face.words.joined(separator: "-"), width.map { "\($0)" } ?? Self.unwrapped, blend.rawValue,
        ]
        let count = blend != .over ? 8 : width != nil ? 7 : face != Face() ? 6 : 5
        return values.prefix(count).joined(separator: ":")
    }

    /// In place of a width: lines are not wrapped.
    private static let unwrapped = "-"
}

/// The values of the step `mark`: x, y, and optionally width, height, opacity, blend, scaling, and
/// the name of the image.
extension Mark {
    /// The accepted numbers of values.
    static let valueCounts = 2...8

    /// Nil for values outside their ranges.
    init?(values: [String]) {
        self.init()
        var placement = Placement(x: nil, y: nil)
        for (text, letters, side) in [
            (values[0], ("l", "r"), \Placement.x), (values[1], ("t", "b"), \.y),
        ] as [(String, (Character, Character), WritableKeyPath<Placement, Place?>)] where text != Self.everywhere {
            guard let place = Place(parsing: text, letters.0, letters.1) else { return nil }
            placement[keyPath: side] = place
        }
        self.placement = placement
        for (text, side) in zip(values.dropFirst(2).prefix(2), [\Mark.width, \.height]) where text != Self.natural {
            guard let length = Length(parsing: text), length.isSide else { return nil }
            self[keyPath: side] = length
        }
        if values.count > 4 {
            guard let opacity = Digits.integer(values[4], in: Self.opacities) else { return nil }
            self.opacity = opacity
        }
        if values.count > 5 {
            guard let blend = Blend(rawValue: values[5]) else { return nil }
            self.blend = blend
        }
        if values.count > 6 {
            guard let scaling = Scaling(rawValue: values[6]) else { return nil }
            self.scaling = scaling
        }
        if values.count > 7 {
            guard Layer.isName(values[7]) else { return nil }
            image = values[7]
        }
    }

    /// The values as a list of steps spells them.
    var valueText: String {
        let values = [
            placement?.x?.text("l", "r") ?? Self.everywhere, placement?.y?.text("t", "b") ?? Self.everywhere,
            width.map { "\($0)" } ?? Self.natural, height.map { "\($0)" } ?? Self.natural, "\(opacity)",
            blend.rawValue, scaling.rawValue, image,
        ]
        let plain = [
            "", "", Self.natural, Self.natural, "\(Self.opacities.upperBound)", Blend.over.rawValue,
            Scaling.inside.rawValue, "",
        ]
        let count = values.indices.last { values[$0] != plain[$0] }.map { $0 + 1 } ?? 2
        return values.prefix(max(count, 2)).joined(separator: ":")
    }

    /// In place of a place: side by side over the whole side.
    private static let everywhere = "tile"
    /// In place of a width or a height: as the other one requires, or the mark's own.
    private static let natural = "-"
}

extension Place {
    /// Reads `c`, or the letter of an edge, followed by a distance or by nothing.
    init?(parsing text: String, _ start: Character, _ end: Character) {
        let edges: [Character: Edge] = [start: .start, "c": .center, end: .end]
        guard let letter = text.first, let edge = edges[letter] else { return nil }
        self.init(edge)
        guard text.utf8.count > 1 else { return }
        guard let distance = Length(parsing: String(text.dropFirst())), distance.isWithinCanvas else { return nil }
        self.distance = distance.isZero ? .pixels(0) : distance
    }

    /// The place with the letters of its axis, as a list of steps spells it.
    package func text(_ start: Character, _ end: Character) -> String {
        let letter =
            switch edge {
            case .start: start
            case .center: "c" as Character
            case .end: end
            }
        return "\(letter)\(distance.isZero ? "" : "\(distance)")"
    }
}

extension Caption.Size {
    /// Reads the size of a font, or `h` with the height of letters.
    fileprivate init?(parsing text: String) {
        let isHeight = text.hasPrefix("h")
        guard let pixels = Digits.integer(isHeight ? String(text.dropFirst()) : text, in: Text.sizes) else {
            return nil
        }
        self = isHeight ? .letters(pixels) : .font(pixels)
    }

    fileprivate var text: String {
        switch self {
        case .font(let pixels): "\(pixels)"
        case .letters(let pixels): "h\(pixels)"
        }
    }
}

extension Caption.Face {
    /// Reads a generic family with the styles `bold` and `italic`, such as `sans-bold`.
    fileprivate init?(parsing text: String) {
        var words = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard let family = Family(rawValue: words.removeFirst()) else { return nil }
        self.init()
        self.family = family
        (isBold, isItalic) = (words.contains("bold"), words.contains("italic"))
        guard self.words.dropFirst().elementsEqual(words) else { return nil }
    }
}

extension Length {
    /// Whether a drawing can have a side of this length.
    fileprivate var isSide: Bool { !isNegative && !isZero && isWithinCanvas }

    /// Whether it is a length that drawings may have: up to 99,999 pixels or 100 % either way.
    fileprivate var isWithinCanvas: Bool {
        switch self {
        case .pixels(let count): abs(count) < 100_000
        case .percent(let part): abs(part.hundredths) <= 10_000
        }
    }
}
