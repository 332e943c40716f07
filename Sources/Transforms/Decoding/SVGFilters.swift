import NIOCore

/// The time that the filters of an SVG take, from the numbers in the document: a single attribute in a small file can
/// raise the time of a pixel to a second.
///
/// An estimate, not a parser. It misses filters of images that are embedded in the document, among others. The limit on
/// the processor time of a job covers such filters.
struct SVGFilters: Hashable {
    /// The time of all filter primitives for each pixel of the drawing, in nanoseconds, as measured with librsvg 2.54.
    private(set) var nanosecondsPerPixel = 0.0
    /// The tags of the document, which say how much memory its tree takes.
    private(set) var tags = 0

    /// The same for a drawing of this many rows. libvips draws it in tiles of 2,000 rows, and librsvg computes a filter
    /// as a whole for each tile.
    func nanosecondsPerPixel(rows: Int) -> Double { nanosecondsPerPixel * (Double(rows) / 2000).rounded(.up) }

    init() {}

    /// - Parameter document: not compressed, and in an encoding that spells markup as ASCII does.
    init(of document: ByteBuffer) {
        document.withUnsafeReadableBytes { add($0) }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var position = 0
        while let start = bytes.position(of: UInt8(ascii: "<"), from: position) {
            position = start + 1
            tags += 1
            let name = bytes[position...].prefix(Self.maxNameBytes).prefix { !Self.endsName($0) }
            guard let primitive = Self.localName(name) else { continue }
            let end = bytes.position(of: UInt8(ascii: ">"), from: name.endIndex) ?? bytes.count
            let attributes = bytes[name.endIndex..<min(end, name.endIndex + Self.maxAttributeBytes)]
            let text = String(decoding: attributes, as: UTF8.self)
            nanosecondsPerPixel += Self.nanoseconds(primitive, Attributes(text: text))
            position = end
        }
    }

    private static let maxNameBytes = 64
    private static let maxAttributeBytes = 4096

    private static func endsName(_ byte: UInt8) -> Bool { byte <= 0x20 || "/>=<&\"'".utf8.contains(byte) }

    /// The name of a filter primitive without its prefix; nil for any other element.
    private static func localName(_ name: some Collection<UInt8>) -> String? {
        let local = String(decoding: name, as: UTF8.self).split(separator: ":").last ?? ""
        return local.hasPrefix("fe") && local.dropFirst(2).first?.isUppercase ?? false ? String(local) : nil
    }

    private static func nanoseconds(_ primitive: String, _ attributes: Attributes) -> Double {
        switch primitive {
        case "feTurbulence": return 50 + 50 * (attributes.numbers("numOctaves").first ?? 1)
        case "feMorphology":
            // librsvg limits the radius to 10.
            let sides = attributes.numbers("radius").map { 2 * min($0, 10) + 1 }
            return 100 + 8 * (sides.first ?? 1) * (sides.last ?? 1)
        case "feConvolveMatrix":
            let sides = attributes.numbers("order")
            return 100 + 6 * (sides.first ?? 3) * (sides.last ?? 3)
        case "feDisplacementMap", "feDropShadow": return 600
        // These elements are parts of the primitives around them.
        case "feFuncR", "feFuncG", "feFuncB", "feFuncA", "feMergeNode", "fePointLight", "feSpotLight", "feDistantLight":
            return 0
        default: return 100
        }
    }
}

/// The text between the name of an element and its end.
private struct Attributes {
    let text: String

    /// The numbers of an attribute's value, 0 to ``huge``; none if it is missing. A number that is none, or contains a
    /// reference, counts as huge: only hostile files write numbers like that.
    func numbers(_ name: String) -> [Double] {
        for part in text.ranges(of: name) {
            let rest = text[part.upperBound...].drop(while: \.isWhitespace)
            guard rest.first == "=" else { continue }
            let value = rest.dropFirst().drop(while: \.isWhitespace)
            guard let quote = value.first, quote == "\"" || quote == "'" else { continue }
            let content = value.dropFirst().prefix { $0 != quote }
            if content.contains("&") { return [Self.huge] }
            return content.split { $0.isWhitespace || $0 == "," }.map { (text: Substring) in
                guard let number = Double(text) else { return 0 }
                return number.isNaN ? Self.huge : min(max(number, 0), Self.huge)
            }
        }
        return []
    }

    private static let huge = 1e9
}
