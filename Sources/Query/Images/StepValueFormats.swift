import DarkroomNetwork
import DarkroomRequests

extension ValueFormat where Value == [EffectStep] {
    /// A list of effects, each a name with its values after colons.
    static var steps: ValueFormat {
        let entry = "(\(StepReader.all.map(\.name).joined(separator: "|")))(:[A-Za-z0-9#._~%-]+)*"
        return ValueFormat(
            pattern: "^\(entry)(,\(entry)){0,\(EffectStep.maxCount - 1)}$",
            expected: "up to \(EffectStep.maxCount) steps separated by commas, each name at most "
                + "\(EffectStep.maxRepetitions) times (mark and text \(EffectStep.maxDrawings)), such as "
                + "blur:5,ro:90,mark",
            write: { $0.isEmpty ? nil : $0.map(\.text).joined(separator: ",") },
            read: { text in
                let entries = text.split(separator: ",", omittingEmptySubsequences: false)
                guard entries.count <= EffectStep.maxCount, StepReader.permitsRepetitions(in: entries) else {
                    return nil
                }
                let steps = entries.compactMap(StepValues.step)
                let isDrawnOnce = [EffectStep.mark, .text].allSatisfy { step in steps.count { $0 == step } <= 1 }
                return steps.count == entries.count && isDrawnOnce ? steps : nil
            })
    }
}

/// Says which entry of a list of steps is wrong.
enum StepSuggestions {
    /// " There is no step 'foo'." with its leading space, or nothing where every entry is a step.
    static func sentence(for list: String) -> String {
        guard let entry = list.split(separator: ",").first(where: { StepValues.step($0) == nil }) else { return "" }
        let name = String(entry.prefix { $0 != ":" })
        let names = StepReader.all.map(\.name)
        guard names.contains(name) else {
            return " There is no step '\(InvalidParameter.clipped(name))'."
                + NameSuggestions.sentence(for: name, among: names)
        }
        return " Step '\(name)' has too few or too many values, or one out of range."
    }
}

/// How one step of a list is read.
private struct StepReader: Sendable {
    /// The name of a parameter where there is one.
    let name: String
    /// How many values the step takes.
    let counts: ClosedRange<Int>
    /// Nil for values outside their ranges.
    let read: @Sendable (StepValues) -> EffectStep?

    /// Whether no name is listed too often.
    static func permitsRepetitions(in entries: [Substring]) -> Bool {
        Dictionary(grouping: entries) { $0.prefix { $0 != ":" } }.allSatisfy { name, repeated in
            let isDrawing = name == "mark" || name == "text"
            return repeated.count <= (isDrawing ? EffectStep.maxDrawings : EffectStep.maxRepetitions)
        }
    }

    static let all: [StepReader] = [
        StepReader(name: "blur", counts: 1...1) { $0.number(0, Blur.sigmas).map { .blur(Blur(sigma: $0)) } },
        StepReader(name: "sharp", counts: 1...3, read: \.sharpen),
        StepReader(name: "bri", counts: 1...1) {
            $0.integer(0, Brightness.percents).map { .brightness(Brightness(percent: $0)) }
        },
        StepReader(name: "mod", counts: 1...3, read: \.lightness),
        StepReader(name: "con", counts: 1...1) {
            $0.integer(0, Contrast.percents).map { .contrast(Contrast(percent: $0)) }
        },
        StepReader(name: "sat", counts: 1...1) {
            $0.number(0, Saturation.factors).map { .saturation(Saturation(factor: $0)) }
        },
        StepReader(name: "hue", counts: 1...1) { $0.integer(0, Hue.degrees).map { .hue(Hue(degrees: $0)) } },
        StepReader(name: "gam", counts: 1...1) { $0.number(0, Gamma.exponents).map { .gamma(Gamma(exponent: $0)) } },
        StepReader(name: "linear", counts: 4...4, read: \.linear),
        StepReader(name: "filt", counts: 1...1) { Filter(rawValue: $0.texts[0]).map { .filter($0) } },
        StepReader(name: "pixelate", counts: 1...1, read: \.pixelate),
        StepReader(name: "ro", counts: 1...1) {
            $0.integer(0, 90...270).flatMap { $0.isMultiple(of: 90) ? .rotate(degrees: $0) : nil }
        },
        StepReader(name: "flip", counts: 0...0) { _ in .flip },
        StepReader(name: "flop", counts: 0...0) { _ in .flop },
        StepReader(name: "cut", counts: 4...4, read: \.cut),
        StepReader(name: "trim", counts: 0...2, read: \.trim),
        StepReader(name: "scale", counts: 1...1, read: \.scale),
        StepReader(name: "round", counts: 1...3, read: \.round),
        StepReader(name: "fill", counts: 1...5) { $0.canvas.map { .canvas($0) } },
        StepReader(name: "pad", counts: 5...5) { $0.canvas.map { .pad($0) } },
        StepReader(name: "bg", counts: 1...1) { values in values.color(0).map { .flatten($0) } },
        StepReader(name: "mark", counts: 0...Mark.valueCounts.upperBound, read: \.mark),
        StepReader(name: "text", counts: 0...Caption.valueCounts.upperBound, read: \.caption),
    ]
}

