import DarkroomQuery
import DarkroomRequests

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
    private(set) var gravity: [QueryString.Pair] = []
    /// How closely `gravity=face` crops.
    var faceZoom = 0.0
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
    /// Further parameters, each at most once.
    var parameters = QueryString()
    var ignored: [Translation.Ignored] = []

    mutating func addTones(factor: Double, offset: Double) {
        guard factor != 1 else { return }
        let shift = offset.text(decimals: 4)
        steps.append("linear:\(factor.text(decimals: 4)):\(shift):\(shift):\(shift)")
    }

    mutating func setGravity(_ value: String) throws(InvalidParameter) {
        switch value {
        case "auto": gravity = [.init(name: "a", value: "attention")]
        case "left", "right", "top", "bottom", "center": gravity = [.init(name: "a", value: value)]
        case "face": gravity = [.init(name: "a", value: "faces")]
        default:
            let parts = value.split(separator: "x", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else {
                throw CloudflareValue.invalid(
                    "gravity", "auto, face, left, right, top, bottom, center, or coordinates such as 0.5x0.2", value)
            }
            let x = try CloudflareValue.number("gravity", parts[0], 0...1)
            let y = try CloudflareValue.number("gravity", parts[1], 0...1)
            gravity = [
                .init(name: "a", value: "focal"), .init(name: "fpx", value: x.text(decimals: 6)),
                .init(name: "fpy", value: y.text(decimals: 6)),
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

    /// The query in Darkroom's parameters.
    func query(of url: String, _ limits: QueryLimits) -> QueryString {
        var query = QueryString()
        query.append("url", url)
        writeSize(to: &query, limits)
        writeCuts(to: &query)
        query.pairs += parameters.pairs
        let steps = steps + borderStep
        if !steps.isEmpty { query.append("steps", steps.joined(separator: ",")) }
        writeOutput(to: &query)
        if needsRules { query.append("rules", Dialect.cloudflare.rawValue) }
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
        query.put("w", width.map(side))
        query.put("h", height.map(side))
        guard width != nil || height != nil else { return }
        let name: DarkroomRequests.Fit =
            switch fit {
            case .scaleDown, .contain: .inside
            case .cover, .aspectCrop: .cover
            case .crop, .scaleUp: .outside
            case .pad: .contain
            case .squeeze: .fill
            }
        if isTwoSided || fit == .scaleUp, name != .inside { query.append("fit", name.rawValue) }
        query.put("enlarge", isSet: enlarges)
        // The space around the image is white, also where the image is transparent.
        if isTwoSided, fit == .pad, !parameters.contains("bg") { query.append("cbg", Color.white.hex) }
        guard isTwoSided, [.cover, .crop, .aspectCrop].contains(fit) else { return }
        query.pairs += gravity
        guard faceZoom > 0, gravity.first?.value == "faces" else { return }
        query.append("facezoom", faceZoom.text(decimals: 4))
    }

    private func writeCuts(to query: inout QueryString) {
        if let inset, inset != Padding(0) { query.append("inset", widths(inset).joined(separator: ",")) }
        if hasCrop {
            let corner = [trimLeft, trimTop].map { "\(scaled($0 ?? 0))" }
            let sides = [trimWidth, trimHeight].map { $0.map { "\(max(scaled($0), 1))" } ?? "100p" }
            query.append("crop", (corner + sides).joined(separator: ","))
        }
        if let borderTrim {
            query.append("trim", "\(borderTrim)")
            query.put("tbg", borderTrimColor?.hex)
        }
        query.put("ro", rotation)
        query.put("flip", isSet: mirrorsRows)
        query.put("flop", isSet: mirrorsColumns)
    }

    private var borderStep: [String] {
        guard border != Padding(0) else { return [] }
        return [(["pad", borderColor.hex] + widths(border)).joined(separator: ":")]
    }

    private func widths(_ sides: Padding) -> [String] {
        [sides.top, sides.right, sides.bottom, sides.left].map { "\(min(scaled($0), 9999))" }
    }

    private func writeOutput(to query: inout QueryString) {
        query.appendFormat(format)
        query.put("il", isSet: isProgressive)
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
