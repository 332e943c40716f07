import DarkroomNetwork
import DarkroomTransforms

extension ValueFormat where Value == [EffectStep] {
    /// A list of effects, each a name with its values after colons.
    static var steps: ValueFormat {
        let entry = "(\(StepName.allCases.map(\.rawValue).joined(separator: "|")))(:[A-Za-z0-9#._~%-]+)*"
        return ValueFormat(
            .text(
                pattern: "^\(entry)(,\(entry)){0,\(EffectStep.maxCount - 1)}$",
                expected: "up to \(EffectStep.maxCount) steps separated by commas, such as blur:5,ro:90,mark")
        ) { text in
            let entries = text.split(separator: ",", omittingEmptySubsequences: false)
            guard entries.count <= EffectStep.maxCount else { return nil }
            let steps = entries.compactMap { StepText($0)?.step }
            let isDrawnOnce = [EffectStep.mark, .text].allSatisfy { step in steps.count { $0 == step } <= 1 }
            return steps.count == entries.count && isDrawnOnce ? steps : nil
        } write: { steps in
            steps.isEmpty ? nil : steps.map(\.text).joined(separator: ",")
        }
    }
}

/// The names of steps, which are the names of parameters where there is one.
enum StepName: String, CaseIterable {
    case blur, sharp, bri, mod, con, sat, hue, gam, linear, filt, pixelate, ro, flip, flop, cut, trim, scale, round,
        fill
    case pad, bg, mark, text
}

/// One entry of a list of steps while it is read.
private struct StepText {
    let name: StepName
    let values: [String]

    init?(_ entry: Substring) {
        let parts = entry.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard let first = parts.first, let name = StepName(rawValue: first) else { return nil }
        self.name = name
        values = Array(parts.dropFirst())
        guard Self.counts(name).contains(values.count) else { return nil }
    }

    /// How many values a step takes.
    private static func counts(_ name: StepName) -> ClosedRange<Int> {
        switch name {
        case .flip, .flop: 0...0
        case .mark: 0...Mark.valueCounts.upperBound
        case .text: 0...Caption.valueCounts.upperBound
        case .mod: 1...3
        case .blur, .bri, .con, .sat, .hue, .gam, .filt, .pixelate, .ro, .scale, .bg: 1...1
        case .trim: 0...2
        case .sharp, .round: 1...3
        case .cut, .linear: 4...4
        case .fill: 1...5
        case .pad: 5...5
        }
    }

    /// Nil for values outside their ranges.
    var step: EffectStep? {
        switch name {
        case .flip: .flip
        case .flop: .flop
        case .mark: mark
        case .text: caption
        case .blur: number(0, Blur.sigmas).map { .blur(Blur(sigma: $0)) }
        case .sharp: sharpen
        case .bri: integer(0, Brightness.percents).map { .brightness(Brightness(percent: $0)) }
        case .mod: lightness
        case .con: integer(0, Contrast.percents).map { .contrast(Contrast(percent: $0)) }
        case .sat: number(0, Saturation.factors).map { .saturation(Saturation(factor: $0)) }
        case .hue: integer(0, Hue.degrees).map { .hue(Hue(degrees: $0)) }
        case .gam: number(0, Gamma.exponents).map { .gamma(Gamma(exponent: $0)) }
        case .linear: linear
        case .filt: Filter(rawValue: values[0]).map { .filter($0) }
        case .pixelate: pixelate
        case .ro: integer(0, 90...270).flatMap { $0.isMultiple(of: 90) ? .rotate(degrees: $0) : nil }
        case .cut: cut
        case .trim: trim
        case .scale: scale
        case .round: round
        case .fill, .pad: canvas
        case .bg: color(values[0]).map { .flatten($0) }
        }
    }

    /// The text of the query, or a text of its own.
    private var caption: EffectStep? {
        if values.isEmpty { return .text }
        return values.count < Caption.valueCounts.lowerBound ? nil : Caption(values: values).map { .caption($0) }
    }

    /// The mark of the query as its parameters have it, or with values of its own.
    private var mark: EffectStep? {
        if values.isEmpty { return .mark }
        return values.count < Mark.valueCounts.lowerBound ? nil : Mark(values: values).map { .drawing($0) }
    }

    private var lightness: EffectStep? {
        guard let factor = number(0, Lightness.factors) else { return nil }
        guard values.count > 1 else { return .lightness(Lightness(factor: factor)) }
        guard values.count == 3, let chroma = number(1, Saturation.factors), let hue = integer(2, Hue.degrees) else {
            return nil
        }
        return .lightness(Lightness(factor: factor, chroma: chroma, hueDegrees: hue))
    }

