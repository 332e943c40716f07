import DarkroomHTTPCaching
import DarkroomPipeline
import DarkroomTransforms

extension ImageQueryGrammar {
    /// Every parameter of `/image`, in the order of the documentation.
    static func parameters(_ limits: QueryLimits) -> [Parameter<QueryDraft>] {
        source + box(limits) + geometry + colors + effects + encoding(limits) + caching
            + delivery
    }

    /// Those of `/info` alone.
    static let information: [Parameter<QueryDraft>] = [
        Parameter("fields", Form.names(of: InformationField.names)) { draft, fields in
            draft.details = ImageDetails(fields.compactMap(\.detail))
            draft.tellsCaching = fields.contains(.caching)
        },
        Parameter("gps", .boolean, standard: "false") { $0.tellsPosition = $1 },
    ]

    private static let source: [Parameter<QueryDraft>] = [
        Parameter("url", .url) { $0.url = $1 },
        Parameter("default", .url) { $0.fallback = $1 },
    ]

    private static func box(_ limits: QueryLimits) -> [Parameter<QueryDraft>] {
        [
            Parameter("w", .integer(1...limits.maxOutputSide)) { $0.width = $1 },
            Parameter("h", .integer(1...limits.maxOutputSide)) { $0.height = $1 },
            Parameter("dpr", .hundredths(1...8), standard: "1") { $0.pixelRatio = $1 },
            Parameter("fit", .choice(Fit.self), standard: Fit.inside.rawValue) { $0.fit = $1 },
            Parameter("enlarge", .boolean, standard: "false") { $0.enlarge = $1 },
            Parameter("we", .boolean, standard: "false") { $0.withoutEnlargement = $1 },
            Parameter("scaledown", .boolean, standard: "false") { $0.scaleDown = $1 },
            Parameter("a", .place, standard: "center") { $0.place = $1 },
            Parameter("fpx", .number(0...1), standard: "0.5") { $0.focalX = $1 },
            Parameter("fpy", .number(0...1), standard: "0.5") { $0.focalY = $1 },
            Parameter("resample", .choice(Resampling.self), standard: limits.defaultResampling.rawValue) {
                $0.resampling = $1
            },
        ]
    }

    private static let geometry: [Parameter<QueryDraft>] = [
        Parameter("crop", .rectangle) { $0.crop = $1 },
        Parameter("trim", .integer(Trim.thresholds).bare(10)) { $0.trim = $1 },
        Parameter("orient", .orientation, standard: "auto") { $0.orientation = $1 },
        Parameter("ro", .integer(0...359), standard: "0") { $0.rotationDegrees = $1 },
        Parameter("flip", .boolean, standard: "false") { $0.flip = $1 },
        Parameter("flop", .boolean, standard: "false") { $0.flop = $1 },
    ]

    private static let colors: [Parameter<QueryDraft>] = [
        Parameter("bg", .color) { $0.background = $1 },
        Parameter("bri", .integer(Brightness.percents), standard: "0") { $0.brightness = $1 },
        Parameter("con", .integer(Contrast.percents), standard: "0") { $0.contrast = $1 },
        Parameter("sat", .number(Saturation.factors), standard: "1") { $0.saturation = $1 },
        Parameter("hue", .integer(Hue.degrees), standard: "0") { $0.hue = $1 },
        Parameter("gam", .number(Gamma.exponents).bare(Gamma.defaultExponent), standard: "1") { $0.gamma = $1 },
        Parameter("tint", .color) { $0.tint = $1 },
        Parameter("filt", .choice(Filter.self)) { $0.filter = $1 },
    ]

    private static let effects: [Parameter<QueryDraft>] = [
        Parameter("blur", Form.number(Blur.sigmas).map { Blur(sigma: $0) }.bare(Blur())) { $0.blur = $1 },
        Parameter("sharp", Form.number(Sharpen.sigmas).map { Sharpen(sigma: $0) }.bare(Sharpen())) { $0.sharpen = $1 },
    ]

    private static func encoding(_ limits: QueryLimits) -> [Parameter<QueryDraft>] {
        [
            Parameter("output", .output, standard: "auto") { $0.output = $1 },
            Parameter("fields", Form.names(of: ImageDetails.names + [("all", .all)])) { $0.details = $1 },
            Parameter("placeholder", Form.names(of: ImageDetails.placeholderNames)) { $0.placeholders = $1 },
            Parameter("q", .integer(1...100)) { $0.quality = $1 },
            Parameter("ll", .boolean, standard: "false") { $0.lossless = $1 },
            Parameter("il", .boolean, standard: "false") { $0.interlaced = $1 },
            Parameter("n", .integer(1...limits.maxFrames)) { $0.frames = $1 },
            Parameter("page", .integer(1...999_999_999), standard: "1") { $0.firstPage = $1 },
        ]
    }

    private static let caching: [Parameter<QueryDraft>] = [
        Parameter("cache", .choice(CacheMode.self), standard: CacheMode.default.rawValue) { $0.cache = $1 },
        Parameter("store", .choice(TierSelection.names), standard: "all") { $0.store = $1 },
        Parameter("wait", .choice(["stored": true])) { $0.waitsForDisk = $1 },
        Parameter("priority", .choice(Priority.names)) { $0.priority = $1 },
    ]

    private static let delivery: [Parameter<QueryDraft>] = [
        Parameter("maxage", .freshness) { $0.maxAge = $1 },
        Parameter("filename", .fileName) { $0.fileName = $1 },
    ]
}

extension Form {
    /// The same texts, read as another type.
    fileprivate func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> Form<Other> {
        Form<Other>(shape) { [read] in read($0).map(transform) }
    }
}

extension Form where Value == OutputName {
    fileprivate static var output: Form {
        .choice(
            [
                "auto": .auto, "jpg": .format(.jpeg), "png": .format(.png), "webp": .format(.webp),
                "avif": .format(.avif), "gif": .format(.gif), "jxl": .format(.jxl), "tiff": .format(.tiff),
                "json": .format(.json), "blurhash": .format(.blurHash), "thumbhash": .format(.thumbHash),
                "color": .format(.color), "lqip": .format(.lqip),
            ],
            aliases: ["jpeg": .format(.jpeg), "tif": .format(.tiff)])
    }
}

/// What `fields` of `/info` may name.
private enum InformationField: Hashable {
    case detail(ImageDetails)
    case caching

    var detail: ImageDetails? {
        if case .detail(let detail) = self { detail } else { nil }
    }

    static var names: [(String, Set<InformationField>)] {
        (ImageDetails.names + [("all", .all)]).map { ($0.name, [.detail($0.detail)]) } + [("cache", [.caching])]
    }
}

extension ImageDetails {
    /// What queries and documents call them, in the order of the documentation.
    static let names: [(name: String, detail: ImageDetails)] = [
        ("color", .color), ("palette", .palette), ("blurhash", .blurHash), ("thumbhash", .thumbHash), ("lqip", .lqip),
        ("exif", .exif),
    ]

    /// Those that may stand in for a picture.
    static let placeholderNames: [(name: String, detail: ImageDetails)] = names.filter {
        ![.palette, .exif].contains($0.detail)
    }
}

extension TierSelection {
    /// What queries call them.
    static let names: KeyValuePairs<String, TierSelection> = [
        "all": .all, "memory": .memory, "original": .originals, "variant": .variants, "none": .none,
    ]
}

extension Priority {
    /// What clients may choose from; `background` is for work that nobody waits for.
    static let names: KeyValuePairs<String, Priority> = ["low": .low, "normal": .normal, "high": .high]
}
