import DarkroomQuery
import DarkroomRequests
import Foundation

/// A path of imgproxy while its options are read. Nil = not given.
struct ImgproxyDraft: OptionDraft, Sendable {
    var layout = Layout()
    var width = 0
    var height = 0
    var minWidth = 0
    var minHeight = 0
    var enlarges = false
    var isExtended = false
    var extendGravity = Layout.Gravity()
    var isRatioExtended = false
    var extendRatioGravity = Layout.Gravity()
    var trim: Double?
    var trimColor: Color?
    var padding = Padding(0)
    var isUpright = true
    var rotation = 0
    var flips = false
    var flops = false

    var background: Color?
    var backgroundAlpha = 1.0
    var brightness = 0
    var contrast = 1.0
    var saturation = 1.0
    var duotone: (shadow: Color, highlight: Color)?
    var blur = 0.0
    var sharpening = 0.0
    var pixelSize = 1
    var hidesFaces = false
    var watermark = Watermark()

    var format: String?
    var quality = 0
    var formatQualities: [String: Int] = [:]
    var choosesQuality = false
    var maxBytes = 0
    var progressive = false
    var palette = false
    var stripsMetadata = true
    var keepsCopyright = true
    var page: Int?
    var pages: Int?
    var isStill = false
    var frames: Int?

    var digest: String?
    var fallback: String?
    var version: String?
    var fileName: String?
    var isAttachment = false
    var isRaw = false
    var expires: Date?
    /// The fields of a document.
    var fields: [String] = []
    var ignored: [Translation.Ignored] = []

    struct Watermark: Sendable {
        var opacity = 0.0
        /// Nil = tiles.
        var anchor: Anchor? = .center
        var x = 0.0
        var y = 0.0
        var scale = 0.0
        var width = 0
        var height = 0
        var url: String?
        var text: String?
    }

    /// The formats of results, by imgproxy's names.
    static let formats = [
        "jpg": "jpg", "jpeg": "jpg", "png": "png", "webp": "webp", "avif": "avif", "gif": "gif", "tiff": "tiff",
        "jxl": "jxl",
    ]
    /// Formats of imgproxy that are not output formats of Darkroom.
    static let otherFormats: Set = ["ico", "svg", "heic", "bmp", "pdf", "psd", "mp4"]

    static func isFormat(_ name: Substring) -> Bool {
        formats[String(name)] != nil || otherFormats.contains(String(name))
    }

    mutating func setFormat(_ name: String, of option: String) throws(InvalidParameter) {
        guard let format = Self.formats[name] else {
            let isKnown = Self.otherFormats.contains(name)
            throw InvalidParameter(
                option,
                "Option '\(option)' must be one of \(Self.formats.keys.sorted().joined(separator: ", ")); "
                    + "'\(InvalidParameter.clipped(name))' is not \(isKnown ? "made here" : "a format").")
        }
        self.format = format
    }

    func imageQuery(_ url: String, _ rules: ImgproxyDialect.Rules, _ limits: QueryLimits) -> QueryString {
        var query = QueryString()
        query.append("url", url)
        query.put("digest", digest)
        if hidesFaces { query.append("redact", "face") }
        if isRaw {
            query.append("n", "\(limits.maxFrames)")
            query.append("output", "origin")
            query.append("passthrough", "auto")
            writeDelivery(to: &query)
            return query
        }
        query.put("default", fallback)
        query.append("rules", Dialect.imgproxy.rawValue)
        writeSize(to: &query, limits)
        writeTurns(to: &query)
        writeColors(to: &query)
        writeWatermark(to: &query, rules)
        writeFormat(to: &query, rules, limits)
        writeDelivery(to: &query)
        return query
    }

    /// The query of a document about the source.
    func informationQuery(_ url: String) -> QueryString {
        var query = QueryString()
        query.append("url", url)
        query.put("digest", digest)
        query.append("output", "json")
        if !fields.isEmpty { query.append("fields", fields.joined(separator: ",")) }
        query.put("page", page.map { "\($0 + 1)" })
        query.put("v", version)
        return query
    }

    // MARK: Size and geometry

    private func writeSize(to query: inout QueryString, _ limits: QueryLimits) {
        query.put("w", sideText(width, limits))
        query.put("h", sideText(height, limits))
        if minWidth > 0 { query.append("min-w", "\(minWidth)") }
        if minHeight > 0 { query.append("min-h", "\(minHeight)") }
        query.put("enlarge", isSet: enlarges)
        if let trim {
            query.append("trim", "\(Int(trim.rounded()).clamped(to: Trim.thresholds))")
            query.put("tbg", trimColor?.hex)
        }
        var layout = layout
        layout.extend = isExtended ? extendGravity : nil
        layout.extendRatio = isRatioExtended ? extendRatioGravity : nil
        let text = layout.text
        if !text.isEmpty { query.append("layout", text) }
        if padding != Padding(0) {
            query.append("pad", "\(padding.top),\(padding.right),\(padding.bottom),\(padding.left)")
        }
    }

    /// A side as text; nil if it is 0. A side that no result reaches need not be within the limits.
    private func sideText(_ side: Int, _ limits: QueryLimits) -> String? {
        guard side > 0 else { return nil }
        let isLoose = !enlarges && !isExtended && !isRatioExtended && [.fit, .fill, .auto].contains(layout.sizing)
        return "\(isLoose ? min(side, limits.maxOutputSide) : side)"
    }

    private func writeTurns(to query: inout QueryString) {
        if !isUpright { query.append("orient", "none") }
        let angle = (rotation % 360 + 360) % 360
        if angle > 0 { query.append("ro", "\(angle)") }
        query.put("flip", isSet: flips)
        query.put("flop", isSet: flops)
    }

