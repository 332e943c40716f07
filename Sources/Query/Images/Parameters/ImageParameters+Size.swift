import DarkroomRequests

extension ImageParameters {
    /// The parameters of the box that an image is fitted to.
    static func size(_ limits: QueryLimits) -> [Row] {
        let side = ValueFormat.length(1...limits.maxOutputSide, percent: 1...Double(ImageQueryDraft.maxPercent))
        let box: [Row] = [
            Row(
                "w", side, \.width, .size, .transform("Resize"), cost: .medium,
                "Width of the box in CSS pixels, or in percent of the upright, cropped source's width."),
            Row(
                "h", side, \.height, .size, .transform("Resize"), cost: .medium,
                "Height of the box in CSS pixels, or in percent of the upright, cropped source's height."),
            Row(
                "dpr", .hundredths(1...8), \.pixelRatio, .size, .transform("Resize"), cost: .medium,
                "Device pixel ratio that `w`, `h` and all lengths in CSS pixels are multiplied by."),
            Row(
                "fit", .choice(Fit.self), \.fitOrDefault, .size, .transform("Resize"), cost: .medium,
                "How the image fills a box with two sides."),
            Row(
                "enlarge", .boolean, \.query.recipe.enlarge, .size, .transform("Resize"), cost: .medium,
                "Enlarges images that are smaller than the box."),
            Row(
                "we", .boolean, \.withoutEnlargement, .size, .transform("Resize"), cost: .medium,
                "Without enlargement: the same as `enlarge=false`."),
            Row(
                "scaledown", .boolean, \.query.recipe.scaleDown, .size, .transform("Resize"), cost: .medium,
                "Scales down a source or result that exceeds the pixel limits, instead of refusing it."),
        ]
        return box + places(limits) + shapes(limits)
    }

    private static func places(_ limits: QueryLimits) -> [Row] {
        [
            Row(
                "a", .place(findsFaces: limits.findsFaces), \.place, .size, .transform("CoverCrop"), cost: .low,
                "Where `fit=cover` crops and `fit=contain` places the image: a position, most detail (`entropy`), the "
                    + "most salient part (`attention`), the largest face (`face`), all faces (`faces`) or a focal "
                    + "point (`focal`)."
            ),
            Row(
                "facezoom", .number(FaceFocus.zooms), \.faceZoom, .size, .transform("CoverCrop"), cost: .medium,
                "How closely `a=face` and `a=faces` crop: from 0, as much of the image as possible, to 1, the heads "
                    + "alone."
            ),
            Row(
                "fpx", .number(0...1), \.focalX, .size, .transform("CoverCrop"),
                "Focal point from the left edge; requires `a=focal`."),
            Row(
                "fpy", .number(0...1), \.focalY, .size, .transform("CoverCrop"),
                "Focal point from the top edge; requires `a=focal`."),
            Row(
                "focus", .focus, \.focus, .size, .transform("CoverCrop"),
                "Focal point in pixels of the upright source, instead of `fpx` and `fpy`; requires `a=focal`."),
        ]
    }

    private static func shapes(_ limits: QueryLimits) -> [Row] {
        [
            Row(
                "resample", .choice(Resampling.self), \.query.recipe.resampling, .size, .transform("Resize"),
                cost: .medium,
                "How pixels are averaged: `fast`, `accurate`, or `linear`, which averages every source in linear light."
            ),
            Row(
                "ar", .aspectRatio, \.aspectRatio, .size, .transform("Resize"), cost: .medium,
                "Aspect ratio of the box: gives the side that `w` or `h` leaves out, and implies `fit=cover`."),
            Row(
                "swap", .boolean, \.swapsSides, .size, .transform("Resize"), cost: .medium,
                "Exchanges `w` and `h` for an upright image in a wide box, and for a wide image in an upright box."),
            Row(
                "min-w", .integer(1...limits.maxOutputSide), \.minWidth, .size, .transform("Resize"), cost: .medium,
                "Minimum width in CSS pixels: enlarges a narrower result, and crops parts beyond the box."),
            Row(
                "min-h", .integer(1...limits.maxOutputSide), \.minHeight, .size, .transform("Resize"), cost: .medium,
                "Minimum height in CSS pixels: enlarges a shorter result, and crops parts beyond the box."),
        ]
    }
}
