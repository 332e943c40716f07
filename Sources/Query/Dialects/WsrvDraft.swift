import DarkroomTransforms

/// A query of wsrv.nl while it is read. Nil = not given, or without a meaning.
struct WsrvDraft: Sendable {
    var url: String?
    var fallback: String?
    var version: String?
    var nonce: String?

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
    var brightness: Int?
    private(set) var lightness: Double?
    var saturation: Double?
    var hue: Int?
    var contrast: Int?
    var gamma: Double?
    var tint: Color?
    var filter: String?
    var start: Color?
    var stop: Color?

    var blur: WsrvValue.Sigma?
    private(set) var sharpening: WsrvValue.Sigma?
    var flat: Double?
    var jagged: Double?

    var output: String?
    var quality: Int?
    var interlaced: Bool?
    var lossless: Bool?
    /// -1 = all.
    var pages: Int?
    /// Counted from 0; -1 = the largest, -2 = the smallest.
    var page: Int?
    var compression: Int?
    var filtersRows: Bool?
    var encoding: String?
    var days: Int?
    var fileName: String?

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
        lightness = items.first.flatMap { WsrvValue.factor($0) }
        if items.count > 1 { saturation = saturation ?? WsrvValue.factor(items[1]) }
        if items.count > 2 { hue = hue ?? WsrvValue.number(items[2]).map { WsrvValue.modulo360(Int($0)) } }
        return !items.isEmpty
    }

    /// `sharp=sigma`, or `sharp=flat,jagged,sigma`.
    mutating func setSharpening(_ text: String?) -> Bool {
        let items = WsrvValue.items(text)
        guard items.count > 1 else {
            sharpening = WsrvValue.sigma(text, in: Sharpen.sigmas)
            return sharpening != nil
        }
        flat = flat ?? WsrvValue.number(items[0], in: Sharpen.slopes)
        jagged = jagged ?? WsrvValue.number(items[1], in: Sharpen.slopes)
        if items.count > 2 { sharpening = WsrvValue.sigma(items[2], in: Sharpen.sigmas) }
        return true
    }
}
