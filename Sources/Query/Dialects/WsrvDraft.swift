import DarkroomRequests

/// A query of wsrv.nl while it is read. Nil = not given, or without a meaning.
struct WsrvDraft: Sendable {
    /// Values of Darkroom's parameters that no other parameter changes, by their names.
    var texts: [String: String] = [:]

    var width: Length?
    var height: Length?
    var pixelRatio: Double?
    var fit: Fit?
    var withoutEnlargement: Bool?
    private(set) var place: String?
    var focalX: Double?
    var focalY: Double?
    var shrinksFast: Bool?

    var x: Length?
    var y: Length?
    var cropWidth: Length?
    var cropHeight: Length?
    var cropsFirst: Bool?
    var trim: Int?
    var trimBackground: Color?
    var mask: MaskShape?
    var trimsMask: Bool?
    var maskBackground: Color?

    var rotation: Int?
    var cornerBackground: Color?
    var flip: Bool?
    var flop: Bool?

    var background: Color?
    var canvasBackground: Color?
    var filter: String?
    var start: Color?
    var stop: Color?

    var flat: Double?
    var jagged: Double?

    var output: String?
    var interlaced: Bool?
    var lossless: Bool?
    /// -1 = all.
    var pages: Int?
    var filtersRows: Bool?

    /// `a`, also as `focal-x%-y%` and in the names before version 5.
    mutating func setPlace(_ text: String?) {
        switch text {
        case "t": place = "top"
        case "l": place = "left"
        case "r": place = "right"
        case "b": place = "bottom"
        case let name? where Self.places.contains(name): place = name
        case let text? where text.hasPrefix("focal") || text.hasPrefix("crop-"):
            place = "focal"
            let shares = text.split(separator: "-").dropFirst().prefix(2).map {
                WsrvValue.integer(String($0), in: 0...100).map { Double($0) / 100 }
            }
            guard text.contains("-") else { return }
            focalX = focalX ?? shares.first.flatMap(\.self) ?? 0.5
            focalY = focalY ?? shares.dropFirst().first.flatMap(\.self) ?? 0.5
        default: place = nil
        }
    }

    private static let places: Set = [
        "top-left", "top", "top-right", "left", "right", "bottom-left", "bottom", "bottom-right", "entropy",
        "attention",
    ]

    /// `crop=w,h,x,y`, from before version 5.
    mutating func setRectangle(_ text: String?) -> Bool {
        let numbers = WsrvValue.items(text).prefix(4).map { WsrvValue.integer($0) ?? -1 }
        guard numbers.count == 4 else { return false }
        (cropWidth, cropHeight) = (cropWidth ?? .pixels(numbers[0]), cropHeight ?? .pixels(numbers[1]))
        (x, y) = (x ?? .pixels(numbers[2]), y ?? .pixels(numbers[3]))
        return true
    }

    /// `mod=brightness,saturation,hue`.
    mutating func setModulation(_ text: String?) -> Bool {
        let items = WsrvValue.items(text)
        texts["mod"] = items.first.flatMap { WsrvValue.factor($0) }
        if items.count > 1 { texts["sat"] = texts["sat"] ?? WsrvValue.factor(items[1]) }
        if items.count > 2 {
            texts["hue"] = texts["hue"] ?? WsrvValue.number(items[2]).map { "\(WsrvValue.modulo360(Int($0)))" }
        }
        return !items.isEmpty
    }

    /// `sharp=sigma`, or `sharp=flat,jagged,sigma`.
    mutating func setSharpening(_ text: String?) -> Bool {
        let items = WsrvValue.items(text)
        guard items.count > 1 else {
            texts["sharp"] = WsrvValue.sigma(text, in: Sharpen.sigmas)
            return texts["sharp"] != nil
        }
        flat = flat ?? WsrvValue.number(items[0], in: Sharpen.slopes)
        jagged = jagged ?? WsrvValue.number(items[1], in: Sharpen.slopes)
        if items.count > 2 { texts["sharp"] = WsrvValue.sigma(items[2], in: Sharpen.sigmas) }
        return true
    }

    /// The query in Darkroom's parameters.
    func written(_ limits: QueryLimits) throws(InvalidParameter) -> QueryString {
        var query = QueryString()
        for name in ["url", "default"] { query.put(name, texts[name]) }
        writeSize(to: &query, limits)
        writeCrops(to: &query)
        writeTurns(to: &query)
        writeColors(to: &query)
        writeEffects(to: &query)
        writeOutput(to: &query, limits)
        for name in ["v", "_"] { query.put(name, texts[name]) }
        query.put("rules", Dialect.wsrv.rawValue)
        return query
    }

    // MARK: Size

    private func writeSize(to query: inout QueryString, _ limits: QueryLimits) {
        let (width, height) = (scaled(width), scaled(height))
        let fit = fit ?? .inside
        let enlarges = withoutEnlargement != true
        let isTwoSided = width != nil && height != nil
        query.put("w", boundText(width, beside: height, limits))
        query.put("h", boundText(height, beside: width, limits))
        guard width != nil || height != nil else { return }
        // A missing side stays unchanged.
        if fit == .fill, !isTwoSided { query.put(width == nil ? "w" : "h", "\(WsrvValue.whole)") }
        if fit != .inside { query.put("fit", fit.rawValue) }
        if enlarges { query.put("enlarge", "true") }
        if shrinksFast == false { query.put("resample", "accurate") }
        writePlace(to: &query)
    }