private struct StepValues {
    let texts: [String]

    /// The step of an entry; nil unless the step exists and can be read.
    static func step(_ entry: Substring) -> EffectStep? {
        let parts = entry.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let values = StepValues(texts: Array(parts.dropFirst()))
        guard let reader = StepReader.all.first(where: { $0.name == parts[0] }),
            reader.counts.contains(values.texts.count)
        else { return nil }
        return reader.read(values)
    }

    /// The text of the query, or a text of its own.
    var caption: EffectStep? {
        if texts.isEmpty { return .text }
        return texts.count < Caption.valueCounts.lowerBound ? nil : Caption(values: texts).map { .caption($0) }
    }

    /// The mark of the query as its parameters have it, or with values of its own.
    var mark: EffectStep? {
        if texts.isEmpty { return .mark }
        return texts.count < Mark.valueCounts.lowerBound ? nil : Mark(values: texts).map { .drawing($0) }
    }

    var lightness: EffectStep? {
        guard let factor = number(0, Lightness.factors) else { return nil }
        guard texts.count > 1 else { return .lightness(Lightness(factor: factor)) }
        guard texts.count == 3, let chroma = number(1, Saturation.factors), let hue = integer(2, Hue.degrees) else {
            return nil
        }
        return .lightness(Lightness(factor: factor, chroma: chroma, hueDegrees: hue))
    }

    var sharpen: EffectStep? {
        guard let sigma = number(0, Sharpen.sigmas) else { return nil }
        guard texts.count > 1 else { return .sharpen(Sharpen(sigma: sigma)) }
        guard texts.count == 3, let flat = number(1, Sharpen.slopes), let jagged = number(2, Sharpen.slopes) else {
            return nil
        }
        return .sharpen(Sharpen(sigma: sigma, flat: flat, jagged: jagged))
    }

    var linear: EffectStep? {
        guard let factor = number(0, LinearTones.factors), let red = signed(1), let green = signed(2),
            let blue = signed(3)
        else { return nil }
        return .linear(LinearTones(factor: factor, red: red, green: green, blue: blue))
    }

    var pixelate: EffectStep? {
        ValueFormat.length(Pixelate.pixels, percent: Pixelate.percents).read(texts[0])
            .map { .pixelate(Pixelate(block: $0)) }
    }

    var cut: EffectStep? {
        let lengths = texts.compactMap { ValueFormat.length(0...999_999_999, percent: 0...100).read($0) }
        guard lengths.count == 4 else { return nil }
        return .excerpt(Crop(x: lengths[0], y: lengths[1], width: lengths[2], height: lengths[3]))
    }

    var trim: EffectStep? {
        var trim = Trim(threshold: 10)
        if !texts.isEmpty {
            guard let threshold = integer(0, Trim.thresholds) else { return nil }
            trim.threshold = threshold
        }
        if texts.count == 2 {
            guard let corner = Trim.Corner(rawValue: texts[1]) else { return nil }
            trim.corner = corner
        }
        return .trim(trim)
    }

    var scale: EffectStep? {
        guard case .percent(let part)? = Length(parsing: texts[0]),
            Scale.percents.contains(Double(part.hundredths) / 100)
        else { return nil }
        return .scale(Scale(part))
    }

    var round: EffectStep? {
        guard let across = integer(0, RoundCorners.radii) else { return nil }
        guard let down = texts.count > 1 ? integer(1, RoundCorners.radii) : across else { return nil }
        guard texts.count == 3 else { return .round(RoundCorners(across: across, down: down)) }
        return Color(parsing: texts[2]).map { .round(RoundCorners(across: across, down: down, background: $0.opaque)) }
    }

    /// `fill:color`, or with four widths clockwise from the top.
    var canvas: CanvasFill? {
        let widths = texts.dropFirst().indices.compactMap { integer($0, 0...9999) }
        guard widths.count == texts.count - 1, widths.isEmpty || widths.count == 4 else { return nil }
        let padding =
            widths.isEmpty
            ? Padding(0) : Padding(top: widths[0], right: widths[1], bottom: widths[2], left: widths[3])
        guard let fill = texts[0] == "blur" ? .blur : color(0).map(CanvasFill.Fill.color) else { return nil }
        return CanvasFill(fill, padding: padding)
    }

