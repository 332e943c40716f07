import DarkroomQuery
import DarkroomTransforms

/// The meaning of the options of Cloudflare Images in Darkroom's parameters, while they are read.
struct CloudflareDraft: OptionDraft {
    enum Fit: String, CaseIterable {
        case scaleDown = "scale-down"
        case contain, cover, crop
        case aspectCrop = "aspect-crop"
        case pad, squeeze
        case scaleUp = "scale-up"
    }

    var width: Int?
    var height: Int?
    var pixelRatio = 1.0
    var fit = Fit.scaleDown
    /// `a`, `fpx` and `fpy`.
    private(set) var gravity: [(name: String, value: String)] = []
    /// What is cut off each side. This and all other lengths are in pixels before the pixel ratio.
    private(set) var inset: Padding?
    var trimLeft: Int?
    var trimTop: Int?
    var trimWidth: Int?
    var trimHeight: Int?
    /// The tolerance for finding the border to remove; nil = borders are kept.
    var borderTrim: Int?
    var borderTrimColor: Color?
    var rotation: String?
    var mirrorsColumns = false
    var mirrorsRows = false
    var border = Padding(0)
    var borderColor = Color.black
    private var format: String?
    private var isProgressive = false
    var quality: String?
    var isStill = false
    private var steps: [String] = []
    private var parameters: [(name: String, value: String)] = []
    var ignored: [Translation.Ignored] = []

    /// Adds a parameter, in place of an earlier one of its name.
    mutating func set(_ name: String, _ value: String) {
        parameters.removeAll { $0.name == name }
        parameters.append((name, value))
    }

    mutating func addTones(factor: Double, offset: Double) {
        guard factor != 1 else { return }
        let shift = ThumborNumber.text(offset, decimals: 4)
        steps.append("linear:\(ThumborNumber.text(factor, decimals: 4)):\(shift):\(shift):\(shift)")
    }

    mutating func setGravity(_ value: String) throws(InvalidParameter) {
        switch value {
        case "auto": gravity = [("a", "attention")]
        case "left", "right", "top", "bottom", "center": gravity = [("a", value)]
        case "face":
            throw InvalidParameter(
                "gravity",
                "Option 'gravity' cannot be face: no faces are detected. Use gravity=auto. See docs/cloudflare.md.")
        default:
            let parts = value.split(separator: "x", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else {
                throw CloudflareValue.invalid(
                    "gravity", "auto, left, right, top, bottom, center, or coordinates such as 0.5x0.2", value)
            }
            let x = try CloudflareValue.number("gravity", parts[0], 0...1)
            let y = try CloudflareValue.number("gravity", parts[1], 0...1)
            gravity = [
                ("a", "focal"), ("fpx", ThumborNumber.text(x, decimals: 6)),
                ("fpy", ThumborNumber.text(y, decimals: 6)),
            ]
        }
    }

    mutating func setTrim(_ value: String) throws(InvalidParameter) {
        guard value != "border", value != "auto" else {
            borderTrim = borderTrim ?? 10
            return
        }
        let parts = value.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4 else {
            throw CloudflareValue.invalid("trim", "four integers top;right;bottom;left, border or auto", value)
        }
        var sides: [Int] = []
        for part in parts { sides.append(try CloudflareValue.integer("trim", part, 0...9999)) }
        inset = Padding(top: sides[0], right: sides[1], bottom: sides[2], left: sides[3])
    }

    mutating func setFormat(_ value: String) throws(InvalidParameter) {
        let formats = [
            "auto": "auto", "avif": "avif", "webp": "webp", "jpeg": "jpg", "jpg": "jpg", "baseline-jpeg": "jpg",
            "png": "png", "gif": "gif", "json": "json",
        ]
        guard let format = formats[value] else {
            throw CloudflareValue.invalid("format", "auto, avif, webp, jpeg, baseline-jpeg, png or json", value)
        }
        self.format = format
        isProgressive = value == "jpeg" || value == "jpg"
    }

    /// A quality as a number, or a target after a minus sign.
    static func quality(_ option: String, _ value: String) throws(InvalidParameter) -> String {
        let targets = ["high": "high", "medium-high": "medium", "medium-low": "low", "low": "low"]
        if let target = targets[value] { return "-\(target)" }
        return "\(try CloudflareValue.integer(option, value, 1...100))"
    }
}

extension CloudflareDraft {
    /// The query in Darkroom's parameters.
    func query(of url: String, _ limits: QueryLimits) -> QueryString {
        var query = QueryString()
        query.append("url", url)
        writeSize(to: &query, limits)
        writeCuts(to: &query)
        for parameter in parameters { query.append(parameter.name, parameter.value) }
        let steps = steps + borderStep
        if !steps.isEmpty { query.append("steps", steps.joined(separator: ",")) }
        writeOutput(to: &query)
        if needsRules { query.append("rules", ChainRules.cloudflare.rawValue) }
        return query
    }

