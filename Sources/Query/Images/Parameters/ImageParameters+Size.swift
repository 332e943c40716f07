import DarkroomTransforms

extension ImageParameters {
    /// The parameters of the box that an image is fitted to.
    static func size(_ limits: QueryLimits) -> [Row] {
        let resize = ParameterDocumentation.resize
        return [
            Row("w", .integer(1...limits.maxOutputSide), \.width, resize("Width of the box in CSS pixels.")),
            Row("h", .integer(1...limits.maxOutputSide), \.height, resize("Height of the box in CSS pixels.")),
            Row(
                "dpr", .hundredths(1...8), \.pixelRatio,
                resize("Device pixel ratio that `w` and `h` are multiplied by.")),
            Row("fit", .choice(Fit.self), \.query.recipe.fit, resize("How the image fills a box with two sides.")),
            Row("enlarge", .boolean, \.query.recipe.enlarge, resize("Enlarges images that are smaller than the box.")),
            Row("we", .boolean, \.withoutEnlargement, resize("Without enlargement: the same as `enlarge=false`.")),
            Row(
                "scaledown", .boolean, \.query.recipe.scaleDown,
                resize("Scales a source or result beyond the pixel limits down instead of refusing it.")),
            Row(
                "a", .place, \.place,
                .of(
                    .size, .transform(CoverCrop.self), .low,
                    "Where `fit=cover` crops and `fit=contain` places the image: a point, or the part with the most "
                        + "detail (`entropy`), the most salient part (`attention`) or a focal point (`focal`).")),
            Row(
                "fpx", .number(0...1), \.focalX,
                .of(.size, .transform(CoverCrop.self), "Focal point from the left edge; requires `a=focal`.")),
            Row(
                "fpy", .number(0...1), \.focalY,
                .of(.size, .transform(CoverCrop.self), "Focal point from the top edge; requires `a=focal`.")),
            Row(
                "resample", .choice(Resampling.self), \.query.recipe.resampling,
                resize("Trades speed for accuracy: `fast`, `accurate`, or `linear` for resampling in linear light.")),
        ]
    }
}
