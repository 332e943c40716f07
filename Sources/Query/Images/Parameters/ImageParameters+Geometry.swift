import DarkroomRequests

extension ImageParameters {
    /// The parameters for cutting, rotating and mirroring.
    static let geometry: [Row] = [
        Row(
            "inset", .inset, \.query.recipe.inset, .geometry, .transform("Inset"),
            "Cuts this many pixels off each side of the upright source, before everything else; several values as in "
                + "CSS `inset`."),
        Row(
            "crop", .rectangle(of: "the upright source"), \.query.recipe.crop, .geometry, .transform("Crop"),
            "Cuts a rectangle out of the upright source before it is resized."),
        Row(
            "trim", ValueFormat.integer(Trim.thresholds).bare(10).map({ Trim(threshold: $0) }, back: \.threshold),
            \.query.recipe.trim, .geometry, .transform("Trim"), cost: .high,
            "Removes a border of one color; the value is the tolerated difference, 10 if it is left out."),
        Row(
            "tbg", .color, \.trimBackground, .geometry, .transform("Trim"),
            "Color of the border that `trim` removes; by default the color of the upper left pixel."),
        Row(
            "tcorner", .choice(Trim.Corner.self), \.trimCorner, .geometry, .transform("Trim"),
            "Corner from which `trim` takes the color of the border, without `tbg`."),
        // EXIF orientation 1 means that pixels are stored upright.
        Row(
            "orient",
            .choice([
                "auto": .auto, "none": .none, "1": .none, "2": .exif(2), "3": .exif(3), "4": .exif(4), "5": .exif(5),
                "6": .exif(6), "7": .exif(7), "8": .exif(8),
            ]), \.query.recipe.orientation, .geometry, .transform("Orient"), cost: .low,
            "EXIF orientation to apply: the orientation of the source (`auto`), none, or the given one."),
        Row(
            "ro", .wholeDegrees, \.query.recipe.rotationDegrees, .geometry, .transform("Rotate"), cost: .medium,
            "Rotates clockwise by degrees, after resizing."),
        Row(
            "rbg", .color, \.query.recipe.cornerBackground, .geometry, .transform("Rotate"),
            "Fills the corners of a rotation instead of `bg`."),
        Row(
            "flip", .boolean, \.query.recipe.flip, .geometry, .transform("Flip"), cost: .low,
            "Mirrors the image top to bottom."),
        Row(
            "flop", .boolean, \.query.recipe.flop, .geometry, .transform("Flop"), cost: .low,
            "Mirrors the image left to right."),
        Row(
            "cut", .rectangle(of: "the resized and rotated image"), \.query.recipe.cut, .geometry,
            .transform("Crop"),
            "Cuts a rectangle out of the resized and rotated image, in CSS pixels or percent; parts outside the image "
                + "are left out."),
        Row(
            "rules", .choice(Dialect.self), \.query.recipe.rules, .geometry, .transform("Resize"),
            "Order of steps and computation of sizes: Darkroom's, or as in weserv/images, imgproxy, imagor (`thumbor`) "
                + "or Cloudflare Images."),
        Row(
            "layout", .layout, \.query.recipe.layout, .geometry, .transform("LayoutResize"), cost: .low,
            "Geometry of `rules=imgproxy`: `fill`, `fill-down`, `force`, `auto`, `dpr:N`, `zoom:X:Y`, "
                + "`crop:W:H:GRAVITY`, `gravity:…`, `extend:…`, `extendar:…`, `even:xy`, `maxside:N`, separated by "
                + "commas; the contract explains each."),
    ]
}

extension ValueFormat where Value == Layout? {
    /// Items of a layout; the defaults are none.
    static var layout: ValueFormat {
        ValueFormat(
            pattern: "^[a-z]+(-[a-z]+)?(:[a-z0-9.-]+)*(,[a-z]+(-[a-z]+)?(:[a-z0-9.-]+)*)*$",
            expected: "a list such as fill-down,dpr:2,gravity:top:0:10, each item once",
            write: { $0.map(\.text) ?? "fit" },
            read: { text in
                guard text.utf8.count <= 512, let layout = Layout(parsing: text) else { return nil }
                return .some(layout == Layout() ? nil : layout)
            })
    }
}
