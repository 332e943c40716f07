import DarkroomTransforms

extension ImageParameters {
    /// The parameters of what is cut, turned and mirrored.
    static let geometry: [Row] = [
        Row(
            "crop", .rectangle, \.query.recipe.crop,
            .of(.geometry, .transform(Crop.self), "Cuts a rectangle out of the upright source before it is resized.")),
        Row(
            "trim", ValueFormat.integer(Trim.thresholds).bare(10).map(Trim.init(threshold:), back: \.threshold),
            \.query.recipe.trim,
            .of(
                .geometry, .transform(Trim.self), .high,
                "Removes a border of one color; the value is the tolerated difference, 10 where it is left out.")),
        Row(
            "orient", .orientation, \.query.recipe.orientation,
            .of(
                .geometry, .transform(Orient.self), .low,
                "Uses the EXIF orientation of the source (`auto`), none, or the given one.")),
        Row(
            "ro", .wholeDegrees, \.query.recipe.rotationDegrees,
            .of(.geometry, .transform(Rotate.self), .medium, "Rotates clockwise by degrees, after resizing.")),
        Row(
            "flip", .boolean, \.query.recipe.flip,
            .of(.geometry, .transform(Flip.self), .low, "Mirrors the image top to bottom.")),
        Row(
            "flop", .boolean, \.query.recipe.flop,
            .of(.geometry, .transform(Flop.self), .low, "Mirrors the image left to right.")),
    ]
}
