import DarkroomNetwork
package import DarkroomRequests

/// The paths of the IIIF Image API 3.0 (§2).
package enum IIIFPath {
    /// The base URI of an image, below the server's own.
    package static let base = "/iiif/{identifier}"
    /// The document about an image.
    package static let information = base + "/info.json"
    /// An image. The file is a quality, a dot and a format, such as `default.jpg`.
    package static let image = base + "/{region}/{size}/{rotation}/{file}"
    /// The beginning of every path that contains an identifier, which may be a URL with tokens.
    package static let prefix = "/iiif/"

    /// The text of a segment as received.
    package static func text(of segment: String, named name: String) throws(InvalidParameter) -> String {
        try PercentEncoding.decode(Substring(segment).utf8, name, "Parameter '\(name)'")
    }
}

/// The parsed path of an IIIF image, independent of the source. Region, size, rotation and quality are applied in this
/// order (§4.6) to an image whose size is known.
package struct IIIFImagePath: Hashable, Sendable {
    let region: IIIFRegion
    let size: IIIFSize
    let rotation: IIIFRotation
    let quality: IIIFQuality
    let format: IIIFFormat

    /// Reads the segments after the identifier, percent-decoded.
    package init(
        region: String, size: String, rotation: String, file: String, limits: QueryLimits = QueryLimits()
    ) throws(InvalidParameter) {
        self.region = try IIIFRegion(region)
        self.size = try IIIFSize(size)
        self.rotation = try IIIFRotation(rotation)
        // A file without a dot has no format.
        let dot = file.lastIndex(of: ".") ?? file.endIndex
        quality = try IIIFQuality(parsing: String(file[..<dot]))
        format = try IIIFFormat(parsing: String(file[dot...].dropFirst()))
        try limits.requireWritable(format.output, parameter: "format")
    }
}

extension ImageQuery {
    /// The document of `/info` that has the size of a source. Asks for a color, because only a document that requires
    /// decoding the whole source is cached, together with the source.
    package static func information(about source: String) -> ImageQuery {
        ImageQuery(url: source, output: OutputOptions(format: .json, details: .color))
    }
}

/// An IIIF image of a certain source.
package struct IIIFImage: Hashable, Sendable {
    /// The same request in the query language. Paths that mean the same image have equal queries.
    package let query: ImageQuery
    /// The canonical spelling of the path after the identifier (§4.8), such as `full/max/0/default.jpg`.
    package let canonicalPath: String
}

extension IIIFImagePath {
    /// The image for the URL or short name of a source, whose size is in upright orientation.
    package func image(
        of source: String, full: PixelSize, limits: PixelLimits
    ) throws(InvalidParameter) -> IIIFImage {
        let rectangle = try region.rectangle(in: full)
        let scaled = try size.scaled(rectangle.size, within: limits)
        try limits.check(scaled, rotatedBy: rotation.degrees)
        var recipe = Recipe()
        if rectangle.size != full {
            recipe.crop = Crop(
                x: rectangle.x, y: rectangle.y, width: rectangle.size.width, height: rectangle.size.height)
        }
        if scaled != rectangle.size {
            recipe.box = Box(width: scaled.width, height: scaled.height)
            (recipe.fit, recipe.enlarge) = (.fill, true)
        }
        rotation.apply(to: &recipe)
        recipe.filter = quality.filter
        let query = ImageQuery(
            url: source, recipe: recipe, pages: PageSelection(count: 1),
            output: OutputOptions(format: format.output))
        let size = IIIFSize.canonical(scaled, of: rectangle.size, within: limits)
        return IIIFImage(
            query: query,
            canonicalPath:
                "\(rectangle.canonical(in: full))/\(size)/\(rotation.canonical)/\(quality.canonical).\(format.name)")
    }
}

/// How the scaled region is mirrored left to right and then rotated (IIIF Image API 3.0 §4.3).
struct IIIFRotation: Hashable, Sendable {
    /// `!`
    let mirrors: Bool
    /// Clockwise, at least 0 and below 360.
    let degrees: Double