    /// A color that is opaque or transparent, or `auto`.
    func color(_ index: Int) -> FillColor? {
        if texts[index] == "auto" { return .average }
        guard let color = Color(parsing: texts[index]) else { return nil }
        return .color(color.alpha == 255 ? color : .transparent)
    }

    func number(_ index: Int, _ range: ClosedRange<Double>) -> Double? {
        Digits.decimal(texts[index]).flatMap { range.contains($0) ? $0 : nil }
    }

    func integer(_ index: Int, _ range: ClosedRange<Int>) -> Int? { Digits.integer(texts[index], in: range) }

    /// An offset of ``LinearTones``.
    func signed(_ index: Int) -> Double? {
        let isNegative = texts[index].hasPrefix("-")
        guard let size = Digits.decimal(isNegative ? String(texts[index].dropFirst()) : texts[index]) else {
            return nil
        }
        let value = isNegative && size != 0 ? -size : size
        return LinearTones.offsets.contains(value) ? value : nil
    }
}

extension EffectStep {
    /// The entry as a list spells it.
    fileprivate var text: String {
        let plain = ValueSchema.plain
        return switch self {
        case .blur(let blur): "blur:\(plain(blur.sigma ?? Blur.sigmas.lowerBound))"
        case .sharpen(let sharpen):
            ([sharpen.sigma, sharpen.flat, sharpen.jagged].compactMap { $0.map(plain) }).reduce("sharp") {
                "\($0):\($1)"
            }
        case .brightness(let brightness): "bri:\(brightness.percent)"
        case .lightness(let lightness):
            "mod:\(plain(lightness.factor))"
                + (lightness.isPlain ? "" : ":\(plain(lightness.chroma)):\(lightness.hueDegrees)")
        case .contrast(let contrast): "con:\(contrast.percent)"
        case .saturation(let saturation): "sat:\(plain(saturation.factor))"
        case .hue(let hue): "hue:\(hue.degrees)"
        case .gamma(let gamma): "gam:\(plain(gamma.exponent))"
        case .linear(let tones):
            [tones.factor, tones.red, tones.green, tones.blue].map(plain).reduce("linear") { "\($0):\($1)" }
        case .filter(let filter): "filt:\(filter.rawValue)"
        case .pixelate(let pixelate): "pixelate:\(pixelate.block)"
        case .rotate(let degrees): "ro:\(degrees)"
        case .flip: "flip"
        case .flop: "flop"
        case .excerpt(let part): "cut:\(part.x):\(part.y):\(part.width):\(part.height)"
        case .trim(let trim):
            "trim:\(trim.threshold)" + (trim.corner == .topLeft ? "" : ":\(trim.corner.rawValue)")
        case .scale(let scale): "scale:\(scale.part)"
        case .round(let corners):
            "round:\(corners.across):\(corners.down)" + (corners.background.map { ":\($0.hex)" } ?? "")
        case .canvas(let fill): "fill:\(fill.text)"
        case .pad(let fill): "pad:\(fill.text)"
        case .flatten(let color): "bg:\(color.text)"
        case .mark: "mark"
        case .drawing(let mark): "mark:\(mark.valueText)"
        case .text: "text"
        case .caption(let caption): "text:\(caption.valueText)"
        }
    }
}

extension FillColor {
    fileprivate var text: String {
        switch self {
        case .color(let color): color.hex
        case .average: "auto"
        }
    }
}

extension CanvasFill {
    fileprivate var text: String {
        let color =
            switch fill {
            case .color(let color): color.text
            case .blur: "blur"
            }
        return "\(color):\(padding.top):\(padding.right):\(padding.bottom):\(padding.left)"
    }
}

/// A point of the upright source, in pixels.
struct FocusPoint: Hashable, Sendable {
    var x: Double
    var y: Double
}

extension ValueFormat where Value == FocusPoint {
    /// `x,y`, each with at most two decimals.
    static var focus: ValueFormat {
        let number = "[0-9]{1,7}(\\.[0-9]{1,2})?"
        return ValueFormat(
            pattern: "^\(number),\(number)$", expected: "x,y in pixels of the upright source",
            write: { "\(ValueSchema.plain($0.x)),\(ValueSchema.plain($0.y))" },
            read: { text in
                guard let point = text.wholeMatch(of: /([0-9]{1,7}(?:\.[0-9]{1,2})?),([0-9]{1,7}(?:\.[0-9]{1,2})?)/),
                    let x = Double(point.1), let y = Double(point.2)
                else { return nil }
                return FocusPoint(x: x, y: y)
            })
    }
}

extension ValueFormat where Value == Inset? {
    /// One to four widths, as CSS repeats them; 0 is none.
    static var inset: ValueFormat {
        ValueFormat<Padding?>.padding.map({ $0.map(Inset.init) }, back: { .some($0?.sides) })
    }
}
