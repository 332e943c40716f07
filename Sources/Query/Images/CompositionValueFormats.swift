import DarkroomRequests

extension ValueFormat where Value == String {
    /// Plain text, in which a line feed begins a new line.
    static var caption: ValueFormat {
        text(
            pattern: #"^[^\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028\u2029]{1,200}$"#,
            expected: "a text of 1 to 200 characters, without control characters but line feeds", Text.isValid)
    }
}

enum BackdropName: Hashable, Sendable {
    case color(Color)
    /// The image itself, blurred.
    case blur
}

extension ValueFormat where Value == BackdropName {
    /// A color or `blur`.
    static var backdrop: ValueFormat {
        ValueFormat(
            pattern: "^\(ValueSchema.colorPattern)$", expected: ValueSchema.color.expected + ", or blur",
            write: { if case .color(let color) = $0 { color.hex } else { "blur" } },
            read: { $0.lowercased() == "blur" ? .blur : Color(parsing: $0).map { .color($0) } })
    }
}

extension ImageQueryDraft {
    var backdrop: BackdropName? {
        get { query.recipe.blursBackdrop ? .blur : query.recipe.background.map { .color($0) } }
        set {
            query.recipe.blursBackdrop = newValue == .blur
            query.recipe.background = if case .color(let color) = newValue { color } else { nil }
        }
    }
}

extension ValueFormat where Value == BorderStyle? {
    /// `width` or `width,color`; a width of 0 means no border.
    static var border: ValueFormat {
        ValueFormat(
            pattern: "^[0-9]{1,3}(,\(ValueSchema.colorPattern))?$",
            expected: "a width from 0 to 999 in pixels, alone or with a comma and a color"
        ) { style in
            style.map { "\($0.width)" + ($0.color == .black ? "" : ",\($0.color.hex)") } ?? "0"
        } read: { text in
            let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let width = parts.first.flatMap(Digits.upTo(3)) else { return nil }
            guard parts.count == 1 || Color(parsing: parts[1]) != nil else { return nil }
            guard width > 0 else { return .some(nil) }
            return BorderStyle(width: width, color: parts.dropFirst().first.flatMap(Color.init(parsing:)) ?? .black)
        }
    }
}

extension ValueFormat where Value == Padding? {
    /// One to four widths; 0 is none.
    static var padding: ValueFormat {
        ValueFormat(
            pattern: "^[0-9]{1,4}(,[0-9]{1,4}){0,3}$",
            expected: "one to four widths from 0 to 9999 in pixels, separated by commas"
        ) { padding in
            padding.map { CSSSides(all: [$0.top, $0.right, $0.bottom, $0.left]).text } ?? "0"
        } read: { text in
            guard let sides = CSSSides(text, Digits.upTo(4))?.all else { return nil }
            let padding = Padding(top: sides[0], right: sides[1], bottom: sides[2], left: sides[3])
            return .some(padding == Padding(0) ? nil : padding)
        }
    }
}

extension ValueFormat where Value == CornerRadii? {
    /// One to four radii; 0 is none. Percentages are read as `50p` or `50%`, and written as `50p`, which needs no
    /// encoding.
    static var radius: ValueFormat {
        let radius = "([0-9]{1,4}|(100|[0-9]{1,2}(\\.[0-9]{1,2})?)[p%])"
        return ValueFormat(
            pattern: "^\(radius)(,\(radius)){0,3}$",
            expected: "one to four radii, separated by commas, from 0 to 9999 in pixels or from 0p to 100p in percent"
        ) { radii in
            radii.map { CSSSides(all: [$0.topLeft, $0.topRight, $0.bottomRight, $0.bottomLeft]).text } ?? "0"
        } read: { text in
            guard let corners = CSSSides(text, Self.length)?.all else { return nil }
            guard !corners.allSatisfy(\.isZero) else { return .some(nil) }
            return CornerRadii(
                topLeft: corners[0], topRight: corners[1], bottomRight: corners[2], bottomLeft: corners[3])
        }
    }

    private static func length(_ text: String) -> Length? {
        guard text.hasSuffix("p") || text.hasSuffix("%") else { return Digits.upTo(4)(text).map { .pixels($0) } }
        guard let length = Length(parsing: text), case .percent(let part) = length, !text.hasPrefix("-"),
            part.hundredths <= 10_000
        else { return nil }
        return length.isZero ? .pixels(0) : length
    }
}

/// One to four values for the sides or corners of a box, as CSS repeats them.
private struct CSSSides<Value: Equatable> {
    /// Four values, clockwise from the top or from the upper left.
    let all: [Value]

    /// The shortest spelling.
    var text: String {
        let count = all[3] != all[1] ? 4 : all[2] != all[0] ? 3 : all[1] != all[0] ? 2 : 1
        return all.prefix(count).map { "\($0)" }.joined(separator: ",")
    }
}

extension CSSSides {
    /// Reads values separated by commas; nil if the list is empty or too long, or if a value cannot be read.
    init?(_ text: String, _ read: (String) -> Value?) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let values = parts.compactMap { read(String($0)) }
        guard values.count == parts.count, (1...4).contains(values.count) else { return nil }
        let right = values.count > 1 ? values[1] : values[0]
        let bottom = values.count > 2 ? values[2] : values[0]
        self.init(all: [values[0], right, bottom, values.count > 3 ? values[3] : right])
    }
}

extension Digits {
    /// A reader of integers of one to `count` digits.
    fileprivate static func upTo(_ count: Int) -> (String) -> Int? {
        { text in
            guard (1...count).contains(text.utf8.count), text.utf8.first != UInt8(ascii: "-") else { return nil }
            return integer(text)
        }
    }
}
