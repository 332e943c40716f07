import DarkroomRequests

extension ImageParameters {
    /// The parameters of effects that look at the neighbors of a pixel.
    static let effects: [Row] = [
        Row(
            "redact", .redaction, \.query.recipe.redaction, .effects, .transform("Redaction"), cost: .high,
            "Hides every face that is found, before all other steps: `face`, with the style `blur` (the default), "
                + "`pixelate` or a color after a colon, such as `face:pixelate`."),
        Row(
            "blur", ValueFormat.number(Blur.sigmas).map({ Blur(sigma: $0) }, back: \.sigma).bare(Blur()),
            \.query.recipe.blur, .effects, .transform("Blur"), cost: .high,
            "Gaussian blur with this sigma in CSS pixels; a mild 3 × 3 blur if the value is left out."),
        Row(
            "sharp", ValueFormat.number(Sharpen.sigmas).map({ Sharpen(sigma: $0) }, back: \.sigma).bare(Sharpen()),
            \.query.recipe.sharpen, .effects, .transform("Sharpen"), cost: .high,
            "Sharpens with this sigma in CSS pixels; a mild 3 × 3 kernel if the value is left out."),
        Row(
            "sharpf", .number(Sharpen.slopes), \.sharpFlat, .effects, .transform("Sharpen"),
            "How much `sharp` sharpens flat areas; by default not at all."),
        Row(
            "sharpj", .number(Sharpen.slopes), \.sharpJagged, .effects, .transform("Sharpen"),
            "How much `sharp` sharpens jagged areas; by default 3."),
        Row(
            "pixelate",
            ValueFormat.length(Pixelate.pixels, percent: Pixelate.percents).map(Pixelate.init(block:), back: \.block),
            \.query.recipe.pixelate, .effects, .transform("Pixelate"), cost: .low,
            "Replaces blocks by their mean color; the value is a block's side in CSS pixels, or in percent of the "
                + "result's width."),
        Row(
            "steps", .steps, \.query.recipe.steps, .effects, .init(name: "EffectStep"), cost: .high,
            "Effects in the order in which they run, after all other effects, each a name with values after colons, "
                + "such as `blur:5,ro:90,mark`."),
    ]
}
