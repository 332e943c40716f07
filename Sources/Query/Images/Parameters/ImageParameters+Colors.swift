import DarkroomRequests

extension ImageParameters {
    static let colors: [Row] = [
        Row(
            "bg", .backdrop, \.backdrop, .color, .transform("Flatten"), cost: .low,
            "Background of transparent pixels, of rotated corners and of the canvas of `fit=contain`, which is white "
                + "by default around an opaque source; `blur` fills the canvas with the blurred image."),
        Row(
            "cbg", .color, \.query.recipe.canvasBackground, .color, .transform("ContainExtend"),
            "Fills the canvas of `fit=contain` instead of `bg`."),
        Row(
            "bri",
            ValueFormat.integer(Brightness.percents).effect(offAt: 0, Brightness.init(percent:), back: \.percent),
            \.query.recipe.brightness, .color, .transform("Brightness"), cost: .low,
            "Brightness in percent of full scale, added to each channel."),
        Row(
            "mod", ValueFormat.number(Lightness.factors).effect(offAt: 1, { Lightness(factor: $0) }, back: \.factor),
            \.query.recipe.lightness, .color, .transform("Lightness"), cost: .low,
            "Lightness as a factor: 0 is black, 1 is unchanged."),
        Row(
            "con", ValueFormat.integer(Contrast.percents).effect(offAt: 0, Contrast.init(percent:), back: \.percent),
            \.query.recipe.contrast, .color, .transform("Contrast"), cost: .low,
            "Contrast along a sigmoid curve; beyond 100 few tones remain."),
        Row(
            "sat", ValueFormat.number(Saturation.factors).effect(offAt: 1, Saturation.init(factor:), back: \.factor),
            \.query.recipe.saturation, .color, .transform("Saturation"), cost: .low,
            "Saturation as a factor: 0 is gray, 1 is unchanged."),
        Row(
            "hue", ValueFormat.integer(Hue.degrees).effect(offAt: 0, Hue.init(degrees:), back: \.degrees),
            \.query.recipe.hue, .color, .transform("Hue"), cost: .low, "Rotates the hue by degrees."),
        Row(
            "gam",
            ValueFormat.number(Gamma.exponents).bare(Gamma().exponent)
                .effect(offAt: 1, Gamma.init(exponent:), back: \.exponent),
            \.query.recipe.gamma, .color, .transform("Gamma"), cost: .low,
            "Gamma exponent, \(ValueSchema.plain(Gamma().exponent)) if the value is left out; below 1 it darkens."),
        Row(
            "tint", ValueFormat.color.map(Tint.init) { $0.color }, \.query.recipe.tint, .color, .transform("Tint"),
            cost: .low, "Tints the image with a color and keeps its luminance."),
        Row(
            "filt", .choice(Filter.self), \.query.recipe.filter, .color, .transform("Filter"), cost: .low,
            "Applies a color filter."),
        Row(
            "duotone", .duotone, \.query.recipe.duotone, .color, .transform("Duotone"), cost: .low,
            "Maps luminance to a gradient between two colors: first the color of shadows, then the color of "
                + "highlights."),
    ]
}

extension ValueFormat where Value == Duotone {
    /// Two colors, separated by a comma.
    fileprivate static var duotone: ValueFormat {
        ValueFormat(
            pattern: "^\(ValueSchema.colorPattern),\(ValueSchema.colorPattern)$",
            expected: "two colors separated by a comma, each in hexadecimal or a CSS color name",
            write: { "\($0.shadow.hex),\($0.highlight.hex)" },
            read: { text in
                let colors = text.split(separator: ",", omittingEmptySubsequences: false).map {
                    Color(parsing: String($0))
                }
                guard colors.count == 2, let shadow = colors[0], let highlight = colors[1] else { return nil }
                return Duotone(shadow: shadow, highlight: highlight)
            })
    }
}
