import DarkroomQuery
import DarkroomRequests
import Foundation

/// The meaning of a path of thumbor in Darkroom's parameters, while its filters are read.
struct ThumborDraft: OptionDraft {
    let path: ThumborPath
    let source: ForeignSource
    /// The color of `color:red` in place of an image.
    let canvas: Color?
    /// Set by the filters `upscale` and `no_upscale`; the last of them counts.
    var enlarges: Bool?
    var isStretched = false
    /// The centers of focal regions with their areas, in pixels or parts of the image.
    var focals: [(x: Double, y: Double, area: Double, isRelative: Bool)] = []
    /// Entries of `steps`.
    var steps: [String] = []
    /// The URLs of the images that steps draw: the first one is `mark`, the others are named by their numbers.
    var drawn: [String] = []
    /// Further parameters, each at most once.
    var parameters = QueryString()
    var format: String?
    /// The most frames of an animation; nil = all.
    var frames: Int?
    var page = 1
    var details: Set<String> = []
    var expires: Date?
    var ignored: [Translation.Ignored] = []

    init(_ path: ThumborPath, source: ForeignSource) throws(InvalidParameter) {
        canvas = ThumborColor.canvas(path.image)
        self.path = canvas == nil ? path : path.ofCanvas
        self.source = source
        isStretched = self.path.isStretched
        for filter in path.filters {
            try ThumborFilters.table.apply(filter.name, filter.arguments, to: &self)
        }
        if canvas != nil { enlarges = true }
    }

    /// The query in Darkroom's parameters.
    func query(_ limits: QueryLimits) throws(InvalidParameter) -> QueryString {
        var query = QueryString()
        if let canvas {
            query.append("url", "color:///\(canvas.hex)")
        } else {
            query.append("url", try source.url(path.image))
        }
        writeSize(to: &query, limits)
        try writeFocus(to: &query)
        writeCrops(to: &query)
        query.put("flop", isSet: path.mirrorsColumns)
        query.put("flip", isSet: path.mirrorsRows)
        query.pairs += parameters.pairs
        writePages(to: &query, limits)
        if !steps.isEmpty { query.append("steps", steps.joined(separator: ",")) }
        let format = format ?? (canvas == nil ? nil : "jpg")
        // libvips puts black behind transparent pixels of a JPEG.
        if !path.isMeta, format == "jpg" { query.append("bg", Color.black.hex) }
        query.appendFormat(path.isMeta ? "json" : format)
        if path.isMeta, !details.isEmpty { query.append("fields", details.sorted().joined(separator: ",")) }
        if needsRules { query.append("rules", Dialect.thumbor.rawValue) }
        return query
    }

    /// A page after the first one is alone. Beyond the last page, it is the last page.
    private func writePages(to query: inout QueryString, _ limits: QueryLimits) {
        if page > 1 { query.append("page", "upto:\(page)") }
        guard let count = page > 1 ? 1 : frames else { return }
        query.append("n", "\(min(count, limits.maxFrames))")
        if min(count, limits.maxFrames) > 1 { query.append("pick", "even") }
    }

    /// Whether Darkroom's own rules would make another image. Otherwise the query has no `rules`, so that it shares a
    /// variant with requests in Darkroom's own language.
    private var needsRules: Bool {
        let isWhole =
            path.crop == nil && path.trim == nil
            && !steps.contains { step in
                ["trim", "blur", "sharp", "pixelate", "fill:blur", "pad:blur"].contains { step.hasPrefix($0) }
            }
        guard path.width > 0 || path.height > 0 else { return !isWhole }
        // imagor decides anew for each size what is salient.
        let isExact = fit == .cover && focals.isEmpty && !path.isSmart || fit == .fill
        return !isWhole || !isExact || path.width == 0 || path.height == 0 || enlarges == false || path.isAdaptive
    }

    private var fit: Fit { path.isFull ? .outside : path.fitsIn ? .inside : isStretched ? .fill : .cover }

    private func writeSize(to query: inout QueryString, _ limits: QueryLimits) {
        guard path.width > 0 || path.height > 0 else { return }
        let enlarges = enlarges ?? (fit != .inside)
        // A side that the result cannot reach need not be within the limits.
        let side = { (length: Int) in
            if length == ThumborPath.sourceSide { return "100p" }
            return "\(fit == .inside && !enlarges ? min(length, limits.maxOutputSide) : length)"
        }
        if path.width > 0 { query.append("w", side(path.width)) }
        if path.height > 0 { query.append("h", side(path.height)) }
        if fit != .inside { query.append("fit", fit.rawValue) }
        query.put("enlarge", isSet: enlarges)
        query.put("swap", isSet: path.isAdaptive && path.width > 0 && path.height > 0)
        guard fit == .cover, focals.isEmpty else { return }
        let anchor = [path.vertical, path.horizontal].compactMap { ["middle", "center"].contains($0) ? nil : $0 }
        if path.isSmart {
            query.append("a", limits.findsFaces ? "faces" : "attention")
        } else if !anchor.isEmpty {
            query.append("a", anchor.joined(separator: "-"))
        }
    }

    /// The center of all focal regions by their areas.
    private func writeFocus(to query: inout QueryString) throws(InvalidParameter) {
        guard let first = focals.first, fit == .cover, path.width > 0 || path.height > 0 else { return }
        try require(
            focals.allSatisfy({ $0.isRelative == first.isRelative }), "focal",
            "Filters 'focal' must all be in pixels, or all in parts of the image.")
        let sum = focals.reduce(0) { $0 + $1.area }
        let x = focals.reduce(0) { $0 + $1.x * $1.area } / sum
        let y = focals.reduce(0) { $0 + $1.y * $1.area } / sum
        query.append("a", "focal")
        if first.isRelative {
            query.append("fpx", x.clamped(to: 0...1).text(decimals: 6))
            query.append("fpy", y.clamped(to: 0...1).text(decimals: 6))
        } else {
            query.append("focus", "\(x.text(decimals: 2)),\(y.text(decimals: 2))")
        }
    }

    private func writeCrops(to query: inout QueryString) {
        if let trim = path.trim {
            query.append("trim", "\(trim.tolerance.clamped(to: 1...254))")
            if trim.isBottomRight { query.append("tcorner", "bottom-right") }
        }
        guard let crop = path.crop, [crop.left, crop.top, crop.right, crop.bottom].contains(where: { $0 > 0 }) else {
            return
        }
        let isRelative = crop.left < 1 && crop.top < 1 && crop.right <= 1 && crop.bottom <= 1
        let across = Self.span(crop.left, crop.right, isRelative)
        let down = Self.span(crop.top, crop.bottom, isRelative)
        guard let across, let down else { return }
        query.append("crop", "\(across.start),\(down.start),\(across.length),\(down.length)")
    }

    /// Beginning and length of a crop along a side; nil for an empty crop, which changes nothing. An end of 0 is the
    /// end of the image.
    private static func span(_ start: Double, _ end: Double, _ isRelative: Bool) -> (start: String, length: String)? {
        if isRelative {
            let (first, last) = (Int((start * 10_000).rounded()), Int(((end == 0 ? 1 : end) * 10_000).rounded()))
            guard last > first else { return nil }
            return ("\(Percentage(hundredths: first))", "\(Percentage(hundredths: last - first))")
        }
        guard end > 0 else { return ("\(Int(min(start, 9e6)))", "100p") }
        let (first, last) = (Int(min(start, 9e6)), Int(min(end, 9e6)))
        return last > first ? ("\(first)", "\(last - first)") : nil
    }
}