    /// A side as text. A side that the result cannot reach need not be within the limits.
    private func boundText(_ side: Length?, beside other: Length?, _ limits: QueryLimits) -> String? {
        guard case .pixels(let count)? = side else { return side.map { "\($0)" } }
        let isLoose =
            switch fit ?? .inside {
            case .contain: false
            case .inside: withoutEnlargement == true || other.map { ($0.pixels ?? 0) <= limits.maxOutputSide } ?? false
            case .cover, .fill, .outside: withoutEnlargement == true
            }
        return "\(isLoose ? min(count, limits.maxOutputSide) : count)"
    }

    private func writePlace(to query: inout QueryString) {
        guard fit == .cover || fit == .contain, let place else { return }
        query.put("a", place)
        guard place == "focal" else { return }
        query.put("fpx", focalX.map(ValueSchema.plain))
        query.put("fpy", focalY.map(ValueSchema.plain))
    }

    /// A side in device pixels, at least 1; nil if it is missing, or is 0 or less.
    private func scaled(_ side: Length?) -> Length? {
        switch side {
        case nil: return nil
        case .pixels(let count):
            let pixels = (Double(count) * (pixelRatio ?? 1)).rounded()
            return pixels >= 1 ? .pixels(Int(pixels)) : nil
        case .percent(let part):
            let hundredths = (Double(part.hundredths) * (pixelRatio ?? 1)).rounded()
            guard hundredths > 0 else { return nil }
            return .percent(Percentage(hundredths: min(max(Int(hundredths), 100), ImageQueryDraft.maxPercent * 100)))
        }
    }

    // MARK: Geometry

    private func writeCrops(to query: inout QueryString) {
        if let trim {
            query.put("trim", "\(trim)")
            query.put("tbg", trimBackground?.hex)
        }
        if let rectangle { query.put(cropsFirst == true ? "crop" : "cut", rectangle) }
    }

    /// `x,y,w,h`; nil if nothing is cut.
    private var rectangle: String? {
        guard [x, y, cropWidth, cropHeight].contains(where: { $0 != nil }) || cropsFirst == true else { return nil }
        let corner = [x, y].map { $0.flatMap { $0.isPositive ? $0 : nil } ?? .pixels(0) }
        let sides = [cropWidth, cropHeight].map { $0.flatMap { $0.isPositive ? $0 : nil } ?? WsrvValue.whole }
        return (corner + sides).map { "\($0)" }.joined(separator: ",")
    }

    private func writeTurns(to query: inout QueryString) {
        if let rotation, rotation != 0 {
            query.put("ro", "\(rotation)")
            if !rotation.isMultiple(of: 90) { query.put("rbg", cornerBackground?.hex) }
        }
        query.put("flip", isSet: flip)
        query.put("flop", isSet: flop)
    }

    // MARK: Colors

    private func writeColors(to query: inout QueryString) {
        // On wsrv.nl, a gray image has a gray background.
        query.put("bg", (filter == "greyscale" ? background?.gray : background)?.hex)
        if fit == .contain { query.put("cbg", (canvasBackground ?? .transparent).hex) }
        for name in ["bri", "mod", "con", "sat", "hue", "gam", "tint"] { query.put(name, texts[name]) }
        guard filter == "duotone" else {
            query.put("filt", filter)
            return
        }
        let (start, stop) = (start ?? Self.duotone.start, stop ?? Self.duotone.stop)
        query.put("duotone", "\(start.hex),\(stop.hex)")
    }

    private static let duotone = (
        start: Color(red: 0xc8, green: 0x36, blue: 0x58), stop: Color(red: 0xd8, green: 0xe7, blue: 0x4f)
    )

    private func writeEffects(to query: inout QueryString) {
        for name in ["blur", "sharp"] { query.put(name, texts[name]) }
        if texts["sharp"]?.isEmpty == false {
            query.put("sharpf", ValueSchema.plain(flat ?? 1))
            query.put("sharpj", ValueSchema.plain(jagged ?? 2))
        }
        guard let mask else { return }
        query.put("mask", mask.rawValue)
        query.put("mbg", maskBackground?.hex)
        query.put("mtrim", isSet: trimsMask)
    }

    // MARK: Output

    private func writeOutput(to query: inout QueryString, _ limits: QueryLimits) {
        query.put("output", output)
        query.put("formats", output == nil ? "none" : nil)
        if output == "json" { query.put("fields", "wsrv") }
        query.put("q", texts["q"])
        query.put("il", isSet: interlaced)
        query.put("ll", isSet: lossless)
        if pages != -1 { query.put("n", "\(min(pages ?? 1, limits.maxFrames))") }
        if pages ?? 1 > limits.maxFrames { query.put("pick", "even") }
        query.put("l", texts["l"])
        query.put("af", isSet: filtersRows)
        for name in ["page", "encoding", "maxage", "filename"] { query.put(name, texts[name]) }
    }
}

extension Length {
    fileprivate var isPositive: Bool {
        switch self {
        case .pixels(let count): count > 0
        case .percent(let part): part.hundredths > 0
        }
    }
}
