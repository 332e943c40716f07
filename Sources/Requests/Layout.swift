import Foundation

/// The geometry that only the rules of imgproxy have, besides the box of a ``Recipe``.
///
/// Sizes, gravities and offsets have the meaning of imgproxy. `LayoutSizes` computes with them.
public struct Layout: Hashable, Codable, Sendable {
    /// How the image fits its box.
    public enum Sizing: String, Codable, Sendable, CaseIterable {
        /// As large as possible within the box.
        case fit
        /// Covers the box; the overhang is cropped. Sides that the image does not reach stay shorter.
        case fill
        /// Like `fill`, but an image that does not reach a side is cropped to the box's aspect ratio.
        case fillDown = "fill-down"
        /// Stretched to the box.
        case force
        /// `fill` if image and box are both portrait or both landscape, otherwise `fit`.
        case auto
    }

    /// The part of an image that is kept, or the position of an image on its canvas.
    public struct Gravity: Hashable, Codable, Sendable {
        /// An anchor, or how the part is found.
        public enum Point: Hashable, Codable, Sendable {
            case anchor(Anchor)
            /// The most salient part (libvips `smartcrop`).
            case attention
            /// Around faces; `attention` if none is found.
            case faces(FaceFocus.Choice)
            /// The point at the shares ``Gravity/x`` and ``Gravity/y`` of width and height.
            case focal
        }

        public var point: Point
        /// The distance from the anchored edge, or to the right for a centered anchor. A number of at least 1, or at
        /// most -1, is in CSS pixels; any other number is a share of the width. For `focal`, the share of the point,
        /// 0…1.
        public var x: Double
        /// The same downward.
        public var y: Double

        /// A gravity without offsets by default.
        public init(_ point: Point = .anchor(.center), x: Double = 0, y: Double = 0) {
            self.point = point
            self.x = x
            self.y = y
        }
    }

    /// A part of the upright source, cut out before anything is scaled.
    public struct Window: Hashable, Codable, Sendable {
        /// In pixels from 1, otherwise a share of the width; 0 = the whole width.
        public var width: Double
        /// In pixels from 1, otherwise a share of the height; 0 = the whole height.
        public var height: Double
        /// Nil = ``Layout/gravity``.
        public var gravity: Gravity?

        /// A part of these sides.
        public init(width: Double, height: Double, gravity: Gravity? = nil) {
            self.width = width
            self.height = height
            self.gravity = gravity
        }
    }

    /// How the image fits its box.
    public var sizing = Sizing.fit
    /// The device pixel ratio, which never enlarges an image on its own.
    public var pixelRatio = 1.0
    /// Factors of width and height on top of the box.
    public var zoom = Scale(x: 1, y: 1)
    /// Nil = the whole image.
    public var crop: Window?
    /// Which part `fill` and `fill-down` keep.
    public var gravity = Gravity()
    /// The position of an image that is smaller than its box on a canvas of the box's size; nil = there is no canvas.
    public var extend: Gravity?
    /// The same for a canvas of the box's aspect ratio.
    public var extendRatio: Gravity?
    /// Whether `trim` removes as much from the left as from the right.
    public var trimsEvenlyAcross = false
    /// Whether `trim` removes as much from the top as from the bottom.
    public var trimsEvenlyDown = false
    /// The longest side of the result, in pixels, to which larger results are scaled down; nil = no limit.
    public var maxSide: Int?

    /// Two factors.
    public struct Scale: Hashable, Codable, Sendable {
        public var x: Double
        public var y: Double

        public init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// The defaults of imgproxy.
    public init() {}
}

/// The text of a layout: items such as `fill-down`, `dpr:2` and `crop:0.5:200:top:0:10`, separated by commas.
extension Layout {
    /// Reads a text; nil unless every item is known, given once and within its range.
    public init?(parsing text: String) {
        self.init()
        var names: Set<Substring> = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = item.split(separator: ":", omittingEmptySubsequences: false)
            let name = Sizing(rawValue: String(parts[0])) == nil ? parts[0] : "sizing"
            guard names.insert(name).inserted, read(parts[0], parts.dropFirst()) else { return nil }
        }
    }

    /// The one spelling of the layout; empty for the defaults.
    public var text: String {
        var items: [String] = []
        if sizing != .fit { items.append(sizing.rawValue) }
        if pixelRatio != 1 { items.append("dpr:\(Self.plain(pixelRatio))") }
        if zoom != Scale(x: 1, y: 1) {
            items.append("zoom:\(Self.plain(zoom.x))" + (zoom.x == zoom.y ? "" : ":\(Self.plain(zoom.y))"))
        }
        if let crop {
            let gravity = crop.gravity.map { ":\($0.text)" } ?? ""
            items.append("crop:\(Self.plain(crop.width)):\(Self.plain(crop.height))\(gravity)")
        }
        if gravity != Gravity() { items.append("gravity:\(gravity.text)") }
        if let extend { items.append("extend:\(extend.text)") }
        if let extendRatio { items.append("extendar:\(extendRatio.text)") }
        let axes = (trimsEvenlyAcross ? "x" : "") + (trimsEvenlyDown ? "y" : "")
        if !axes.isEmpty { items.append("even:\(axes)") }
        if let maxSide { items.append("maxside:\(maxSide)") }
        return items.joined(separator: ",")
    }