    /// Whether Darkroom's own rules would make another image. Otherwise the query has no `rules`, so that it shares a
    /// variant with requests in Darkroom's own language.
    private var needsRules: Bool {
        let isCut = fit == .crop && width != nil && height != nil
        let isEnlarged = fit == .scaleUp && (width != nil || height != nil)
        return isCut || isEnlarged || rotation != nil || mirrorsColumns || mirrorsRows || hasCrop
    }

    private var hasCrop: Bool { [trimLeft, trimTop, trimWidth, trimHeight].contains { $0 != nil } }

    private func scaled(_ length: Int) -> Int { Int((Double(length) * pixelRatio).rounded()) }

    private func writeSize(to query: inout QueryString, _ limits: QueryLimits) {
        let isTwoSided = width != nil && height != nil
        let enlarges = [.contain, .cover, .pad, .squeeze, .scaleUp].contains(fit)
        // A side that the result cannot reach need not be within the limits.
        let side = { (length: Int) in
            let isLoose = fit == .scaleDown || fit == .crop || fit == .aspectCrop && !isTwoSided
            return "\(isLoose ? min(max(scaled(length), 1), limits.maxOutputSide) : max(scaled(length), 1))"
        }
        if let width { query.append("w", side(width)) }
        if let height { query.append("h", side(height)) }
        guard width != nil || height != nil else { return }
        let name: DarkroomTransforms.Fit =
            switch fit {
            case .scaleDown, .contain: .inside
            case .cover, .aspectCrop: .cover
            case .crop, .scaleUp: .outside
            case .pad: .contain
            case .squeeze: .fill
            }
        if isTwoSided || fit == .scaleUp, name != .inside { query.append("fit", name.rawValue) }
        if enlarges { query.append("enlarge", "true") }
        // The space around the image is white, also where the image is transparent.
        if isTwoSided, fit == .pad, !parameters.contains(where: { $0.name == "bg" }) {
            query.append("cbg", Color.white.hex)
        }
        guard isTwoSided, [.cover, .crop, .aspectCrop].contains(fit) else { return }
        for part in gravity { query.append(part.name, part.value) }
    }

    private func writeCuts(to query: inout QueryString) {
        if let inset, inset != Padding(0) {
            let sides = [inset.top, inset.right, inset.bottom, inset.left].map { "\(min(scaled($0), 9999))" }
            query.append("inset", sides.joined(separator: ","))
        }
        if hasCrop {
            let corner = [trimLeft, trimTop].map { "\(scaled($0 ?? 0))" }
            let sides = [trimWidth, trimHeight].map { $0.map { "\(max(scaled($0), 1))" } ?? "100p" }
            query.append("crop", (corner + sides).joined(separator: ","))
        }
        if let borderTrim {
            query.append("trim", "\(borderTrim)")
            if let borderTrimColor { query.append("tbg", borderTrimColor.hex) }
        }
        if let rotation { query.append("ro", rotation) }
        if mirrorsRows { query.append("flip", "true") }
        if mirrorsColumns { query.append("flop", "true") }
    }

    private var borderStep: [String] {
        guard border != Padding(0) else { return [] }
        let sides = [border.top, border.right, border.bottom, border.left].map { "\(min(scaled($0), 9999))" }
        return [(["pad", borderColor.hex] + sides).joined(separator: ":")]
    }

    private func writeOutput(to query: inout QueryString) {
        query.append("output", format ?? "origin")
        if isProgressive { query.append("il", "true") }
        if isStill { query.append("n", "1") }
        guard let quality else { return }
        if quality.hasPrefix("-") {
            query.append("q", "auto")
            query.append("target", String(quality.dropFirst()))
        } else if quality == "100", format == "webp" {
            query.append("ll", "true")
        } else {
            query.append("q", quality)
        }
    }
}
