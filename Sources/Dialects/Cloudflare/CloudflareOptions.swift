import DarkroomQuery
import DarkroomRequests

/// Every option of Cloudflare Images, and what becomes of it.
enum CloudflareOptions {
    typealias Row = OptionRow<String, CloudflareDraft>

    static let table = OptionTable(size + cutting + colors + output)

    /// An option whose value is an integer within a range.
    private static func integer<Value>(
        _ name: String, aliases: [String] = [], _ range: ClosedRange<Int>, _ text: String,
        _ member: WritableKeyPath<CloudflareDraft, Value> & Sendable, _ convert: @escaping @Sendable (Int) -> Value
    ) -> Row {
        Row(name, aliases: aliases, "pixels", text) { value, draft throws(InvalidParameter) in
            draft[keyPath: member] = convert(try CloudflareValue.integer(name, value, range))
        }
    }

    private static let size: [Row] = [
        Row(
            "width", aliases: ["w"], "pixels|auto", "`w`; `auto` leaves it to [client hints](formats.md#client-hints)"
        ) { value, draft throws(InvalidParameter) in
            draft.width = value == "auto" ? nil : try CloudflareValue.integer("width", value, 1...100_000)
        },
        integer("height", aliases: ["h"], 1...100_000, "`h`", \.height) { $0 },
        Row("dpr", "factor", "multiplied into `w`, `h`, trims and borders") {
            value, draft throws(InvalidParameter) in
            draft.pixelRatio = try CloudflareValue.number("dpr", value, 0.1...10)
        },
        Row(
            "fit", "scale-down|contain|cover|crop|aspect-crop|pad|squeeze|scale-up",
            "`fit`, `enlarge`: `inside`, `inside` enlarging, `cover` enlarging, `outside` with `rules=cloudflare`, "
                + "`cover`, `contain` enlarging with white `cbg`, `fill` enlarging, "
                + "`outside` enlarging with `rules=cloudflare`"
        ) { value, draft throws(InvalidParameter) in
            guard let fit = CloudflareDraft.Fit(rawValue: value) else {
                let names = CloudflareDraft.Fit.allCases.map(\.rawValue).joined(separator: ", ")
                throw CloudflareValue.invalid("fit", "one of \(names)", value)
            }
            draft.fit = fit
        },
        Row(
            "gravity", aliases: ["g"], "auto|left|right|top|bottom|center|XxY|face",
            "`a`; `a=attention` for `auto`, `a=faces` for `face`, `a=focal` for coordinates"
        ) { value, draft throws(InvalidParameter) in try draft.setGravity(value) },
        Row("zoom", aliases: ["face-zoom"], "0…1", "`facezoom` with `gravity=face`, else nothing") {
            value, draft throws(InvalidParameter) in
            draft.faceZoom = try CloudflareValue.number("zoom", value, 0...1)
        },
        Row("upscale", "interpolate|generate", "nothing for `interpolate`; `generate` is a 400") {
            value, _ throws(InvalidParameter) in
            guard value == "interpolate" else {
                throw CloudflareValue.invalid("upscale", "interpolate, since no pixels are invented", value)
            }
        },
    ]

    private static let cutting: [Row] = [
        Row("trim", "top;right;bottom;left|border|auto", "`inset`; `trim` for `border` and `auto`") {
            value, draft throws(InvalidParameter) in try draft.setTrim(value)
        },
        integer("trim.left", 0...100_000, "`crop`", \.trimLeft) { $0 },
        integer("trim.top", 0...100_000, "`crop`", \.trimTop) { $0 },
        integer("trim.width", 1...100_000, "`crop`", \.trimWidth) { $0 },
        integer("trim.height", 1...100_000, "`crop`", \.trimHeight) { $0 },
        Row("trim.border.color", "color", "`tbg`") { value, draft throws(InvalidParameter) in
            draft.borderTrimColor = try CloudflareValue.color("trim.border.color", value)
            draft.borderTrim = draft.borderTrim ?? 10
        },
        Row("trim.border.tolerance", "difference", "`trim`") { value, draft throws(InvalidParameter) in
            let tolerance = try CloudflareValue.integer("trim.border.tolerance", value, 0...255)
            draft.borderTrim = tolerance.clamped(to: 1...254)
        },
        Row("trim.border.keep", "pixels", .ignored("A border is removed as a whole.")),
        Row("rotate", "90|180|270", "`ro` with `rules=cloudflare`, before the resize") {
            value, draft throws(InvalidParameter) in
            guard ["0", "90", "180", "270", "360"].contains(value) else {
                throw CloudflareValue.invalid("rotate", "90, 180 or 270", value)
            }
            draft.rotation = ["90", "180", "270"].contains(value) ? value : nil
        },
        Row("flip", "h|v|hv", "`flop` for `h`, `flip` for `v`, before `rotate`") {
            value, draft throws(InvalidParameter) in
            guard ["h", "v", "hv", "vh"].contains(value) else {
                throw CloudflareValue.invalid("flip", "h, v or hv", value)
            }
            (draft.mirrorsColumns, draft.mirrorsRows) = (value.contains("h"), value.contains("v"))
        },
        Row("border.color", "color", "step `pad`") { value, draft throws(InvalidParameter) in
            draft.borderColor = try CloudflareValue.color("border.color", value)
        },
        integer("border.width", aliases: ["border"], 0...9999, "step `pad`, on every side", \.border) { Padding($0) },
        integer("border.top", 0...9999, "step `pad`", \.border.top) { $0 },
        integer("border.right", 0...9999, "step `pad`", \.border.right) { $0 },
        integer("border.bottom", 0...9999, "step `pad`", \.border.bottom) { $0 },
        integer("border.left", 0...9999, "step `pad`", \.border.left) { $0 },
    ]