    init(_ text: String) throws(InvalidParameter) {
        mirrors = text.hasPrefix("!")
        guard let degrees = IIIFNumbers.decimal(text.dropFirst(mirrors ? 1 : 0)), degrees <= 360 else {
            throw InvalidParameter(
                "rotation", got: text, expected: "degrees from 0 to 360, after ! for an image that is mirrored first")
        }
        self.degrees = degrees == 360 ? 0 : degrees
    }

    /// A chain rotates first and then mirrors, which gives the same result with the opposite angle.
    func apply(to recipe: inout Recipe) {
        recipe.flop = mirrors
        recipe.rotationDegrees = mirrors && degrees > 0 ? 360 - degrees : degrees
    }

    /// The canonical rotation (§4.8).
    var canonical: String { "\(mirrors ? "!" : "")\(ValueSchema.plain(degrees))" }
}

/// The colors of the result (IIIF Image API 3.0 §4.4).
enum IIIFQuality: String, Hashable, Sendable, CaseIterable {
    case `default`, color, gray, bitonal

    init(parsing text: String) throws(InvalidParameter) {
        guard let quality = IIIFQuality(rawValue: text) else {
            throw InvalidParameter(
                "quality", got: text, expected: "one of \(Self.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self = quality
    }

    var filter: Filter? {
        switch self {
        case .default, .color: nil
        case .gray: .greyscale
        case .bitonal: .bitonal
        }
    }

    /// The canonical quality (§4.8).
    var canonical: String { self == .color ? Self.default.rawValue : rawValue }
}

/// The format of the result (IIIF Image API 3.0 §4.5).
package struct IIIFFormat: Hashable, Sendable {
    /// As in paths.
    package let name: String
    let output: OutputFormat

    /// All formats, the formats of level 2 first. Names have three letters where a format has such an extension.
    package static let all = OutputFormat.imagesByReach.map { format in
        IIIFFormat(name: format.extensions.first { $0.utf8.count == 3 } ?? format.rawValue, output: format)
    }

    /// The formats that a server can write.
    package static func all(without unwritable: Set<OutputFormat>) -> [IIIFFormat] {
        all.filter { !unwritable.contains($0.output) }
    }

    private init(name: String, output: OutputFormat) {
        self.name = name
        self.output = output
    }

    init(parsing text: String) throws(InvalidParameter) {
        guard let format = Self.all.first(where: { $0.name == text }) else {
            throw InvalidParameter(
                "format", got: text, expected: "one of \(Self.all.map(\.name).joined(separator: ", "))")
        }
        self = format
    }
}

/// Numbers in IIIF paths: decimal digits, with a point where they need not be integers (§4.7).
enum IIIFNumbers {
    /// The numbers of a comma-separated list, of at most nine digits each; nil for an item without digits. The list is
    /// empty if the text has anything else.
    static func pixels(_ text: Substring) -> [Int?] {
        let members = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = members.map { $0.hasPrefix("-") ? nil : Digits.integer(String($0)) }
        return zip(members, numbers).allSatisfy { $0.isEmpty || $1 != nil } ? numbers : []
    }

    /// The numbers of a comma-separated list; an empty list if it has anything else.
    static func decimals(_ text: Substring) -> [Double] {
        let members = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = members.compactMap { decimal($0) }
        return numbers.count == members.count ? numbers : []
    }

    /// A number of at most 16 digits before its point, which it may begin with, and 32 after it: viewers divide, and
    /// write `33.333333333333336`.
    static func decimal(_ text: Substring) -> Double? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 2, parts[0].count <= 16, parts[0].count > 0 || parts.count == 2,
            parts.dropFirst().allSatisfy({ (1...32).contains($0.count) }),
            parts.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) })
        else { return nil }
        return Double("0\(text)")
    }

    /// A part of a length in pixels, rounded to the nearest pixel.
    static func rounded(_ percent: Double, percentOf length: Int) -> Int { rounded(Double(length) * percent / 100) }

    /// The nearest integer, half away from zero, of a number that is not negative.
    static func rounded(_ number: Double) -> Int { Int(min(number, 1e15).rounded()) }
}
