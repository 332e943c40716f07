import DarkroomQuery
import DarkroomTransforms

/// Every option of Cloudflare Images, and what becomes of it.
enum CloudflareOptions {
    struct Row: Sendable {
        let name: String
        let aliases: [String]
        let values: String
        let outcome: OptionOutcome
        /// Reads the value; nil for an option without parameters.
        let read: (@Sendable (String, inout CloudflareDraft) throws(InvalidParameter) -> Void)?

        init(
            _ name: String, _ aliases: [String] = [], _ values: String, _ text: String,
            _ read: @escaping @Sendable (String, inout CloudflareDraft) throws(InvalidParameter) -> Void
        ) {
            (self.name, self.aliases, self.values, self.read) = (name, aliases, values, read)
            outcome = .parameters(text)
        }

        init(_ name: String, _ aliases: [String] = [], _ values: String, _ outcome: OptionOutcome) {
            (self.name, self.aliases, self.values, self.outcome) = (name, aliases, values, outcome)
            read = nil
        }
    }

    static let all = size + cutting + colors + output + others

    static let rows = Dictionary(
        all.flatMap { row in ([row.name] + row.aliases).map { ($0, row) } }, uniquingKeysWith: { first, _ in first })
    static let names = all.map(\.name)

    /// In the order of the table.
    static let reference = all.map { row in
        OptionReference(
            syntax: ([row.name] + row.aliases).joined(separator: ", ") + "=\(row.values)", outcome: row.outcome)
    }

    private static let size: [Row] = [
        Row("width", ["w"], "pixels|auto", "`w`; `auto` leaves it to [client hints](formats.md#client-hints)") {
            value, draft throws(InvalidParameter) in
            draft.width = value == "auto" ? nil : try CloudflareValue.integer("width", value, 1...100_000)
        },
        Row("height", ["h"], "pixels", "`h`") { value, draft throws(InvalidParameter) in
            draft.height = try CloudflareValue.integer("height", value, 1...100_000)
        },
        Row("dpr", [], "factor", "multiplied into `w`, `h`, trims and borders") {
            value, draft throws(InvalidParameter) in
            draft.pixelRatio = try CloudflareValue.number("dpr", value, 0.1...10)
        },
        Row(
            "fit", [], "scale-down|contain|cover|crop|aspect-crop|pad|squeeze|scale-up",
            "`fit`, `enlarge`: `inside`, `inside` enlarging, `cover` enlarging, `outside` with `rules=cloudflare`, "
                + "`cover`, `contain` enlarging, `fill` enlarging, `outside` enlarging with `rules=cloudflare`"
        ) { value, draft throws(InvalidParameter) in
            guard let fit = CloudflareDraft.Fit(rawValue: value) else {
                let names = CloudflareDraft.Fit.allCases.map(\.rawValue).joined(separator: ", ")
                throw CloudflareValue.invalid("fit", "one of \(names)", value)
            }
            draft.fit = fit
        },
        Row(
            "gravity", ["g"], "auto|left|right|top|bottom|center|XxY|face",
            "`a`; `a=attention` for `auto`, `a=focal` for coordinates; `face` is a 400, since no faces are detected"
        ) { value, draft throws(InvalidParameter) in try draft.setGravity(value) },
        Row("zoom", ["face-zoom"], "0…1", .ignored("It has an effect with `gravity=face` only.")),
        Row("upscale", [], "interpolate|generate", "nothing for `interpolate`; `generate` is a 400") {
            value, _ throws(InvalidParameter) in
            guard value == "interpolate" else {
                throw CloudflareValue.invalid("upscale", "interpolate, since no pixels are invented", value)
            }
        },
    ]

    private static let cutting: [Row] = [
        Row("trim", [], "top;right;bottom;left|border", "`inset`; `trim` for `border`") {
            value, draft throws(InvalidParameter) in try draft.setTrim(value)
        },
        Row("trim.left", [], "pixels", "`crop`") { value, draft throws(InvalidParameter) in
            draft.trimLeft = try CloudflareValue.integer("trim.left", value, 0...100_000)
        },
        Row("trim.top", [], "pixels", "`crop`") { value, draft throws(InvalidParameter) in
            draft.trimTop = try CloudflareValue.integer("trim.top", value, 0...100_000)
        },
        Row("trim.width", [], "pixels", "`crop`") { value, draft throws(InvalidParameter) in
            draft.trimWidth = try CloudflareValue.integer("trim.width", value, 1...100_000)
        },
        Row("trim.height", [], "pixels", "`crop`") { value, draft throws(InvalidParameter) in
            draft.trimHeight = try CloudflareValue.integer("trim.height", value, 1...100_000)
        },
        Row("trim.border.color", [], "color", "`tbg`") { value, draft throws(InvalidParameter) in
            draft.borderTrimColor = try CloudflareValue.color("trim.border.color", value)
            draft.borderTrim = draft.borderTrim ?? 10
        },
        Row("trim.border.tolerance", [], "difference", "`trim`") { value, draft throws(InvalidParameter) in
            let tolerance = try CloudflareValue.integer("trim.border.tolerance", value, 0...255)
            draft.borderTrim = min(max(tolerance, 1), 254)
        },
        Row("trim.border.keep", [], "pixels", .ignored("A border is removed as a whole.")),
        Row("rotate", [], "90|180|270", "`ro` with `rules=cloudflare`, before the resize") {
            value, draft throws(InvalidParameter) in
            guard ["0", "90", "180", "270", "360"].contains(value) else {
                throw CloudflareValue.invalid("rotate", "90, 180 or 270", value)
            }
            draft.rotation = ["90", "180", "270"].contains(value) ? value : nil
        },
        Row("flip", [], "h|v|hv", "`flop` for `h`, `flip` for `v`, before `rotate`") {
            value, draft throws(InvalidParameter) in
            guard ["h", "v", "hv", "vh"].contains(value) else {
                throw CloudflareValue.invalid("flip", "h, v or hv", value)
            }
            (draft.mirrorsColumns, draft.mirrorsRows) = (value.contains("h"), value.contains("v"))
        },
        Row("border.color", [], "color", "step `pad`") { value, draft throws(InvalidParameter) in
            draft.borderColor = try CloudflareValue.color("border.color", value)
        },
        Row("border.width", ["border"], "pixels", "step `pad`, on every side") {
            value, draft throws(InvalidParameter) in
            let width = try CloudflareValue.integer("border.width", value, 0...9999)
            draft.border = Padding(width)
        },
        Row("border.top", [], "pixels", "step `pad`") { value, draft throws(InvalidParameter) in
            draft.border.top = try CloudflareValue.integer("border.top", value, 0...9999)
        },
        Row("border.right", [], "pixels", "step `pad`") { value, draft throws(InvalidParameter) in
            draft.border.right = try CloudflareValue.integer("border.right", value, 0...9999)
        },
        Row("border.bottom", [], "pixels", "step `pad`") { value, draft throws(InvalidParameter) in
            draft.border.bottom = try CloudflareValue.integer("border.bottom", value, 0...9999)
        },
        Row("border.left", [], "pixels", "step `pad`") { value, draft throws(InvalidParameter) in
            draft.border.left = try CloudflareValue.integer("border.left", value, 0...9999)
        },
    ]