    private static let colors: [Row] = [
        Row("background", aliases: ["bg"], "color", "`bg`") { value, draft throws(InvalidParameter) in
            draft.parameters.set("bg", try CloudflareValue.color("background", value).hex)
        },
        Row("blur", "1…250", "`blur`, with half of the radius as sigma") { value, draft throws(InvalidParameter) in
            let radius = try CloudflareValue.number("blur", value, 0...250)
            if radius > 0 { draft.parameters.set("blur", max(radius / 2, 0.3).text(decimals: 2)) }
        },
        Row("brightness", "factor", "step `linear`") { value, draft throws(InvalidParameter) in
            let factor = try CloudflareValue.number("brightness", value, 0...255)
            draft.addTones(factor: factor, offset: 0)
        },
        Row("contrast", "factor", "step `linear`, around middle gray") { value, draft throws(InvalidParameter) in
            let factor = try CloudflareValue.number("contrast", value, 0...255)
            draft.addTones(factor: factor, offset: 50 * (1 - factor))
        },
        Row("gamma", "exponent", "`gam`, from 0.3 to 3; none for 0") { value, draft throws(InvalidParameter) in
            let exponent = try CloudflareValue.number("gamma", value, 0...255)
            if exponent > 0, exponent != 1 {
                draft.parameters.set("gam", exponent.clamped(to: 0.3...3).text(decimals: 4))
            }
        },
        Row("saturation", "factor", "`sat`, up to 10") { value, draft throws(InvalidParameter) in
            let factor = try CloudflareValue.number("saturation", value, 0...255)
            if factor != 1 { draft.parameters.set("sat", min(factor, 10).text(decimals: 4)) }
        },
        Row("sharpen", "0…10", "`sharp`, with 0.5 + a quarter of the strength as sigma") {
            value, draft throws(InvalidParameter) in
            let strength = try CloudflareValue.number("sharpen", value, 0...10)
            if strength > 0 { draft.parameters.set("sharp", (0.5 + strength / 4).text(decimals: 4)) }
        },
    ]

    private static let output: [Row] = [
        Row(
            "format", aliases: ["f"], "auto|avif|webp|jpeg|baseline-jpeg|png|json",
            "`output`, with `il=true` for `jpeg`; "
                + "`json` is [Darkroom's document](parameters.md#descriptions-and-placeholders)"
        ) { value, draft throws(InvalidParameter) in try draft.setFormat(value) },
        Row(
            "quality", aliases: ["q"], "1…100|high|medium-high|medium-low|low",
            "`q`; `q=auto` with `target` high, medium, low and low for the words; `ll=true` for 100 with `webp`"
        ) { value, draft throws(InvalidParameter) in
            draft.quality = try CloudflareDraft.quality("quality", value)
        },
        Row(
            "slow-connection-quality", aliases: ["scq"], "as quality", "`slow_q`, with 80, 70, 60 and 50 for the words"
        ) { value, draft throws(InvalidParameter) in
            let words = ["high": 80, "medium-high": 70, "medium-low": 60, "low": 50]
            if let quality = words[value] { return draft.parameters.set("slow_q", "\(quality)") }
            draft.parameters.set("slow_q", "\(try CloudflareValue.integer("slow-connection-quality", value, 1...100))")
        },
        Row("anim", "true|false", "`n=1` for `false`") { value, draft throws(InvalidParameter) in
            guard ["true", "false"].contains(value) else {
                throw CloudflareValue.invalid("anim", "true or false", value)
            }
            draft.isStill = value == "false"
        },
        Row("compression", "fast", .ignored("The settings of the server decide how long it compresses.")),
        Row("metadata", "copyright|keep|none", "`metadata`: `rights`, `all` or `none`") {
            value, draft throws(InvalidParameter) in
            let policies: [String: MetadataPolicy] = ["copyright": .rights, "keep": .all, "none": .none]
            guard let policy = policies[value] else {
                throw CloudflareValue.invalid("metadata", "copyright, keep or none", value)
            }
            if policy != .rights { draft.parameters.set("metadata", policy.rawValue) }
        },
        Row("onerror", "redirect", "`default=1`") { value, draft throws(InvalidParameter) in
            guard value == "redirect" else { throw CloudflareValue.invalid("onerror", "redirect", value) }
            draft.parameters.set("default", "1")
        },
        Row("segment", "foreground", .refused("Subjects are not detected; cut the image out beforehand.")),
    ]
}
