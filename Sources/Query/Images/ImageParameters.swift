import DarkroomHTTPCaching
import DarkroomTransforms

/// The parameters of `/image`, one row each: the only place that knows how a parameter is read, written and documented.
///
/// The names are those of weserv/images. To add a parameter, add a row: the grammar, canonical queries, suggestions and
/// the reference page follow from it.
enum ImageParameters {
    typealias Row = Parameter<ImageQueryDraft>

    /// Every parameter of `/image`, in the order of the documentation.
    static func rows(_ limits: QueryLimits) -> [Row] {
        source + size(limits) + geometry + colors + effects + encoding(limits) + caching + delivery
    }

    /// The parameters of `/info`: those that apply to a document about an unchanged image, and two of its own.
    static func infoRows(_ limits: QueryLimits) -> [Row] {
        let shared: Set = ["url", "page", "cache", "store", "wait", "priority", "maxage", "filename"]
        let rows = rows(limits).filter { shared.contains($0.name) }
        return rows.prefix(1) + info + rows.dropFirst()
    }

    private static let source: [Row] = [
        Row("url", .url, \.query.url, .of(.source, .fetch, "URL of the source image. Required.")),
        Row(
            "default", .url, \.query.fallback,
            .of(.source, .fetch, "URL of a fallback image, made into the same variant where the source fails.")),
    ]

    private static func size(_ limits: QueryLimits) -> [Row] {
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

    private static let geometry: [Row] = [
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
            "ro", .integer(0...359), \.query.recipe.rotationDegrees,
            .of(.geometry, .transform(Rotate.self), .medium, "Rotates clockwise by degrees, after resizing.")),
        Row(
            "flip", .boolean, \.query.recipe.flip,
            .of(.geometry, .transform(Flip.self), .low, "Mirrors the image top to bottom.")),
        Row(
            "flop", .boolean, \.query.recipe.flop,
            .of(.geometry, .transform(Flop.self), .low, "Mirrors the image left to right.")),
    ]

    private static let colors: [Row] = [
        Row(
            "bg",
            ValueFormat.color.map {
                $0.alpha == 0 ? nil : $0
            } back: {
                $0
            }, \.query.recipe.background,
            .of(
                .color, .transform(Flatten.self), .low,
                "Fills transparency, the canvas of `fit=contain` and the corners of a rotation.")),
        Row(
            "bri",
            ValueFormat.integer(Brightness.percents).effect(offAt: 0, Brightness.init(percent:), back: \.percent),
            \.query.recipe.brightness,
            .of(
                .color, .transform(Brightness.self), .low, "Brightness in percent of full scale, added to each channel."
            )),
        Row(
            "con", ValueFormat.integer(Contrast.percents).effect(offAt: 0, Contrast.init(percent:), back: \.percent),
            \.query.recipe.contrast,
            .of(.color, .transform(Contrast.self), .low, "Contrast in percent, along a sigmoid curve.")),
        Row(
            "sat", ValueFormat.number(Saturation.factors).effect(offAt: 1, Saturation.init(factor:), back: \.factor),
            \.query.recipe.saturation,
            .of(.color, .transform(Saturation.self), .low, "Saturation as a factor: 0 is gray, 1 is unchanged.")),
        Row(
            "hue", ValueFormat.integer(Hue.degrees).effect(offAt: 0, Hue.init(degrees:), back: \.degrees),
            \.query.recipe.hue,
            .of(.color, .transform(Hue.self), .low, "Rotates the hue by degrees.")),
        Row(
            "gam",
            ValueFormat.number(Gamma.exponents).bare(Gamma().exponent)
                .effect(offAt: 1, Gamma.init(exponent:), back: \.exponent),
            \.query.recipe.gamma,
            .of(
                .color, .transform(Gamma.self), .low,
                "Gamma exponent, \(ValueSchema.plain(Gamma().exponent)) where the value is left out.")),
        Row(
            "tint", ValueFormat.color.map(Tint.init) { $0.color }, \.query.recipe.tint,
            .of(.color, .transform(Tint.self), .low, "Tints the image with a color and keeps its luminance.")),
        Row(
            "filt", .choice(Filter.self), \.query.recipe.filter,
            .of(.color, .transform(Filter.self), .low, "Applies a color filter.")),
    ]

