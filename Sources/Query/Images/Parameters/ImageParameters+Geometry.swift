import DarkroomTransforms

extension ImageParameters {
    /// The parameters of what is cut, turned and mirrored.
    static let geometry: [Row] = [
        Row(
            "crop", .rectangle, \.query.recipe.crop,
            .of(.geometry, .transform(Crop.self), "Cuts a rectangle out of the upright source before it is resized.")),
        Row(
            "trim",
            ValueFormat.integer(Trim.thresholds).bare(10).map {
                Trim(threshold: $0)
            } back: {
                $0.threshold
            },
            \.query.recipe.trim,
            .of(
                .geometry, .transform(Trim.self), .high,
                "Removes a border of one color; the value is the tolerated difference, 10 where it is left out.")),
        Row(
            "tbg", .color, \.trimBackground,
            .of(
                .geometry, .transform(Trim.self),
                "Color of the border that `trim` removes, instead of that of the upper left pixel.")),
        Row(
            "orient", .orientation, \.query.recipe.orientation,
            .of(
                .geometry, .transform(Orient.self), .low,
                "Uses the EXIF orientation of the source (`auto`), none, or the given one.")),
        Row(
            "ro", .wholeDegrees, \.query.recipe.rotationDegrees,
            .of(.geometry, .transform(Rotate.self), .medium, "Rotates clockwise by degrees, after resizing.")),
        Row(
            "rbg", .color, \.query.recipe.cornerBackground,
            .of(.geometry, .transform(Rotate.self), "Fills the corners of a rotation instead of `bg`.")),
        Row(
            "flip", .boolean, \.query.recipe.flip,
            .of(.geometry, .transform(Flip.self), .low, "Mirrors the image top to bottom.")),
        Row(
            "flop", .boolean, \.query.recipe.flop,
            .of(.geometry, .transform(Flop.self), .low, "Mirrors the image left to right.")),
        Row(
            "cut",
            ValueFormat.rectangle.map {
                Cut(x: $0.x, y: $0.y, width: $0.width, height: $0.height)
            } back: {
                Crop(x: $0.x, y: $0.y, width: $0.width, height: $0.height)
            },
            \.query.recipe.cut,
            .of(
                .geometry, .transform(Cut.self),
                "Cuts a rectangle out of the resized and rotated image; what exceeds the image is left out.")),
        Row(
            "rules", .choice(ChainRules.self), \.query.recipe.rules,
            .of(
                .geometry, .transform(Resize.self),
                "Whose order of steps and whose sizes apply: `weserv` for those of weserv/images.")),
    ]
}
