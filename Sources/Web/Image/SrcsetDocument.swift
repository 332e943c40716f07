import DarkroomHTTPServer
import DarkroomQuery
import DarkroomTransforms

/// One image in several widths, ready for use in a page.
struct SrcsetDocument: Codable, Hashable {
    struct Candidate: Codable, Hashable {
        /// The width of the image in pixels.
        var width: Int
        var url: String
    }

    /// The widest candidate, for browsers without support for `srcset`.
    var src: String
    var srcset: String
    var sizes: String
    /// The size of `src` in pixels; nil if it depends on the pixels.
    var width: Int?
    var height: Int?
    /// An `img` element with these attributes and an empty `alt`, which is loaded when it comes near the viewport.
    var html: String
    /// The same with a `source` for each format; nil if the query names the output format.
    var picture: String?
    /// In ascending order of width.
    var candidates: [Candidate]

    /// - Parameters:
    ///   - images: in ascending order of width, at least one.
    ///   - formats: the formats of `picture`, the preferred one first.
    init(_ images: [SrcsetImage], sizes: String, formats: [OutputFormat], url: (ImageQuery) -> String) {
        candidates = images.map { Candidate(width: $0.planned.size.width, url: url($0.query)) }
        src = candidates.last?.url ?? ""
        srcset = candidates.srcset
        self.sizes = sizes
        let known = images.last.flatMap { $0.planned.isExact ? $0.planned.size : nil }
        (width, height) = (known?.width, known?.height)
        let size = known.map { " width=\"\($0.width)\" height=\"\($0.height)\"" } ?? ""
        let element =
            "<img src=\"\(src.htmlEscaped)\" srcset=\"\(srcset.htmlEscaped)\" sizes=\"\(sizes.htmlEscaped)\"\(size) "
            + "alt=\"\" loading=\"lazy\" decoding=\"async\">"
        html = element
        guard !formats.isEmpty else { return }
        let sources = formats.map { format in
            let candidates = images.map {
                Candidate(width: $0.planned.size.width, url: url($0.query.converted(to: format)))
            }
            return "<source type=\"\(format.mediaType)\" srcset=\"\(candidates.srcset.htmlEscaped)\" "
                + "sizes=\"\(sizes.htmlEscaped)\">"
        }
        picture = "<picture>\(sources.joined())\(element)</picture>"
    }
}

/// A candidate before it has a URL.
struct SrcsetImage {
    var query: ImageQuery
    var planned: PlannedSize
}

extension [SrcsetDocument.Candidate] {
    /// The value of the attribute.
    fileprivate var srcset: String { map { "\($0.url) \($0.width)w" }.joined(separator: ", ") }
}

extension ImageQuery {
    /// The same image in a format that is not negotiated.
    fileprivate func converted(to format: OutputFormat) -> ImageQuery {
        var converted = self
        converted.output = output.converted(to: format)
        converted.formats = nil
        return converted
    }
}