    private static let effects: [Row] = [
        Row(
            "blur",
            ValueFormat.number(Blur.sigmas).map {
                Blur(sigma: $0)
            } back: {
                $0.sigma
            }.bare(Blur()),
            \.query.recipe.blur,
            .of(
                .effects, .transform(Blur.self), .high,
                "Gaussian blur with this sigma in pixels of the result; a mild 3 × 3 blur where the value is left out.")
        ),
        Row(
            "sharp",
            ValueFormat.number(Sharpen.sigmas).map {
                Sharpen(sigma: $0)
            } back: {
                $0.sigma
            }.bare(Sharpen()),
            \.query.recipe.sharpen,
            .of(
                .effects, .transform(Sharpen.self), .high,
                "Sharpens with this sigma in pixels of the result; a mild 3 × 3 kernel where the value is left out.")),
    ]

    private static func encoding(_ limits: QueryLimits) -> [Row] {
        [
            Row(
                "output", .output, \.format,
                .of(
                    .encoding, .encode, .medium,
                    "Format of the result. `auto` is WebP where `Accept` names it, else the source's own format.")),
            Row(
                "fields", .details, \.details,
                .of(.encoding, .decode, .high, "Details in the document of `output=json` besides the header's.")),
            Row(
                "placeholder", .placeholders, \.query.placeholders,
                .of(.encoding, .respond, .high, "Placeholders of the result, sent as `X-Placeholder-*` fields.")),
            Row(
                "q", .integer(1...100), \.quality,
                .of(.encoding, .encode, "Quality; the default depends on the format.")),
            Row("ll", .boolean, \.lossless, .of(.encoding, .encode, .medium, "Lossless WebP, AVIF or JPEG XL.")),
            Row(
                "il", .boolean, \.interlaced,
                .of(.encoding, .encode, .medium, "Progressive JPEG, interlaced PNG or GIF.")),
            Row(
                "n", .integer(1...limits.maxFrames), \.query.pages.count,
                .of(.encoding, .decode, .medium, "Number of frames or pages; by default all frames, or one page.")),
            Row(
                "page", .integer(1...999_999_999), \.query.pages.first,
                .of(.encoding, .decode, "First frame or page, counted from 1.")),
        ]
    }

    private static let caching: [Row] = [
        Row(
            "cache", .choice(CacheMode.self), \.query.cache,
            .of(.caching, .cache, "Which cached responses are acceptable, in the modes of the Fetch Standard.")),
        Row("store", .tiers, \.query.store, .of(.caching, .cache, "Which results are stored, and in which tier.")),
        Row(
            "wait", .choice(["stored": true]), \.query.waitsForDisk,
            .of(.caching, .cache, "Holds the response until its entries are on disk.")),
        Row(
            "priority", .priority, \.query.priority,
            .of(.caching, .cache, "Urgency in the queues; by default that of the `Priority` field.")),
    ]

    private static let delivery: [Row] = [
        Row("maxage", .lifetime, \.query.maxAge, .of(.delivery, .respond, "Freshness lifetime for the client.")),
        Row("filename", .fileName, \.query.fileName, .of(.delivery, .respond, "File name in `Content-Disposition`.")),
    ]

    private static let info: [Row] = [
        Row(
            "fields", .infoFields, \.infoFields,
            .of(.encoding, .decode, .high, "Details besides the header's, and where the image is cached.")),
        Row(
            "gps", .boolean, \.includesPosition,
            .of(.encoding, .decode, "GPS position of the image, on servers that allow it.")),
    ]
}

extension ImageQueryDraft {
    /// What `fields` of `/info` sets.
    fileprivate var infoFields: Set<InfoField>? {
        get {
            guard details != nil || query.includesCaching else { return nil }
            return Set((details.map { [.detail($0)] } ?? []) + (query.includesCaching ? [.caching] : []))
        }
        set {
            details = newValue.map { ImageDetails($0.compactMap(\.detail)) }
            query.includesCaching = newValue?.contains(.caching) == true
        }
    }
}

extension ParameterDocumentation {
    static func of(_ theme: Theme, _ step: Step, _ cost: Cost, _ summary: String) -> Self {
        Self(theme: theme, step: step, cost: cost, summary: summary)
    }

    /// Of a parameter that costs nothing.
    static func of(_ theme: Theme, _ step: Step, _ summary: String) -> Self { .of(theme, step, .none, summary) }

    fileprivate static func resize(_ summary: String) -> Self { .of(.size, .transform(Resize.self), .medium, summary) }
}

extension ParameterDocumentation.Step {
    fileprivate static func transform(_ type: any Transform.Type) -> Self { .transform("\(type)") }
}