    private mutating func read(_ name: Substring, _ values: ArraySlice<Substring>) -> Bool {
        let numbers = values.map(Self.number)
        if let sizing = Sizing(rawValue: String(name)) {
            self.sizing = sizing
            return values.isEmpty
        }
        switch name {
        case "dpr", "zoom":
            let factors = numbers.compactMap { $0 }.filter(Self.factors.contains)
            guard let first = factors.first, factors.count == numbers.count, factors.count <= (name == "dpr" ? 1 : 2)
            else {
                return false
            }
            if name == "dpr" { pixelRatio = first } else { zoom = Scale(x: first, y: factors.last ?? first) }
            return true
        case "crop": return readCrop(values)
        case "gravity", "extend", "extendar":
            guard let gravity = Gravity(parsing: values) else { return false }
            if name == "gravity" { self.gravity = gravity }
            if name == "extend" { extend = gravity }
            if name == "extendar" { extendRatio = gravity }
            return name == "gravity" || gravity.point != .attention
        case "even":
            guard values.count == 1, let axes = values.first, ["x", "y", "xy"].contains(axes) else { return false }
            (trimsEvenlyAcross, trimsEvenlyDown) = (axes.contains("x"), axes.contains("y"))
            return true
        case "maxside":
            guard numbers.count == 1, let side = numbers[0].flatMap(Int.init(exactly:)), Self.sides.contains(side)
            else {
                return false
            }
            maxSide = side
            return true
        default: return false
        }
    }

    private mutating func readCrop(_ values: ArraySlice<Substring>) -> Bool {
        let sides = values.prefix(2).compactMap(Self.number)
        guard sides.count == 2, sides.allSatisfy(Self.lengths.contains), sides != [0, 0] else { return false }
        crop = Window(width: sides[0], height: sides[1], gravity: Gravity(parsing: values.dropFirst(2)))
        return values.count == 2 || crop?.gravity != nil
    }

    /// The accepted factors of `dpr` and `zoom`.
    public static let factors = 0.001...1000.0
    /// The accepted sides of `crop`.
    public static let lengths = 0.0...1_000_000.0
    /// The accepted values of `maxside`.
    public static let sides = 1...1_000_000

    /// A decimal number with up to six digits after the point, and an optional minus sign.
    fileprivate static func number(_ text: Substring) -> Double? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text
        let parts = digits.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isDecimal = parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
        guard (1...2).contains(parts.count), isDecimal, parts[0].count <= 7, parts.count == 1 || parts[1].count <= 6
        else { return nil }
        return Double(text)
    }

    /// A number as `number(_:)` reads it.
    public static func plain(_ number: Double) -> String { number.text(decimals: 6) }
}

extension Layout.Gravity {
    /// Reads an anchor, alone or with two offsets.
    fileprivate init?(parsing parts: ArraySlice<Substring>) {
        guard let point = parts.first.flatMap({ Point(name: String($0)) }), [1, 3].contains(parts.count) else {
            return nil
        }
        let offsets = parts.dropFirst().compactMap(Layout.number)
        guard offsets.count == parts.count - 1 else { return nil }
        self.init(point, x: offsets.first ?? 0, y: offsets.last ?? 0)
        let choosesByPixels = if case .faces = point { true } else { point == .attention }
        guard !choosesByPixels || offsets.isEmpty, point != .focal || !offsets.isEmpty,
            point != .focal || offsets.allSatisfy((0...1).contains), offsets.allSatisfy({ abs($0) <= 1_000_000 })
        else { return nil }
    }

    var text: String {
        guard x != 0 || y != 0 || point == .focal else { return point.name }
        return "\(point.name):\(Layout.plain(x)):\(Layout.plain(y))"
    }
}

extension Layout.Gravity.Point {
    fileprivate init?(name: String) {
        switch name {
        case "attention": self = .attention
        case "face": self = .faces(.largest)
        case "faces": self = .faces(.all)
        case "focal": self = .focal
        default:
            guard let anchor = Anchor(rawValue: name) else { return nil }
            self = .anchor(anchor)
        }
    }

    fileprivate var name: String {
        switch self {
        case .anchor(let anchor): anchor.rawValue
        case .attention: "attention"
        case .faces(let choice): choice.rawValue
        case .focal: "focal"
        }
    }
}

extension Double {
    /// The number without an exponent, rounded to this many decimals.
    package func text(decimals: Int) -> String {
        let scale = pow(10, Double(decimals))
        let units = Int((self * scale).rounded())
        let (whole, part) = units.magnitude.quotientAndRemainder(dividingBy: UInt(scale))
        let sign = units < 0 ? "-" : ""
        guard part > 0 else { return "\(sign)\(whole)" }
        let digits = String(part)
        var fraction = String(repeating: "0", count: decimals - digits.count) + digits
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return "\(sign)\(whole).\(fraction)"
    }
}
