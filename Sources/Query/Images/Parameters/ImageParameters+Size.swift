import DarkroomTransforms

extension ImageParameters {
    /// The parameters of the box that an image is fitted to.
    static func size(_ limits: QueryLimits) -> [Row] {
        let resize = ParameterDocumentation.resize
        let side = ValueFormat.length(1...limits.maxOutputSide, percent: 1...Double(ImageQueryDraft.maxPercent))
        let box: [Row] = [
            Row(
                "w", side, \.width,
                resize("Width of the box in CSS pixels, or in percent of the upright, cropped source's width.")),
            Row(
                "h", side, \.height,
                resize("Height of the box in CSS pixels, or in percent of the upright, cropped source's height.")),
            Row(
                "dpr", .hundredths(1...8), \.pixelRatio,
                resize("Device pixel ratio that `w` and `h` are multiplied by.")),
            Row("fit", .choice(Fit.self), \.fitOrDefault, resize("How the image fills a box with two sides.")),
            Row("enlarge", .boolean, \.query.recipe.enlarge, resize("Enlarges images that are smaller than the box.")),
            Row("we", .boolean, \.withoutEnlargement, resize("Without enlargement: the same as `enlarge=false`.")),
            Row(
                "scaledown", .boolean, \.query.recipe.scaleDown,
                resize("Scales down a source or result that exceeds the pixel limits, instead of refusing it.")),
        ]
        return box + places + shapes(limits)
    }

    private static let places: [Row] = [
        Row(
            "a", .place, \.place,
            .of(
                .size, .transform(CoverCrop.self), .low,
                "Where `fit=cover` crops and `fit=contain` places the image: a position, the part with the most "
                    + "detail (`entropy`), the most salient part (`attention`) or a focal point (`focal`).")),
        Row(
            "fpx", .number(0...1), \.focalX,
            .of(.size, .transform(CoverCrop.self), "Focal point from the left edge; requires `a=focal`.")),
        Row(
            "fpy", .number(0...1), \.focalY,
            .of(.size, .transform(CoverCrop.self), "Focal point from the top edge; requires `a=focal`.")),
        Row(
            "focus", .focus, \.focus,
            .of(
                .size, .transform(CoverCrop.self),
                "Focal point in pixels of the upright source, instead of `fpx` and `fpy`; requires `a=focal`.")),
    ]

    private static func shapes(_ limits: QueryLimits) -> [Row] {
        let resize = ParameterDocumentation.resize
        return [
            Row(
                "resample", .choice(Resampling.self), \.query.recipe.resampling,
                resize("Trades speed for accuracy: `fast`, `accurate`, or `linear` for resampling in linear light.")),
            Row(
                "ar", .aspectRatio, \.aspectRatio,
                resize("Aspect ratio of the box: gives the side that `w` or `h` leaves out, and implies `fit=cover`.")),
            Row(
                "swap", .boolean, \.swapsSides,
                resize(
                    "Exchanges `w` and `h` for an upright image in a wide box, and for a wide image in an upright box.")
            ),
            Row(
                "min-w", .integer(1...limits.maxOutputSide), \.minWidth,
                resize("Minimum width in CSS pixels: enlarges a narrower result, and crops parts beyond the box.")),
            Row(
                "min-h", .integer(1...limits.maxOutputSide), \.minHeight,
                resize("Minimum height in CSS pixels: enlarges a shorter result, and crops parts beyond the box.")),
        ]
    }
}