    private static let colors: [Row] = [
        Row("background", ["bg"], "color", "`bg`") { value, draft throws(InvalidParameter) in
            draft.set("bg", try CloudflareValue.color("background", value).hex)
        },
        Row("blur", [], "1…250", "`blur`, with half of the radius as sigma") { value, draft throws(InvalidParameter) in
            let radius = try CloudflareValue.number("blur", value, 0...250)
            if radius > 0 { draft.set("blur", ThumborNumber.text(max(radius / 2, 0.3), decimals: 2)) }
        },
        Row("brightness", [], "factor", "step `linear`") { value, draft throws(InvalidParameter) in
            let factor = try CloudflareValue.number("brightness", value, 0...255)
            draft.addTones(factor: factor, offset: 0)
        },
        Row("contrast", [], "factor", "step `linear`, around middle gray") { value, draft throws(InvalidParameter) in
            let factor = try CloudflareValue.number("contrast", value, 0...255)
            draft.addTones(factor: factor, offset: 50 * (1 - factor))
        },
        Row("gamma", [], "exponent", "`gam`, from 0.3 to 3; none for 0") { value, draft throws(InvalidParameter) in
            let exponent = try CloudflareValue.number("gamma", value, 0...255)
            if exponent > 0, exponent != 1 {
                draft.set("gam", ThumborNumber.text(min(max(exponent, 0.3), 3), decimals: 4))
            }
        },
        Row("saturation", [], "factor", "`sat`, up to 10") { value, draft throws(InvalidParameter) in
            let factor = try CloudflareValue.number("saturation", value, 0...255)
            if factor != 1 { draft.set("sat", ThumborNumber.text(min(factor, 10), decimals: 4)) }
        },
        Row("sharpen", [], "0…10", "`sharp`, with 0.5 + a quarter of the strength as sigma") {
            value, draft throws(InvalidParameter) in
            let strength = try CloudflareValue.number("sharpen", value, 0...10)
            if strength > 0 { draft.set("sharp", ThumborNumber.text(0.5 + strength / 4, decimals: 4)) }
        },
    ]

    private static let output: [Row] = [
        Row(
            "format", ["f"], "auto|avif|webp|jpeg|baseline-jpeg|png|json",
            "`output`, with `il=true` for `jpeg`; `json` is [Darkroom's document](parameters.md#descriptions-and-placeholders)"
        ) { value, draft throws(InvalidParameter) in try draft.setFormat(value) },
        Row(
            "quality", ["q"], "1…100|high|medium-high|medium-low|low",
            "`q`; `q=auto` with `target` high, medium, low and low for the words; `ll=true` for 100 with `webp`"
        ) { value, draft throws(InvalidParameter) in
            draft.quality = try CloudflareDraft.quality("quality", value)
        },
        Row(
            "slow-connection-quality", ["scq"], "as quality",
            "nothing: [`save-data-quality`](formats.md#clients-that-save-data) applies to clients with `Save-Data`"
        ) { value, draft throws(InvalidParameter) in
            _ = try CloudflareDraft.quality("slow-connection-quality", value)
            draft.ignored.append(
                Translation.Ignored(
                    name: "slow-connection-quality",
                    reason: "The setting save-data-quality applies to clients with Save-Data."))
        },
        Row("anim", [], "true|false", "`n=1` for `false`") { value, draft throws(InvalidParameter) in
            guard ["true", "false"].contains(value) else {
                throw CloudflareValue.invalid("anim", "true or false", value)
            }
            draft.isStill = value == "false"
        },
        Row("compression", [], "fast", .ignored("The settings of the server decide how long it compresses.")),
        Row("metadata", [], "copyright|keep|none", .ignored("Results keep copyright and artist only.")),
        Row("onerror", [], "redirect", "`default=1`") { value, draft throws(InvalidParameter) in
            guard value == "redirect" else { throw CloudflareValue.invalid("onerror", "redirect", value) }
            draft.set("default", "1")
        },
    ]

    private static let others: [Row] = [
        Row("segment", [], "foreground", .refused("Subjects are not detected; cut the image out beforehand."))
    ]
}
