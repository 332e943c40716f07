import DarkroomRequests

extension ImageParameters {
    /// The parameters of texts, borders, shapes and padding.
    static let composition: [Row] = text + shapes

    private static let text: [Row] = [
        Row(
            "text", .caption, \.text.text, .composition, .transform("Text"), cost: .medium,
            "Writes a text on the image, under `mask` and `radius`, in the server's sans-serif fonts; `%0A` begins a "
                + "new line."),
        Row(
            "textsize", .integer(Text.sizes), \.text.size, .composition, .transform("Text"),
            "Size of `text` in CSS pixels; by default a twelfth of the result's shorter side."),
        Row("textcolor", .color, \.text.color, .composition, .transform("Text"), "Color of `text`."),
        Row("texta", .anchor, \.text.position, .composition, .transform("Text"), "Position of `text`."),
    ]

    private static let shapes: [Row] = [
        Row(
            "border", .border, \.query.recipe.border, .composition, .transform("Border"), cost: .medium,
            "Draws a border on the image, along the inside of its edge, `radius` or `mask`: width in CSS "
                + "pixels, and color, by default black."),
        Row(
            "radius", .radius, \.query.recipe.radius, .composition, .transform("Mask"), cost: .medium,
            "Rounds the corners, in CSS pixels or percent of the result's sides; several values as in CSS "
                + "`border-radius`."),
        Row(
            "mask", .choice(MaskShape.self), \.query.recipe.mask, .composition, .transform("Mask"), cost: .medium,
            "Cuts the image to a centered shape, as large as fits."),
        Row(
            "mbg", ValueFormat.color.map({ $0.alpha == 0 ? nil : $0 }, back: { $0 }), \.query.recipe.maskBackground,
            .composition, .transform("Mask"), cost: .low,
            "Color around the shape of `mask`, instead of transparency."),
        Row(
            "mtrim", .boolean, \.query.recipe.trimsMask, .composition, .transform("Mask"),
            "Crops the result to the shape of `mask`."),
        Row(
            "pad", .padding, \.query.recipe.padding, .composition, .transform("Pad"), cost: .low,
            "Adds space around the result in CSS pixels, filled with `bg`, by default with transparency or white; "
                + "several values as in CSS `padding`."),
    ]
}
