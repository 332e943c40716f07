import DarkroomTransforms

/// The parameters of wsrv.nl, one row each, with their meaning in Darkroom's parameters: a pure function in front of
/// the grammar.
///
/// A value has the same meaning as in weserv/images 5, the software of wsrv.nl. A value outside its range and an
/// unknown parameter change nothing.
enum WsrvTable {
    struct Row: Sendable {
        let name: String
        /// Other names of the same parameter.
        var synonyms: [String] = []
        /// Reads a value, which is nil for a name without `=`. False = the value means nothing.
        let read: @Sendable (String?, inout WsrvDraft) -> Bool

        init(
            _ name: String, _ synonyms: [String] = [], read: @escaping @Sendable (String?, inout WsrvDraft) -> Bool
        ) {
            self.name = name
            self.synonyms = synonyms
            self.read = read
        }

        /// A parameter whose value is stored at one place of a draft.
        ///
        /// - Parameter value: Nil = the value means nothing.
        init<Value>(
            _ name: String, _ synonyms: [String] = [],
            _ place: WritableKeyPath<WsrvDraft, Value?> & Sendable, _ value: @escaping @Sendable (String?) -> Value?
        ) {
            self.init(name, synonyms) { text, draft in
                guard let value = value(text), draft[keyPath: place] == nil else { return false }
                draft[keyPath: place] = value
                return true
            }
        }
    }

    /// The translation of a query into Darkroom's parameters, with the parameters that change nothing.
    static func translate(
        _ query: QueryString, limits: QueryLimits
    ) throws(InvalidParameter) -> (query: QueryString, ignored: [Translation.Ignored]) {
        guard !query.contains(AccessParameters.preset.name) else {
            throw InvalidParameter(
                "preset", "Parameter 'preset' cannot be combined with compat=wsrv; spell its parameters out.")
        }
        var draft = WsrvDraft()
        var ignored: [Translation.Ignored] = []
        var given: Set<String> = []
        for pair in query.firstOfEachName.pairs where pair.name != Dialect.parameter {
            guard let row = rows[pair.name] else {
                ignored.append(
                    Translation.Ignored(name: InvalidParameter.clipped(pair.name), reason: reason(pair.name)))
                continue
            }
            let value = pair.value.flatMap { $0.isEmpty ? nil : $0 }
            guard given.insert(row.name).inserted, row.read(value, &draft) else {
                ignored.append(Translation.Ignored(name: pair.name, reason: "This value changes nothing."))
                continue
            }
        }
        return (try draft.written(limits), ignored)
    }

    private static func reason(_ name: String) -> String {
        unsupported[name] ?? "wsrv.nl has no such parameter."
    }

    /// The parameters of wsrv.nl without a counterpart.
    static let unsupported = [
        "loop": "Animations keep their own loop count.", "delay": "Animations keep their own delays.",
    ]

    private static let rows: [String: Row] = Dictionary(
        (source + size + cropping + turning + colors + effects + output).flatMap { row in
            ([row.name] + row.synonyms).map { ($0, row) }
        }, uniquingKeysWith: { first, _ in first })

    /// The names of all rows.
    static var names: [String] { rows.keys.sorted() }

    private static let source = [
        Row("url", [], \.url) { $0.map(WsrvValue.source) },
        Row("default", ["errorredirect"], \.fallback) { $0.map { $0 == "1" ? $0 : WsrvValue.source($0) } },
        Row("v", [], \.version, WsrvValue.version), Row("_", [], \.nonce, WsrvValue.version),
    ]

    private static let size = [
        Row("w", ["width"], \.width, WsrvValue.length), Row("h", ["height"], \.height, WsrvValue.length),
        Row("dpr", [], \.pixelRatio) { WsrvValue.number($0, in: 0...8) },
        Row("fit", ["t"]) { text, draft in
            guard draft.fit == nil else { return false }
            draft.fit = WsrvValue.fit(text)
            if text == "fit" || text == "squaredown" { draft.withoutEnlargement = draft.withoutEnlargement ?? true }
            return true
        },
        Row("we", [], \.withoutEnlargement, WsrvValue.flag),
        Row("a", ["align"]) { text, draft in
            draft.setPlace(text)
            return true
        },
        Row("fpx", [], \.focalX) { WsrvValue.number($0, in: 0...1) },
        Row("fpy", [], \.focalY) { WsrvValue.number($0, in: 0...1) },
        Row("fsol", [], \.shrinksFast, WsrvValue.flag),
    ]

