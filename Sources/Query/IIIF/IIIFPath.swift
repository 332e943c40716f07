import DarkroomNetwork
package import DarkroomTransforms

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

    /// The text of a segment.
    ///
    /// - Parameter segment: percent-encoded, as received.
    package static func text(of segment: String, named name: String) throws(InvalidParameter) -> String {
        guard let text = PercentEncoding.decode(Substring(segment).utf8) else {
            throw InvalidParameter(
                name, "Parameter '\(name)' is not valid percent-encoded UTF-8; write a literal % as %25.")
        }
        return text
    }
}

/// The parsed path of an IIIF image, independent of the source.
///
/// Region, then size, then rotation, then quality (§4.6): ``image(of:full:limits:resampling:)`` applies them to an
/// image whose size is known.
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
    /// The document of `/info` that has the size of a source.
    ///
    /// Asks for a color, because only a document that requires decoding the whole source is cached, together with the
    /// source.
    package static func information(about source: String, resampling: Resampling) -> ImageQuery {
        ImageQuery(
            url: source, recipe: Recipe(resampling: resampling),
            output: OutputOptions(format: .json, details: .color))
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
    /// The image for a source.
    ///
    /// - Parameters:
    ///   - source: its URL or short name.
    ///   - full: its size in upright orientation.
    package func image(
        of source: String, full: PixelSize, limits: IIIFLimits, resampling: Resampling
    ) throws(InvalidParameter) -> IIIFImage {
        let rectangle = try region.rectangle(in: full)
        let scaled = try size.scaled(rectangle.size, within: limits)
        try limits.check(scaled, rotatedBy: rotation.degrees)
        var recipe = Recipe(resampling: resampling)
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