    private var sharpen: EffectStep? {
        guard let sigma = number(0, Sharpen.sigmas) else { return nil }
        guard values.count > 1 else { return .sharpen(Sharpen(sigma: sigma)) }
        guard values.count == 3, let flat = number(1, Sharpen.slopes), let jagged = number(2, Sharpen.slopes) else {
            return nil
        }
        return .sharpen(Sharpen(sigma: sigma, flat: flat, jagged: jagged))
    }

    private var linear: EffectStep? {
        guard let factor = number(0, LinearTones.factors), let red = signed(1), let green = signed(2),
            let blue = signed(3)
        else { return nil }
        return .linear(LinearTones(factor: factor, red: red, green: green, blue: blue))
    }

    private var pixelate: EffectStep? {
        ValueFormat.length(Pixelate.pixels, percent: Pixelate.percents).read(values[0])
            .map { .pixelate(Pixelate(block: $0)) }
    }

    private var cut: EffectStep? {
        let lengths = values.compactMap { ValueFormat.length(0...999_999_999, percent: 0...100).read($0) }
        guard lengths.count == 4 else { return nil }
        return .excerpt(Crop(x: lengths[0], y: lengths[1], width: lengths[2], height: lengths[3]))
    }

    private var trim: EffectStep? {
        var trim = Trim(threshold: 10)
        if !values.isEmpty {
            guard let threshold = integer(0, Trim.thresholds) else { return nil }
            trim.threshold = threshold
        }
        if values.count == 2 {
            guard let corner = Trim.Corner(rawValue: values[1]) else { return nil }
            trim.corner = corner
        }
        return .trim(trim)
    }

    private var scale: EffectStep? {
        guard case .percent(let part)? = Length(parsing: values[0]),
            Scale.percents.contains(Double(part.hundredths) / 100)
        else { return nil }
        return .scale(Scale(part))
    }

    private var round: EffectStep? {
        guard let across = integer(0, RoundCorners.radii) else { return nil }
        guard let down = values.count > 1 ? integer(1, RoundCorners.radii) : across else { return nil }
        guard values.count == 3 else { return .round(RoundCorners(across: across, down: down)) }
        return Color(parsing: values[2]).map { .round(RoundCorners(across: across, down: down, background: $0.opaque)) }
    }

    /// `fill:color`, or with four widths clockwise from the top.
    private var canvas: EffectStep? {
        let widths = values.dropFirst().indices.compactMap { integer($0, 0...9999) }
        guard widths.count == values.count - 1, widths.isEmpty || widths.count == 4 else { return nil }
        let padding =
            widths.isEmpty
            ? Padding(0) : Padding(top: widths[0], right: widths[1], bottom: widths[2], left: widths[3])
        guard let fill = values[0] == "blur" ? .blur : color(values[0]).map(CanvasFill.Fill.color) else { return nil }
        let canvas = CanvasFill(fill, padding: padding)
        return name == .fill ? .canvas(canvas) : .pad(canvas)
    }

    /// A color that is opaque or transparent, or `auto`.
    private func color(_ text: String) -> FillColor? {
        if text == "auto" { return .average }
        guard let color = Color(parsing: text) else { return nil }
        return .color(color.alpha == 255 ? color : .transparent)
    }

    private func number(_ index: Int, _ range: ClosedRange<Double>) -> Double? {
        Digits.decimal(values[index]).flatMap { range.contains($0) ? $0 : nil }
    }

    private func integer(_ index: Int, _ range: ClosedRange<Int>) -> Int? {
        Digits.integer(values[index]).flatMap { range.contains($0) ? $0 : nil }
    }

    /// An offset of ``LinearTones``.
    private func signed(_ index: Int) -> Double? {
        let isNegative = values[index].hasPrefix("-")
        guard let size = Digits.decimal(isNegative ? String(values[index].dropFirst()) : values[index]) else {
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
    /// The values of the step.
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
            .text(pattern: "^\(number),\(number)$", expected: "x,y in pixels of the upright source")
        ) { text in
            let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            let numbers = parts.compactMap { part in part.wholeMatch(of: /[0-9]{1,7}(\.[0-9]{1,2})?/).map { _ in part }
            }
            .compactMap(Digits.decimal)
            guard parts.count == 2, numbers.count == 2 else { return nil }
            return FocusPoint(x: numbers[0], y: numbers[1])
        } write: {
            "\(ValueSchema.plain($0.x)),\(ValueSchema.plain($0.y))"
        }
    }
}

extension ValueFormat where Value == Inset? {
    /// One to four widths, as CSS repeats them; 0 is none.
    static var inset: ValueFormat {
        ValueFormat<Padding?>.padding.map {
            $0.map(Inset.init)
        } back: {
            .some($0?.sides)
        }
    }
}