    private static let cropping = [
        Row("crop") { text, draft in draft.setRectangle(text) },
        Row("cx", [], \.x) { WsrvValue.length($0) ?? .pixels(0) },
        Row("cy", [], \.y) { WsrvValue.length($0) ?? .pixels(0) },
        Row("cw", [], \.cropWidth) { WsrvValue.length($0) ?? WsrvValue.whole },
        Row("ch", [], \.cropHeight) { WsrvValue.length($0) ?? WsrvValue.whole },
        Row("precrop", [], \.cropsFirst, WsrvValue.flag),
        // The documented default for a name without a value.
        Row("trim", [], \.trim) { $0 == nil ? 10 : WsrvValue.integer($0, in: Trim.thresholds) },
        Row("tbg", [], \.trimBackground, WsrvValue.color),
        Row("mask", ["shape"], \.mask) { $0.flatMap(MaskShape.init) },
        Row("mtrim", ["strim"], \.trimsMask, WsrvValue.flag), Row("mbg", [], \.maskBackground, WsrvValue.color),
    ]

    private static let turning = [
        Row("ro", ["or"], \.rotation) { WsrvValue.integer($0).map { WsrvValue.modulo360($0) } },
        Row("rbg", [], \.cornerBackground, WsrvValue.color),
        Row("flip", [], \.flip, WsrvValue.flag), Row("flop", [], \.flop, WsrvValue.flag),
    ]

    private static let colors = [
        Row("bg", [], \.background, WsrvValue.color), Row("cbg", [], \.canvasBackground, WsrvValue.color),
        Row("bri", [], \.brightness) { WsrvValue.integer($0, in: Brightness.percents) },
        Row("mod") { text, draft in draft.setModulation(text) },
        Row("sat", [], \.saturation, WsrvValue.factor),
        Row("hue", [], \.hue) { WsrvValue.integer($0).map { WsrvValue.modulo360($0) } },
        Row("con", [], \.contrast) { WsrvValue.integer($0, in: -100...100) },
        Row("gam", [], \.gamma, WsrvValue.gamma),
        Row("tint", [], \.tint, WsrvValue.color),
        Row("filt", [], \.filter) { ["greyscale", "sepia", "negate", "duotone"].contains($0) ? $0 : nil },
        Row("start", [], \.start, WsrvValue.color), Row("stop", [], \.stop, WsrvValue.color),
    ]

    private static let effects = [
        Row("blur", [], \.blur) { WsrvValue.sigma($0, in: Blur.sigmas) },
        Row("sharp") { text, draft in draft.setSharpening(text) },
        Row("sharpf", [], \.flat) { WsrvValue.number($0, in: Sharpen.slopes) },
        Row("sharpj", [], \.jagged) { WsrvValue.number($0, in: Sharpen.slopes) },
    ]

    private static let output = [
        Row("output", [], \.output) { text in text.flatMap { WsrvValue.formats[$0] } },
        Row("q", ["quality"], \.quality) { WsrvValue.integer($0, in: 1...100) },
        Row("il", [], \.interlaced, WsrvValue.flag), Row("ll", ["lossless"], \.lossless, WsrvValue.flag),
        Row("n", ["pages"], \.pages) { WsrvValue.integer($0).flatMap { $0 == -1 || $0 > 0 ? $0 : nil } },
        Row("page", [], \.page) { WsrvValue.integer($0, in: -2...100_000) },
        Row("l", ["level"], \.compression) { WsrvValue.integer($0, in: 0...9) },
        Row("af", [], \.filtersRows, WsrvValue.flag),
        Row("encoding", [], \.encoding) { $0?.lowercased() == "base64" ? "base64" : nil },
        Row("maxage", [], \.days) { $0.flatMap(WsrvValue.days) },
        Row("filename", [], \.fileName) { $0.flatMap(WsrvValue.fileName) },
    ]
}