    // MARK: Colors and effects

    private func writeColors(to query: inout QueryString) {
        if var background {
            background.alpha = UInt8((backgroundAlpha * 255).rounded())
            query.append("bg", background.hex)
        }
        if brightness != 0 { query.append("bri", "\((Double(brightness) / 2.55).roundedInt)") }
        let contrast = Self.percent(ofContrast: contrast)
        if contrast != 0 { query.append("con", "\(contrast)") }
        if saturation != 1 {
            query.append("sat", Layout.plain(min(saturation, Saturation.factors.upperBound)))
        }
        if let duotone { query.append("duotone", "\(duotone.shadow.hex),\(duotone.highlight.hex)") }
        if blur > 0 { query.append("blur", Layout.plain(blur.clamped(to: Blur.sigmas))) }
        if sharpening > 0 { query.append("sharp", Layout.plain(sharpening.clamped(to: Sharpen.sigmas))) }
        if pixelSize > 1 { query.append("pixelate", "\(min(pixelSize, Pixelate.pixels.upperBound))") }
    }

    /// The value of `con` at which the curve has the same slope in middle gray as a line of this slope.
    private static func percent(ofContrast slope: Double) -> Int {
        guard slope != 1 else { return 0 }
        guard slope > 0 else { return Contrast.percents.lowerBound }
        let target = slope > 1 ? slope : 1 / slope
        // The slope of the curve is x / tanh(x), where x is a fortieth of the value.
        var (low, high) = (0.0, Double(Contrast.percents.upperBound) / 40)
        for _ in 0..<40 {
            let middle = (low + high) / 2
            if middle / tanh(middle) < target { low = middle } else { high = middle }
        }
        let percent = (low * 40).roundedInt
        return slope > 1 ? percent : -percent
    }

    // MARK: Watermark

    private func writeWatermark(to query: inout QueryString, _ rules: ImgproxyDialect.Rules) {
        guard watermark.opacity > 0 else { return }
        if let text = watermark.text {
            query.append("text", text)
            query.append(
                "textcolor", Color(red: 0, green: 0, blue: 0, alpha: UInt8((watermark.opacity * 255).rounded())).hex)
            if let anchor = watermark.anchor { query.append("texta", anchor.rawValue) }
            return
        }
        guard let image = watermark.url ?? rules.watermark else { return }
        query.append("mark", image)
        query.append("marka", watermark.anchor?.rawValue ?? "tile")
        query.append("markalpha", "\(max(1, (watermark.opacity * 100).roundedInt))")
        query.put("markx", Self.offset(watermark.x, isGap: watermark.anchor == nil))
        query.put("marky", Self.offset(watermark.y, isGap: watermark.anchor == nil))
        if watermark.scale > 0 {
            let share = "\(Layout.plain((watermark.scale * 10_000).rounded().clamped(to: 1...10_000) / 100))p"
            query.append("markw", share)
            query.append("markh", share)
        } else {
            if watermark.width > 0 { query.append("markw", "\(watermark.width)") }
            if watermark.height > 0 { query.append("markh", "\(watermark.height)") }
        }
    }

    /// A distance in pixels, or below 1 in percent; nil for none.
    private static func offset(_ length: Double, isGap: Bool) -> String? {
        let length = isGap ? max(0, length) : length
        guard abs(length) < 1 else { return "\(length.roundedInt)" }
        let hundredths = (length * 10_000).rounded()
        return hundredths == 0 ? nil : "\(Layout.plain(hundredths / 100))p"
    }

    // MARK: Output

    private func writeFormat(
        to query: inout QueryString, _ rules: ImgproxyDialect.Rules, _ limits: QueryLimits
    ) {
        if format == nil, !rules.preferredFormats.isEmpty {
            query.append("formats", rules.preferredFormats.joined(separator: ","))
        } else {
            query.appendFormat(format)
        }
        if choosesQuality {
            query.append("q", "auto")
        } else {
            let known = format.flatMap { formatQualities[$0] ?? Self.defaultQualities[$0] }
            if let quality = quality > 0 ? quality : known, quality > 0, format.map(Self.isLossy) ?? true {
                query.append("q", "\(quality)")
            }
        }
        if maxBytes > 0 { query.append("max_bytes", "\(min(maxBytes, 100_000_000))") }
        query.put("il", isSet: progressive)
        query.put("palette", isSet: palette && format == "png")
        let metadata = !stripsMetadata ? MetadataPolicy.all : keepsCopyright ? .rights : .none
        if metadata != .rights { query.append("metadata", metadata.rawValue) }
        query.put("page", page.map { "\($0 + 1)" })
        let count = isStill ? 1 : pages ?? frames ?? rules.animationFrames
        let used = min(max(count, 1), limits.maxFrames)
        query.append("n", "\(used)")
        if used > 1, pages == nil || used < count { query.append("pick", "even") }
    }

    private static func isLossy(_ format: String) -> Bool { !["png", "gif", "tiff"].contains(format) }

    /// The qualities of imgproxy where they are not Darkroom's.
    private static let defaultQualities = ["webp": 79, "avif": 63, "jxl": 77]

    private func writeDelivery(to query: inout QueryString) {
        query.put("v", version)
        query.put("filename", fileName.map { "\($0).*" })
        query.put("attachment", isSet: isAttachment)
    }
}

extension Double {
    fileprivate var roundedInt: Int { Int(rounded().clamped(to: -1e9...1e9)) }
}
