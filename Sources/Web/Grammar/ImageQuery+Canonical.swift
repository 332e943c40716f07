import HTTPCaching
import Pipeline
import Transforms

extension ImageQuery {
    /// One parameter of a query; the value is empty where the name stands bare.
    struct Given: Hashable, Encodable {
        var name: String
        var value: String
    }

    /// The one spelling of all queries that mean the same: own names, the order of the documentation, no defaults, `dpr`
    /// multiplied into the box.
    func canonical(_ limits: GrammarLimits) -> String {
        ([Given(name: "url", value: url)] + parameters(limits)).map(\.text).joined(separator: "&")
    }

    /// All parameters of the canonical spelling but `url`.
    func parameters(_ limits: GrammarLimits) -> [Given] {
        let groups: [[(String, String?)]] = [
            [("default", fallback)], recipe.sides(limits), recipe.geometry, recipe.looks, encoding, caching,
        ]
        return groups.joined().compactMap { name, value in value.map { Given(name: name, value: $0) } }
    }

    private var encoding: [(String, String?)] {
        let (name, quality, lossless, interlaced, details) =
            switch output {
            case .auto(let quality, let lossless, let interlaced):
                (String?.none, quality, lossless, interlaced, PictureDetails())
            case .explicit(let options):
                (
                    options.format?.rawValue, options.quality, options.lossless, options.interlaced, options.details
                )
            }
        return [
            ("output", name), ("fields", details.names), ("q", quality.map(String.init)), ("ll", flag(lossless)),
            ("il", flag(interlaced)), ("n", pages.count.map(String.init)),
            ("page", pages.first == 1 ? nil : String(pages.first)),
        ]
    }

    private var caching: [(String, String?)] {
        [
            ("cache", cache == .standard ? nil : cache.rawValue), ("store", store.name),
            ("wait", waitsForDisk ? "stored" : nil), ("priority", priority.map { "\($0)" }),
            ("maxage", maxAge.map { "\($0.components.seconds)s" }), ("filename", fileName),
        ]
    }
}

extension ImageQuery.Given {
    fileprivate var text: String { value.isEmpty ? name : "\(name)=\(Self.encoded(value))" }

    /// Everything but the unreserved characters of RFC 3986 §2.3, and the comma, which means something only to us.
    private static func encoded(_ value: String) -> String {
        value.utf8.map { byte in
            let isLetter = (0x61...0x7a).contains(byte | 0x20)
            guard !isLetter, !Digits.isDigit(byte), !"-._~,".utf8.contains(byte) else {
                return String(UnicodeScalar(byte))
            }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count == 1 ? "0" + digits : digits)
        }.joined()
    }
}

extension Recipe {
    fileprivate func sides(_ limits: GrammarLimits) -> [(String, String?)] {
        let hasPlace = box.size != nil && (fit == .cover || fit == .contain) && position != .center
        let place = hasPlace ? position.names : []
        return [
            ("w", box.width.map(String.init)), ("h", box.height.map(String.init)),
            ("fit", fit == .inside ? nil : fit.rawValue), ("enlarge", flag(enlarge)), ("scaledown", flag(scaleDown)),
        ] + place + [("resample", resampling == limits.defaultResampling ? nil : resampling.rawValue)]
    }

    fileprivate var geometry: [(String, String?)] {
        [
            ("crop", crop.map { "\($0.x),\($0.y),\($0.width),\($0.height)" }),
            ("trim", trim.map { String($0.threshold) }), ("orient", orientation.name),
            ("ro", rotationDegrees == 0 ? nil : String(rotationDegrees)), ("flip", flag(flip)), ("flop", flag(flop)),
        ]
    }

    fileprivate var looks: [(String, String?)] {
        [
            ("bg", background?.shortHex), ("bri", brightness.map { String($0.percent) }),
            ("con", contrast.map { String($0.percent) }), ("sat", saturation.map { Shape.plain($0.factor) }),
            ("hue", hue.map { String($0.degrees) }), ("gam", gamma.map { Shape.plain($0.exponent) }),
            ("tint", tint?.color.shortHex), ("filt", filter?.rawValue),
            ("blur", blur.map { $0.sigma.map(Shape.plain) ?? "" }),
            ("sharp", sharpen.map { $0.sigma.map(Shape.plain) ?? "" }),
        ]
    }
}

extension Position {
    /// A point that has no name is told in numbers: where `contain` places, both mean the same.
    fileprivate var names: [(String, String?)] {
        switch self {
        case .entropy: return [("a", "entropy")]
        case .attention: return [("a", "attention")]
        case .anchor(let x, let y):
            if let name = Self.name(x, y) { return [("a", name)] }
            return [("a", "focal"), ("fpx", Shape.plain(x)), ("fpy", Shape.plain(y))]
        case .focal(let x, let y):
            return [("a", "focal"), ("fpx", Shape.plain(x)), ("fpy", Shape.plain(y))]
        }
    }

    private static func name(_ x: Double, _ y: Double) -> String? {
        let across = [0: "left", 0.5: "", 1: "right"][x]
        let down = [0: "top", 0.5: "", 1: "bottom"][y]
        guard let across, let down else { return nil }
        let parts = [down, across].filter { !$0.isEmpty }
        return parts.isEmpty ? "center" : parts.joined(separator: "-")
    }
}

extension Orient.Rule {
    fileprivate var name: String? {
        switch self {
        case .auto: nil
        case .none: "none"
        case .exif(let orientation): String(orientation)
        }
    }
}

extension Color {
    fileprivate var shortHex: String { alpha == 255 ? String(hex.prefix(6)) : hex }
}

extension PictureDetails {
    fileprivate var names: String? {
        let names: [(PictureDetails, String)] = [
            (.color, "color"), (.palette, "palette"), (.blurHash, "blurhash"), (.thumbHash, "thumbhash"),
            (.lqip, "lqip"), (.exif, "exif"),
        ]
        return isEmpty ? nil : names.filter { contains($0.0) }.map(\.1).joined(separator: ",")
    }
}

extension TierChoice {
    fileprivate var name: String? {
        switch self {
        case .memory: "memory"
        case .originals: "original"
        case .variants: "variant"
        case .none: "none"
        default: nil
        }
    }
}

private func flag(_ isOn: Bool) -> String? { isOn ? "true" : nil }
