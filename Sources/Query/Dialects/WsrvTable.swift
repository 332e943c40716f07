import DarkroomRequests

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
    }

    /// The translation of a query into Darkroom's parameters, with the parameters that change nothing.
    static func translate(
        _ query: QueryString, limits: QueryLimits
    ) throws(InvalidParameter) -> (query: QueryString, ignored: [Translation.Ignored]) {
        try require(
            !query.contains(AccessParameters.preset.name), "preset",
            "Parameter 'preset' cannot be combined with compat=wsrv; spell its parameters out.")
        var draft = WsrvDraft()
        var ignored: [Translation.Ignored] = []
        var given: Set<String> = []
        for pair in query.firstOfEachName.pairs where pair.name != Dialect.parameter {
            guard let row = rows[pair.name] else {
                let reason = unsupported[pair.name] ?? "wsrv.nl has no such parameter."
                ignored.append(Translation.Ignored(name: InvalidParameter.clipped(pair.name), reason: reason))
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

    /// The parameters of wsrv.nl without a counterpart.
    static let unsupported = [
        "loop": "Animations keep their own loop count.", "delay": "Animations keep their own delays.",
    ]

    private static let rows: [String: Row] = Dictionary(
        (source + size + cropping + turning + colors + effects + output).flatMap { row in
            ([row.name] + row.synonyms).map { ($0, row) }
        }, uniquingKeysWith: { first, _ in first })

    static var names: [String] { rows.keys.sorted() }

    private static let source = [
        Row("url") { $0.map(WsrvValue.source) },
        Row("default", synonyms: ["errorredirect"]) { $0.map { $0 == "1" ? $0 : WsrvValue.source($0) } },
        Row("v", WsrvValue.version), Row("_", WsrvValue.version),
    ]

    private static let size = [
        Row("w", synonyms: ["width"], \.width, WsrvValue.length),
        Row("h", synonyms: ["height"], \.height, WsrvValue.length),
        Row("dpr", \.pixelRatio) { WsrvValue.number($0, in: 0...8) },
        Row(name: "fit", synonyms: ["t"]) { text, draft in
            guard draft.fit == nil else { return false }
            draft.fit = WsrvValue.fit(text)
            if text == "fit" || text == "squaredown" { draft.withoutEnlargement = draft.withoutEnlargement ?? true }
            return true
        },
        Row("we", \.withoutEnlargement, WsrvValue.flag),
        Row(name: "a", synonyms: ["align"]) { text, draft in
            draft.setPlace(text)
            return true
        },
        Row("fpx", \.focalX) { WsrvValue.number($0, in: 0...1) },
        Row("fpy", \.focalY) { WsrvValue.number($0, in: 0...1) },
        Row("fsol", \.shrinksFast, WsrvValue.flag),
    ]

    private static let cropping = [
        Row(name: "crop") { text, draft in draft.setRectangle(text) },
        Row("cx", \.x) { WsrvValue.length($0) ?? .pixels(0) },
        Row("cy", \.y) { WsrvValue.length($0) ?? .pixels(0) },
        Row("cw", \.cropWidth) { WsrvValue.length($0) ?? WsrvValue.whole },
        Row("ch", \.cropHeight) { WsrvValue.length($0) ?? WsrvValue.whole },
        Row("precrop", \.cropsFirst, WsrvValue.flag),
        // The documented default for a name without a value.
        Row("trim", \.trim) { $0 == nil ? 10 : WsrvValue.integer($0, in: Trim.thresholds) },
        Row("tbg", \.trimBackground, WsrvValue.color),
        Row("mask", synonyms: ["shape"], \.mask) { $0.flatMap(MaskShape.init) },
        Row("mtrim", synonyms: ["strim"], \.trimsMask, WsrvValue.flag), Row("mbg", \.maskBackground, WsrvValue.color),
    ]

    private static let turning = [
        Row("ro", synonyms: ["or"], \.rotation) { WsrvValue.integer($0).map { WsrvValue.modulo360($0) } },
        Row("rbg", \.cornerBackground, WsrvValue.color),
        Row("flip", \.flip, WsrvValue.flag), Row("flop", \.flop, WsrvValue.flag),
    ]

    private static let colors = [
        Row("bg", \.background, WsrvValue.color), Row("cbg", \.canvasBackground, WsrvValue.color),
        Row("bri") { WsrvValue.integer($0, in: Brightness.percents).map { "\($0)" } },
        Row(name: "mod") { text, draft in draft.setModulation(text) },
        Row("sat", WsrvValue.factor),
        Row("hue") { WsrvValue.integer($0).map { "\(WsrvValue.modulo360($0))" } },
        // The same curve, on a scale of its own.
        Row("con") { WsrvValue.integer($0, in: -100...100).map { "\($0 * 3)" } },
        Row("gam", WsrvValue.gamma),
        Row("tint") { WsrvValue.color($0)?.hex },
        Row("filt", \.filter) { ["greyscale", "sepia", "negate", "duotone"].contains($0) ? $0 : nil },
        Row("start", \.start, WsrvValue.color), Row("stop", \.stop, WsrvValue.color),
    ]

    private static let effects = [
        Row("blur") { WsrvValue.sigma($0, in: Blur.sigmas) },
        Row(name: "sharp") { text, draft in draft.setSharpening(text) },
        Row("sharpf", \.flat) { WsrvValue.number($0, in: Sharpen.slopes) },
        Row("sharpj", \.jagged) { WsrvValue.number($0, in: Sharpen.slopes) },
    ]

    private static let output = [
        Row("output", \.output) { text in text.flatMap { WsrvValue.formats[$0] } },
        Row("q", synonyms: ["quality"]) { WsrvValue.integer($0, in: 1...100).map { "\($0)" } },
        Row("il", \.interlaced, WsrvValue.flag), Row("ll", synonyms: ["lossless"], \.lossless, WsrvValue.flag),
        Row("n", synonyms: ["pages"], \.pages) { WsrvValue.integer($0).flatMap { $0 == -1 || $0 > 0 ? $0 : nil } },
        // Counted from 0.
        Row("page") { text in
            WsrvValue.integer(text, in: -2...100_000).map { [-1: "largest", -2: "smallest"][$0] ?? "\($0 + 1)" }
        },
        Row("l", synonyms: ["level"]) { WsrvValue.integer($0, in: 0...9).map { "\(max($0, 1))" } },
        Row("af", \.filtersRows, WsrvValue.flag),
        Row("encoding") { $0?.lowercased() == "base64" ? "base64" : nil },
        Row("maxage") { $0.flatMap(WsrvValue.days).map { "\($0)d" } },
        Row("filename") { $0.flatMap(WsrvValue.fileName).map { "\($0).*" } },
    ]
}

extension WsrvTable.Row {
    /// A parameter that Darkroom has too, with Darkroom's value; nil = the value means nothing.
    fileprivate init(
        _ name: String, synonyms: [String] = [], _ value: @escaping @Sendable (String?) -> String?
    ) {
        self.init(name, synonyms: synonyms, \.texts[name], value)
    }

    /// A parameter whose value is stored at one place of a draft; nil = the value means nothing.
    fileprivate init<Value>(
        _ name: String, synonyms: [String] = [],
        _ place: WritableKeyPath<WsrvDraft, Value?> & Sendable, _ value: @escaping @Sendable (String?) -> Value?
    ) {
        self.init(name: name, synonyms: synonyms) { text, draft in
            guard let value = value(text), draft[keyPath: place] == nil else { return false }
            draft[keyPath: place] = value
            return true
        }
    }
}
